//! `secateur session events`: the events of a session, past and new.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use secateur::session::Event;
use secateur_engine::RecordedEvent;
use serde::Serialize;

use super::SessionIdArgs;
use crate::event_text::sentence;
use crate::store_args::engine_error;
use crate::terminal::print_json;
use crate::time_text;

/// How many events are read at once.
const PAGE: usize = 500;

/// How often the store is checked for new events. Other processes write them, so there is no notification.
const POLL: Duration = Duration::from_millis(200);

/// Print a session's events: overflows, cuts, compactions, undos.
#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// Only events after the one with this number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: u64,
    /// Continue with new events until interrupted.
    #[arg(long, short)]
    follow: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// One line of `--json`.
#[derive(Serialize)]
struct EventLine<'a> {
    number: u64,
    time: i64,
    #[serde(flatten)]
    event: &'a Event,
}

impl EventsArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let (_engine, session) = self.session.open(None).await?;
        let mut after = self.after;
        loop {
            let page = session.events(after, PAGE).await.map_err(engine_error)?;
            for told in &page {
                self.print(out, told)?;
                after = told.number;
            }
            if !page.is_empty() {
                // With --follow, show them now.
                out.flush()?;
            } else if self.follow {
                tokio::time::sleep(POLL).await;
            } else {
                return Ok(());
            }
        }
    }

    fn print(&self, out: &mut dyn Write, told: &RecordedEvent) -> Result<()> {
        let RecordedEvent { number, time, event } = told;
        if self.json {
            print_json(out, &EventLine { number: *number, time: *time, event })?;
        } else {
            writeln!(out, "{number:>4}  {}  {}", time_text::second(*time), sentence(event))?;
        }
        Ok(())
    }
}
