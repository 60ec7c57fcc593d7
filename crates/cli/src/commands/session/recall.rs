//! `secateur session recall`: the original of a message or part.

use std::io::Write;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_engine::EngineError;
use serde_json::json;
use serde_json::value::RawValue;

use super::SessionIdArgs;
use crate::store_args::engine_error;
use crate::terminal::print_json;

/// Print the original of a message or part, also if it was cut or compacted.
#[derive(Debug, Args)]
pub(crate) struct SessionRecallArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// `12` for message 12, `12.0` for its first part, the handle in a placeholder, or the id of a tool call for its
    /// result.
    part: String,
    /// Print one JSON object: the text, and the message as it was appended.
    #[arg(long)]
    json: bool,
}

impl SessionRecallArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let (_, session) = self.session.open(None).await?;
        let recalled = session.recall(&self.part).await.map_err(|error| match error {
            EngineError::NotFound { .. } => anyhow!(
                "session {} has no part {:?}; expected a message from 1 to {}, a part such as 1.0, a handle, or the id \
                 of a tool call",
                session.id(),
                self.part,
                session.head()
            ),
            error => engine_error(error),
        })?;
        if self.json {
            let message = RawValue::from_string(String::from_utf8_lossy(&recalled.body).into_owned())?;
            let report = json!({ "session": session.id(), "number": recalled.seq, "text": recalled.text,
                "message": message });
            return print_json(out, &report);
        }
        writeln!(out, "{}", recalled.text)?;
        Ok(())
    }
}
