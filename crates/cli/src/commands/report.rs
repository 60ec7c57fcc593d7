//! `secateur report`: what a profile does to a session, as one page for a browser.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::humanize::{grouped, percent};
use crate::logs;
use crate::session_file::SessionFileArgs;
use crate::terminal::print_json;

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

impl ReportArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        logs::refuse_same_file(&self.out, &self.session.file)?;
        let session = self.session.open()?;
        logs::refuse_same_file(&self.out, &session.path)?;
        let whole = self.session.read(&session, &session.profile.policy.measures())?;
        let file = self.session.file.display().to_string();
        let data =
            fill::report_data(&whole, &session.profile, &session.catalogue, &self.session.next, &file)?;
        let page = data.page();
        logs::write(&self.out, &page)?;
        if self.json {
            let (file, bytes) = (self.out.display().to_string(), page.len());
            return print_json(out, &json!({ "page": file, "bytes": bytes, "totals": data.totals }));
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
        Ok(())
    }
}
