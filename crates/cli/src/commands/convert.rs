//! `secateur convert`: a session as a request in any provider's wire, with an account of what is lost.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use secateur::{Measures, PartIx, PartKind};
use secateur_formats::{Format, Loss, Transcript, Wire};
use serde::Serialize;

use crate::humanize::{counted, grouped};
use crate::logs::{self, FormatArg};
use crate::session_file::SessionFileArgs;
use crate::table::Table;
use crate::terminal::print_json;

/// Convert a session into a request for a provider, and account for every byte that is lost.
///
/// The body goes to standard output and the account to standard error. With --out, the body goes to a file and the
/// account to standard output. Nothing is cut.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The session: a file, or the database or folder that holds it.
    file: PathBuf,
    #[command(flatten)]
    format: FormatArg,
    /// Which session, if the file holds several: its id, or its number from 1.
    #[arg(long, value_name = "ID|N")]
    session: Option<String>,
    /// The model that the request names, e.g. `claude-sonnet-4-5` [default: that of the session]
    #[arg(long)]
    model: Option<String>,
    /// The provider's wire: anthropic, openai-chat, openai-responses or gemini.
    #[arg(long, value_name = "WIRE")]
    to: Wire,
    /// Write the body to this file instead of printing it.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object: the account, and without --out the body.
    #[arg(long)]
    json: bool,
}

/// What became of the bytes of a session's contents.
#[derive(Serialize)]
struct Account<'a> {
    from: Format,
    to: Wire,
    /// Parts of the context, and raw bytes of all contents.
    parts: usize,
    content_bytes: u64,
    /// Bytes in the request.
    carried_bytes: u64,
    /// Bytes that the wire cannot hold, and the parts they belong to.
    lost_bytes: u64,
    losses: &'a [Loss],
    /// What is in the log but no longer in the context.
    gone_parts: usize,
    gone_bytes: u64,
    /// The rest of the file: the log's own records, UI copies, keys and punctuation.
    other_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

impl ConvertArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let log = SessionFileArgs::at(&self.file, self.format.format, self.session.clone());
        let session = log.open()?;
        if let Some(out) = &self.out {
            logs::refuse_same_file(out, &session.path)?;
        }
        let whole = log.read(&session, &Measures::default())?;
        let context = session.context(&whole, None)?;
        let own = context.origin.model.clone();
        let model = self.model.clone().or(own).unwrap_or_else(|| "MODEL".to_owned());
        let rendered = session.request(&context, self.to, &model)?;
        if let Some(path) = &self.out {
            logs::write(path, &rendered.body)?;
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
        match account.body {
            _ if self.json => print_json(out, &account),
            Some(body) => {
                writeln!(out, "{body}")?;
                print(&mut anstream::stderr(), &account)
            }
            None => print(out, &account),
        }
    }
}

/// The raw bytes of all contents, each counted once.
fn content_bytes(transcript: &Transcript<'_>) -> u64 {
    let outline = &transcript.outline;
    let content = |part: PartIx| transcript.content(part).map_or(0, |raw| raw.len() as u64);
    outline.parts().filter(|&part| outline.kind(part) != PartKind::Compaction).map(content).sum()
}

fn print(out: &mut dyn Write, account: &Account<'_>) -> Result<()> {
    let Account { from, to, .. } = account;
    writeln!(out, "{from} session as {to} request: {}", counted(account.parts as u64, "part"))?;
    writeln!(out, "  {:>14} bytes of content in the file:", grouped(account.content_bytes))?;
    writeln!(out, "  {:>14} are in the request", grouped(account.carried_bytes))?;
    writeln!(out, "  {:>14} cannot be expressed in it", grouped(account.lost_bytes))?;
    let (gone, other) = (grouped(account.gone_bytes), grouped(account.other_bytes));
    let parts = counted(account.gone_parts as u64, "part");
    writeln!(out, "  {gone:>14} had already left the context ({parts})")?;
    writeln!(out, "  {other:>14} other bytes of the file are records and copies that are never sent")?;
    if account.losses.is_empty() {
        return Ok(());
    }
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for loss in account.losses {
        let sum = sums.entry(loss.why).or_default();
        sum.0 += 1;
        sum.1 += loss.bytes;
    }
    let mut table = Table::new(["cannot be expressed", "parts", "bytes"]).right([1, 2]);
    for (why, (parts, bytes)) in sums {
        table.row([why.to_owned(), grouped(parts), grouped(bytes)]);
    }
    writeln!(out, "\n{table}")?;
    Ok(())
}
