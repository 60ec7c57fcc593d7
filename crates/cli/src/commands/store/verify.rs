//! `secateur store verify`: checks every row and digest.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_store::{StoreDamage, StoreReport};
use serde_json::{Value, json};

use crate::humanize::{counted, printable};
use crate::store_args::{self, StoreArgs};
use crate::terminal::print_json;

/// Check every row and digest of the store.
///
/// Reads everything and changes nothing, also while a proxy uses the store. Lists what is damaged and what that means.
/// Exit code 1 if something is.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl VerifyArgs {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let location = self.store.location()?;
        if let Some(file) = location.file.as_ref().filter(|file| !file.exists()) {
            return Err(anyhow!("there is no store {}", file.display()));
        }
        let report = store_args::block_on(async {
            secateur_store::check(location.url(), None).await.map_err(|error| anyhow!("{location}: {error}"))
        })?;
        if self.json {
            print_json(out, &as_json(&report))?;
        } else {
            show(&report, out)?;
        }
        Ok(if report.damage_count == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

fn as_json(report: &StoreReport) -> Value {
    let damage = |damage: &StoreDamage| {
        let StoreDamage { session, message, what, meaning } = damage;
        json!({ "session": session, "message": message, "what": what, "meaning": meaning })
    };
    json!({
        "sessions": report.sessions,
        "messages": report.messages,
        "bodies": report.bodies,
        "bytes": report.bytes,
        "clippings": report.clippings,
        "damaged": report.damage_count,
        "damages": report.damages.iter().map(damage).collect::<Vec<_>>(),
    })
}

fn show(report: &StoreReport, out: &mut dyn Write) -> Result<()> {
    for StoreDamage { session, message, what, meaning } in &report.damages {
        let place = match (session, message) {
            (Some(session), Some(message)) => format!("message {message} of session {session}: "),
            (Some(session), None) => format!("session {session}: "),
            (None, Some(message)) => format!("message {message}: "),
            (None, None) => String::new(),
        };
        writeln!(out, "{}", printable(&format!("{place}{what}")))?;
        writeln!(out, "    {meaning}")?;
    }
    let unlisted = report.damage_count - report.damages.len() as u64;
    if unlisted > 0 {
        writeln!(out, "and {unlisted} more")?;
    }
    writeln!(
        out,
        "checked {}, {}, {} with {} bytes, {}: {}",
        counted(report.sessions, "session"),
        counted(report.messages, "message"),
        if report.bodies == 1 { "1 body".to_owned() } else { format!("{} bodies", report.bodies) },
        report.bytes,
        counted(report.clippings, "clipping"),
        if report.damage_count == 0 {
            "all whole".to_owned()
        } else {
            format!("{} damaged", report.damage_count)
        },
    )?;
    Ok(())
}
