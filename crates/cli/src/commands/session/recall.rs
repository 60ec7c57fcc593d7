//! `secateur session recall`: an original, whatever was cut or compacted since.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_engine::EngineError;
use serde_json::json;
use serde_json::value::RawValue;

use super::SessionIdArgs;
use crate::store_args::engine_error;

/// Print the original of a message or a part of it, whatever was cut or compacted since.
#[derive(Debug, Args)]
pub(crate) struct SessionRecallArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// `12` for message 12, `12.0` for its first part, the handle of what was cut, or the id of a tool call for its
    /// result.
    part: String,
    /// Print one JSON object: the text, and the whole message as it was appended.
    #[arg(long)]
    json: bool,
}

impl SessionRecallArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let (_, session) = self.session.open(None).await?;
        let recalled = session.recall(&self.part).await.map_err(|error| match error {
            EngineError::NotFound { .. } => anyhow!(
                "session {} has no part {:?}; its messages are numbered 1 to {}, a part is named like 1.0, and the \
                 id of a tool call names its result",
                session.id(),
                self.part,
                session.head()
            ),
            error => engine_error(error),
        })?;
        if self.json {
            let body = String::from_utf8_lossy(&recalled.body).into_owned();
            let message = RawValue::from_string(body)?;
            let report = json!({ "session": session.id(), "number": recalled.seq, "text": recalled.text,
                "message": message });
            writeln!(out, "{report}")?;
            return Ok(ExitCode::SUCCESS);
        }
        writeln!(out, "{}", recalled.text)?;
        Ok(ExitCode::SUCCESS)
    }
}
