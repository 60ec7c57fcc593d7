//! `secateur session compact`: a summary in the place of older messages, now.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use secateur::session::Event;
use serde_json::json;

use super::Which;
use super::watch::Watch;
use crate::keeper::{self, SummariserArgs, told};
use crate::telling::sentences;

/// Summarise older history now; recent messages stay as they are.
#[derive(Debug, Args)]
pub(crate) struct Compact {
    #[command(flatten)]
    which: Which,
    /// What the summary should pay attention to; only a model listens.
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    summariser: SummariserArgs,
}

impl Compact {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let engine = keeper::open(&self.which.store, Some(&self.summariser)).await?;
        let mut session = keeper::session(&engine, &self.which.store, &self.which.session).await?;
        let watch = Watch::start(&engine);
        let events = session.compact(self.focus.as_deref()).await.map_err(told)?;
        watch.stop();
        if self.json {
            let tokens = session.machine().tokens();
            writeln!(out, "{}", json!({ "session": session.id(), "events": events, "tokens": tokens }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for sentence in sentences(&events) {
            writeln!(out, "{sentence}")?;
        }
        if events.iter().any(|event| matches!(event, Event::CompactionCompleted { .. })) {
            anstream::eprintln!("`secateur session undo {}` takes it back", session.id());
        }
        Ok(ExitCode::SUCCESS)
    }
}
