//! `secateur store recover`: brings out what can be read of a damaged file.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_store::RecoveryReport;
use serde_json::json;

use crate::humanize::{counted, printable};
use crate::terminal::print_json;

/// Bring out what can be read of a damaged store into a new one.
///
/// The damaged file is only read. The new store has the sessions with all messages whose bodies are whole. Stop the proxy
/// first, and name the new store with --store afterwards.
#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// The damaged SQLite file.
    file: PathBuf,
    /// The new store [default: FILE.recovered]
    #[arg(long, value_name = "NEW")]
    to: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl RecoverArgs {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        if !self.file.is_file() {
            return Err(anyhow!("there is no file {}", self.file.display()));
        }
        let to = self.to.clone().unwrap_or_else(|| {
            let mut name = self.file.as_os_str().to_owned();
            name.push(".recovered");
            PathBuf::from(name)
        });
        let report = secateur_store::recover(&self.file, &to)
            .map_err(|error| anyhow!("{}: {error}", self.file.display()))?;
        if self.json {
            print_json(
                out,
                &json!({
                    "store": to,
                    "sessions": report.sessions,
                    "messages": report.messages,
                    "bodies": report.bodies,
                    "damaged_bodies": report.damaged_bodies,
                    "lost_messages": report.lost_messages,
                    "messages_without_session": report.messages_without_session,
                    "whole_messages": report.whole_messages,
                    "plain_sessions": report.plain_sessions,
                    "unreadable": report.unreadable,
                    "is_beginning_replaced": report.is_beginning_replaced,
                }),
            )?;
        } else {
            show(&report, out)?;
            writeln!(
                out,
                "recovered {} with {} to {}",
                counted(report.sessions, "session"),
                counted(report.messages, "message"),
                to.display()
            )?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints what was lost.
fn show(report: &RecoveryReport, out: &mut dyn Write) -> Result<()> {
    if report.is_beginning_replaced {
        writeln!(out, "the beginning of the file is lost; it was read as that of a store of a known schema")?;
    }
    for (table, places) in &report.unreadable {
        writeln!(out, "{table}: rows could not be read in {}", counted(*places, "place"))?;
    }
    for (session, numbers) in &report.lost_messages {
        let shown: Vec<String> = numbers.iter().take(20).map(u64::to_string).collect();
        let more = if numbers.len() > 20 { ", …" } else { "" };
        let lost = counted(numbers.len() as u64, "message");
        writeln!(
            out,
            "{}",
            printable(&format!("session {session}: {lost} lost: {}{more}", shown.join(", ")))
        )?;
    }
    for session in &report.plain_sessions {
        let what = "has its messages without cuts and compactions, because its operations are not whole";
        writeln!(out, "{}", printable(&format!("session {session}: {what}")))?;
    }
    if report.whole_messages > 0 {
        let count = counted(report.whole_messages, "message");
        writeln!(out, "{count} that had been cut: shown whole again, because what was shown is lost")?;
    }
    if report.messages_without_session > 0 {
        writeln!(out, "{} of sessions that are lost", counted(report.messages_without_session, "message"))?;
    }
    Ok(())
}
