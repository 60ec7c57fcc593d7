//! `secateur convert`: a session as a request of another provider, with an account of what does not fit.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use secateur::{Measures, PartIx, PartKind};
use secateur_formats::{Format, Loss, RenderOptions, Rendered, Transcript, Wire, render};
use serde::Serialize;

use crate::humanize::{counted, grouped};
use crate::logs::{self, FormatArg};
use crate::session_file::SessionFileArgs;
use crate::table::Table;

/// Turn a session into a request of a provider, and account for every byte that it cannot hold.
///
/// The body goes to standard output, or to the file named by --out; the account goes beside it. Nothing is cut.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The session: a file, or a database or folder that holds it.
    file: PathBuf,
    #[command(flatten)]
    format: FormatArg,
    /// Which session, if the file holds several: its id, or its number counted from 1.
    #[arg(long, value_name = "ID|N")]
    session: Option<String>,
    /// The model that the request names, e.g. `claude-sonnet-4-5`; without it, that of the session.
    #[arg(long)]
    model: Option<String>,
    /// The provider's format: anthropic, openai-chat, openai-responses or gemini.
    #[arg(long, value_name = "FORMAT")]
    to: Wire,
    /// Write the body here instead of printing it.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object: the account, and the body unless --out names a file for it.
    #[arg(long)]
    json: bool,
}

/// Where the bytes of a session's contents went.
#[derive(Serialize)]
struct Account<'a> {
    from: Format,
    to: Wire,
    /// Parts and raw bytes of all contents.
    parts: usize,
    content_bytes: u64,
    /// What went over.
    carried_bytes: u64,
    /// What did not, part by part.
    lost_bytes: u64,
    losses: &'a [Loss],
    /// What had left the context before: it is in the log, but in no request any more.
    gone_parts: usize,
    gone_bytes: u64,
    /// What of the file is neither: the log's own records, UI copies, keys and punctuation.
    other_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

impl ConvertArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let log = SessionFileArgs::at(&self.file, self.format.format, self.session.clone());
        let session = log.open()?;
        if let Some(out) = &self.out {
            logs::refuse_same_file(out, &session.path)?;
        }
        let whole = log.read(&session, &Measures::default())?;
        let context = whole.context(None);
        let own = context.origin.model.clone();
        let model = self.model.clone().or(own).unwrap_or_else(|| "MODEL".to_owned());
        let rendered = if session.format == Format::Request(self.to) {
            let body = String::from_utf8(session.bytes.clone()).context("the request is not UTF-8")?;
            Rendered { body, losses: Vec::new() }
        } else {
            render(&context, self.to, &RenderOptions { model: &model, max_tokens: None }, &[])
        };
        if let Some(path) = &self.out {
            fs::write(path, &rendered.body).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let (all, live) = (content_bytes(&whole), content_bytes(&context));
        let lost = rendered.losses.iter().map(|loss| loss.bytes).sum::<u64>().min(live);
        let account = Account {
            from: session.format,
            to: self.to,
            parts: context.outline.part_count(),
            content_bytes: all,
            carried_bytes: live - lost,
            lost_bytes: lost,
            losses: &rendered.losses,
            gone_parts: whole.outline.part_count() - context.outline.part_count(),
            gone_bytes: all.saturating_sub(live),
            other_bytes: (session.bytes.len() as u64).saturating_sub(all),
            body: self.out.is_none().then_some(rendered.body.as_str()),
        };
        if self.json {
            serde_json::to_writer(&mut *out, &account)?;
            writeln!(out)?;
            return Ok(ExitCode::SUCCESS);
        }
        match account.body {
            Some(body) => {
                writeln!(out, "{body}")?;
                tell(&mut anstream::stderr(), &account)?;
            }
            None => tell(out, &account)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The raw bytes of all contents, each counted once.
fn content_bytes(transcript: &Transcript<'_>) -> u64 {
    let outline = &transcript.outline;
    let content = |part: PartIx| transcript.content(part).map_or(0, |raw| raw.len() as u64);
    outline.parts().filter(|&part| outline.kind(part) != PartKind::Compaction).map(content).sum()
}

fn tell(out: &mut dyn Write, account: &Account<'_>) -> Result<()> {
    let Account { from, to, .. } = account;
    writeln!(out, "{from} session as {to} request: {}", counted(account.parts as u64, "part"))?;
    writeln!(out, "  {:>14} bytes of content in the file, of which", grouped(account.content_bytes))?;
    writeln!(out, "  {:>14} went over", grouped(account.carried_bytes))?;
    writeln!(out, "  {:>14} have no place there", grouped(account.lost_bytes))?;
    writeln!(
        out,
        "  {:>14} had left the context before ({})",
        grouped(account.gone_bytes),
        counted(account.gone_parts as u64, "part")
    )?;
    writeln!(
        out,
        "  {:>14} bytes of the file are records and copies that no model is given",
        grouped(account.other_bytes)
    )?;
    if account.losses.is_empty() {
        return Ok(());
    }
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for loss in account.losses {
        let sum = sums.entry(loss.why).or_default();
        sum.0 += 1;
        sum.1 += loss.bytes;
    }
    let mut table = Table::new(["what has no place", "parts", "bytes"]).right([1, 2]);
    for (why, (parts, bytes)) in sums {
        table.row([why.to_owned(), grouped(parts), grouped(bytes)]);
    }
    writeln!(out, "\n{table}")?;
    Ok(())
}
