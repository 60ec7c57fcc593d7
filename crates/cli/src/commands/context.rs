//! `secateur context`: the request body that would be sent to a model.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use secateur::{MessageIx, Outline, PartIx, PartKind, Role};
use secateur_formats::{Format, RenderOptions, Rendered, Transcript, Wire, lint, render, renderings};
use serde::Serialize;

use crate::humanize::{counted, grouped};
use crate::import::losses_text;
use crate::logs;
use crate::next_request::{NextRequestArgs, memory};
use crate::session_file::SessionFileArgs;
use crate::terminal::print_json;

/// Print the exact request body that would be sent to a model at some point of a session.
///
/// It holds the messages of the context at that point, after compactions and on the active branch, with the profile's
/// cuts, in the wire of a provider. Exit code 1 if the provider would reject it, e.g. for its size.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    session: SessionFileArgs,
    /// The provider's wire: anthropic, openai-chat, openai-responses or gemini.
    #[arg(long, value_name = "WIRE")]
    to: Wire,
    /// The request whose response is this message: its id, or its number from 0 in the whole session, as in `explain`
    /// and in the timeline of `inspect --json` [default: the next request]
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,
    /// The request's limit for the response.
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,
    /// Write the body to this file instead of printing it.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object: the body, what was cut and what the wire cannot hold.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ContextReport<'a> {
    wire: Wire,
    model: &'a str,
    profile: &'a str,
    messages: usize,
    cuts: usize,
    bytes: usize,
    losses: &'a [secateur_formats::Loss],
    findings: &'a [lint::Finding],
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

impl ContextArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let session = self.session.open()?;
        if let Some(out) = &self.out {
            logs::refuse_same_file(out, &session.path)?;
        }
        let profile = &session.profile;
        let whole = self.session.read(&session, &profile.policy.measures())?;
        let at = self.at.as_deref().map(|name| find(&whole, name)).transpose()?;
        let context = session.context(&whole, at)?;
        let own = context.origin.model.clone();
        let model = self.session.next.model.clone().or(own).unwrap_or_else(|| "MODEL".to_owned());
        // The model may be one that the catalogue does not know.
        let next = NextRequestArgs { model: None, window: self.session.next.window };
        let mut situation =
            next.situation(profile, &session.catalogue, &context.outline, Some(&model), &mut Vec::new())?;
        // A past request was sent at its own time, when the cache may still have been warm.
        situation.now = at.and_then(|at| whole.outline.time(at)).unwrap_or(situation.now);
        let memory = memory(&context.outline);
        let plan = profile.policy.plan(&context.outline, &situation, &memory);
        let cuts = renderings(&plan, &context.outline, &memory, &profile.policy.placeholder);
        let options = RenderOptions { max_tokens: self.max_tokens, ..session.render_options(&model) };
        let rendered =
            if session.format == Format::Request(self.to) && at.is_none() && self.max_tokens.is_none() {
                // It already is a request in this wire: only the cuts are applied.
                let body = context.apply(cuts.iter().copied(), situation.now)?.to_vec();
                Rendered {
                    body: String::from_utf8(body).context("the request is not UTF-8")?,
                    losses: Vec::new(),
                    summaries: Vec::new(),
                }
            } else {
                render(&context, self.to, &options, &cuts)
            };
        let mut findings = lint::lint(self.to, &rendered.body);
        let is_finished = ends_with_model(&context.outline);
        if is_finished {
            // A log may end with the model's message. What comes next is not in it.
            findings.retain(|finding| finding.rule != lint::Rule::NothingToAnswer);
        }
        if let Some(path) = &self.out {
            logs::write(path, &rendered.body)?;
        }
        let report = ContextReport {
            wire: self.to,
            model: &model,
            profile: &profile.name,
            messages: context.outline.message_count(),
            cuts: cuts.len(),
            bytes: rendered.body.len(),
            losses: &rendered.losses,
            findings: &findings,
            body: self.out.is_none().then_some(rendered.body.as_str()),
        };
        if self.json {
            print_json(out, &report)?;
        } else {
            if let Some(body) = report.body {
                writeln!(out, "{body}")?;
            }
            summarise(&report);
            if is_finished {
                anstream::eprintln!(
                    "the session ends with a message of the model; add the next message before you send this"
                );
            }
        }
        Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

/// Whether the last thing in a session is what the model said, and not a question, a tool call or its result.
fn ends_with_model(outline: &Outline) -> bool {
    let mut said = outline.messages().rev().filter(|&message| outline.role(message) != Role::System);
    said.next().is_some_and(|message| {
        let last = outline.parts_of(message).next_back().map(|part| outline.kind(PartIx(part)));
        let is_tool = matches!(last, Some(PartKind::Call | PartKind::Result));
        outline.role(message) == Role::Assistant && !is_tool
    })
}

/// Describes the body on standard error.
fn summarise(report: &ContextReport<'_>) {
    let ContextReport { wire, profile, .. } = report;
    let (bytes, messages) = (grouped(report.bytes as u64), counted(report.messages as u64, "message"));
    let cuts = counted(report.cuts as u64, "cut");
    anstream::eprintln!("{wire} request of {bytes} bytes: {messages}, {cuts} by profile {profile}");
    if let Some(text) = losses_text(report.losses) {
        anstream::eprintln!("{text}");
    }
    for finding in report.findings {
        anstream::eprintln!("the provider would reject {}: {}", finding.path, finding.message);
    }
}

/// The message with this id or number.
fn find(transcript: &Transcript<'_>, name: &str) -> Result<MessageIx> {
    let outline = &transcript.outline;
    let by_id =
        outline.ids().find(name).and_then(|id| outline.messages().find(|&message| outline.id(message) == id));
    let by_number = || {
        let number: u32 = name.parse().ok()?;
        ((number as usize) < outline.message_count()).then_some(MessageIx(number))
    };
    match by_id.or_else(by_number) {
        Some(message) => Ok(message),
        None => bail!(
            "the session has no message {name:?}; messages are numbered 0 to {}",
            outline.message_count().saturating_sub(1)
        ),
    }
}
