//! `secateur context`: the request body that a model would get.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use secateur::MessageIx;
use secateur_formats::{Format, RenderOptions, Rendered, Transcript, Wire, lint, render, renderings};
use serde::Serialize;

use crate::humanize::{counted, grouped};
use crate::logs;
use crate::next_request::{NextRequestArgs, memory};
use crate::session_file::SessionFileArgs;

/// Print the exact request body that a model would get at some point of a session.
///
/// The messages that are in the context then, after compactions, on the branch that was taken, with the cuts that
/// the profile would make, in the format of a provider and valid for it. Exit code 1 if the provider would reject it
/// all the same, e.g. for its size.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    session: SessionFileArgs,
    /// The provider's format: anthropic, openai-chat, openai-responses or gemini.
    #[arg(long, value_name = "FORMAT")]
    to: Wire,
    /// The request that this message answered: its number from 0 on in the whole session, as in `explain` and in the
    /// timeline of `inspect --json`, or its id; without it, the next request.
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,
    /// The most tokens that the model may answer with.
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,
    /// Write the body here instead of printing it.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object: the body, what was cut and what the format cannot hold.
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
        let context = whole.context(at);
        let own = context.origin.model.clone();
        let model = self.session.next.model.clone().or(own).unwrap_or_else(|| "MODEL".to_owned());
        // A model that the catalogue does not know can still be asked.
        let next = NextRequestArgs { model: None, window: self.session.next.window };
        let mut situation = next.situation(profile, &context.outline, Some(&model), &mut Vec::new())?;
        // A request of the past was made then, with the cache as warm as it was then.
        situation.now = at.and_then(|at| whole.outline.time(at)).unwrap_or(situation.now);
        let memory = memory(&context.outline);
        let plan = profile.policy.plan(&context.outline, &situation, &memory);
        let cuts = renderings(&plan, &context.outline, &memory, &profile.policy.placeholder);
        let options = RenderOptions { model: &model, max_tokens: self.max_tokens };
        let rendered =
            if session.format == Format::Request(self.to) && at.is_none() && self.max_tokens.is_none() {
                // It is such a request already: nothing but the cuts is changed.
                let body = context.apply(cuts.iter().copied(), situation.now)?.to_vec();
                Rendered {
                    body: String::from_utf8(body).context("the request is not UTF-8")?,
                    losses: Vec::new(),
                }
            } else {
                render(&context, self.to, &options, &cuts)
            };
        let findings = lint::lint(self.to, &rendered.body);
        if let Some(path) = &self.out {
            fs::write(path, &rendered.body).with_context(|| format!("cannot write {}", path.display()))?;
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
            serde_json::to_writer(&mut *out, &report)?;
            writeln!(out)?;
        } else {
            if let Some(body) = report.body {
                writeln!(out, "{body}")?;
            }
            summarise(&report);
        }
        Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

/// Says beside the body what it is.
fn summarise(report: &ContextReport<'_>) {
    anstream::eprintln!(
        "{} request of {} bytes: {}, {} by the profile {}",
        report.wire,
        grouped(report.bytes as u64),
        counted(report.messages as u64, "message"),
        counted(report.cuts as u64, "cut"),
        report.profile,
    );
    if !report.losses.is_empty() {
        let bytes: u64 = report.losses.iter().map(|loss| loss.bytes).sum();
        let parts = counted(report.losses.len() as u64, "part");
        anstream::eprintln!("left out: {parts}, {} bytes (`secateur convert` lists them)", grouped(bytes));
    }
    for finding in report.findings {
        anstream::eprintln!("the provider would reject {}: {}", finding.path, finding.message);
    }
}

/// The message that a user means: by its number, or by its own id.
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
            "the session has no message {name:?}; they are numbered 0 to {}",
            outline.message_count().saturating_sub(1)
        ),
    }
}
