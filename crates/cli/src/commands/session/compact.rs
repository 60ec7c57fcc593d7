//! `secateur session compact`: replaces older history by a summary now.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use secateur::session::Event;
use serde_json::json;

use super::SessionIdArgs;
use crate::event_text::sentences;
use crate::progress::SummaryDisplay;
use crate::store_args::engine_error;
use crate::summariser_args::SummariserArgs;
use crate::terminal::print_json;

/// Replace older history by a summary now; recent messages stay.
#[derive(Debug, Args)]
pub(crate) struct SessionCompactArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// What the summary should focus on; used by a model only.
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    summariser: SummariserArgs,
}

impl SessionCompactArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let (engine, mut session) = self.session.open(Some(&self.summariser)).await?;
        let progress = SummaryDisplay::start(&engine);
        let events = session.compact(self.focus.as_deref()).await.map_err(engine_error)?;
        progress.stop();
        if self.json {
            let tokens = session.tokens();
            return print_json(out, &json!({ "session": session.id(), "events": events, "tokens": tokens }));
        }
        for sentence in sentences(&events) {
            writeln!(out, "{sentence}")?;
        }
        if events.iter().any(|event| matches!(event, Event::CompactionCompleted { .. })) {
            anstream::eprintln!("`secateur session undo {}` undoes it", session.id());
        }
        Ok(())
    }
}
