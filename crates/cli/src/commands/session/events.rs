//! `secateur session events`: what happened, and what happens.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use secateur::session::Event;
use secateur_engine::RecordedEvent;
use serde::Serialize;

use super::SessionIdArgs;
use crate::event_text::sentence;
use crate::store_args::engine_error;
use crate::time_text;

/// How many events are read at once.
const PAGE: usize = 500;

/// How often the store is looked at for new ones. Other processes write to it, so nobody can tell us.
const POLL: Duration = Duration::from_millis(200);

/// Print what happened in a session: overflows, cuts, compactions, what was undone.
#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// Only what happened after the event of this number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: u64,
    /// Go on and print what happens, until interrupted.
    #[arg(long, short)]
    follow: bool,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// One line of `--json`.
#[derive(Serialize)]
struct EventRow<'a> {
    number: u64,
    time: i64,
    #[serde(flatten)]
    event: &'a Event,
}

impl EventsArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let (_engine, session) = self.session.open(None).await?;
        let mut after = self.after;
        loop {
            let page = session.events(after, PAGE).await.map_err(engine_error)?;
            for told in &page {
                self.print(out, told)?;
                after = told.number;
            }
            if !page.is_empty() {
                // Whoever follows wants to see it now.
                out.flush()?;
            } else if self.follow {
                tokio::time::sleep(POLL).await;
            } else {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    fn print(&self, out: &mut dyn Write, told: &RecordedEvent) -> Result<()> {
        let RecordedEvent { number, time, event } = told;
        if self.json {
            serde_json::to_writer(&mut *out, &EventRow { number: *number, time: *time, event })?;
            writeln!(out)?;
        } else {
            writeln!(out, "{number:>4}  {}  {}", time_text::second(*time), sentence(event))?;
        }
        Ok(())
    }
}
