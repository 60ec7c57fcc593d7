//! `secateur report`: what a profile does to a session, as one page for a browser.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::humanize::{grouped, percent};
use crate::logs;
use crate::session_file::SessionFileArgs;

mod data;
mod fill;
mod replay;

/// Write a page that shows a session: its context over time, and every part with its verdict and reason.
///
/// One HTML file that needs no network and no other file. It quotes the beginning of every part: treat it like the
/// session itself.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    session: SessionFileArgs,
    /// Where the page goes.
    #[arg(long, short, value_name = "PAGE")]
    out: PathBuf,
    /// Print what the page says in numbers as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct WrittenReport<'a> {
    page: String,
    bytes: usize,
    totals: &'a data::ReportTotals,
}

impl ReportArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        logs::refuse_same_file(&self.out, &self.session.file)?;
        let session = self.session.open()?;
        logs::refuse_same_file(&self.out, &session.path)?;
        let measures = session.profile.policy.measures();
        let whole = self.session.read(&session, &measures)?;
        let data = fill::report_data(
            &whole,
            &session.profile,
            &self.session.next,
            &self.session.file.display().to_string(),
        )?;
        let page = data.page();
        fs::write(&self.out, &page).with_context(|| format!("cannot write {}", self.out.display()))?;
        if self.json {
            let (page, bytes) = (self.out.display().to_string(), page.len());
            serde_json::to_writer(&mut *out, &WrittenReport { page, bytes, totals: &data.totals })?;
            writeln!(out)?;
            return Ok(ExitCode::SUCCESS);
        }
        let totals = &data.totals;
        writeln!(
            out,
            "{}: {} parts, next request about {} tokens, with the profile {} about {} ({} less)",
            self.out.display(),
            grouped(totals.parts),
            grouped(totals.before),
            session.profile.name,
            grouped(totals.after),
            percent(totals.before.saturating_sub(totals.after), totals.before),
        )?;
        Ok(ExitCode::SUCCESS)
    }
}
