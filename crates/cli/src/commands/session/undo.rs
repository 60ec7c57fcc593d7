//! `secateur session undo` and `redo`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_engine::EngineError;
use secateur_store::OperationRow;
use serde_json::json;

use super::SessionIdArgs;
use crate::event_text::number;
use crate::store_args::engine_error;

/// How many operations an error lists.
const LISTED: usize = 10;

/// Undo a prune or compaction: the operation with this number, or the newest that is not undone.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    operation: OperationArgs,
}

/// Redo what was undone: the operation with this number, or the first that is undone.
#[derive(Debug, Args)]
pub(crate) struct RedoArgs {
    #[command(flatten)]
    operation: OperationArgs,
}

#[derive(Debug, Args)]
struct OperationArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// The operation's number.
    #[arg(value_name = "N")]
    operation: Option<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Whether an operation is undone or redone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Undo,
    Redo,
}

impl UndoArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        self.operation.run(out, Direction::Undo).await
    }
}

impl RedoArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        self.operation.run(out, Direction::Redo).await
    }
}

impl OperationArgs {
    async fn run(&self, out: &mut dyn Write, direction: Direction) -> Result<ExitCode> {
        let (engine, mut session) = self.session.open(None).await?;
        let before = session.tokens();
        let changed = match direction {
            Direction::Undo => session.undo(self.operation).await,
            Direction::Redo => session.redo(self.operation).await,
        };
        let operations = engine.all_operations(session.id()).await.map_err(engine_error)?;
        let changed = changed.map_err(|error| self.explain(error, direction, &operations))?;
        let kind = operations.iter().find(|row| row.number == changed).map_or("", |row| row.kind.as_str());
        let after = session.tokens();
        if self.json {
            let report = json!({ "session": session.id(), "operation": changed, "kind": kind,
                "undone": direction == Direction::Undo, "before": before, "after": after });
            writeln!(out, "{report}")?;
            return Ok(ExitCode::SUCCESS);
        }
        let done = match direction {
            Direction::Undo => "undid",
            Direction::Redo => "redid",
        };
        writeln!(
            out,
            "{done} operation {changed} ({kind}): about {} → {} tokens",
            number(before),
            number(after)
        )?;
        Ok(ExitCode::SUCCESS)
    }

    /// The error for an operation that cannot be undone or redone, with those that can.
    fn explain(
        &self,
        error: EngineError,
        direction: Direction,
        operations: &[OperationRow],
    ) -> anyhow::Error {
        let EngineError::CannotUndo { reason, .. } = &error else { return engine_error(error) };
        let verb = match direction {
            Direction::Undo => "undone",
            Direction::Redo => "redone",
        };
        let fits = |row: &&OperationRow| row.undone == (direction == Direction::Redo);
        let mut fitting = operations.iter().rev().filter(fits);
        let named: Vec<String> =
            fitting.by_ref().take(LISTED).map(|row| format!("{} ({})", row.number, row.kind)).collect();
        let more = if fitting.next().is_some() { " and older ones" } else { "" };
        let could = match named.as_slice() {
            [] => format!("nothing can be {verb}"),
            named => format!("operations that can be {verb}: {}{more}", named.join(", ")),
        };
        match self.operation {
            Some(number) => anyhow!("operation {number} cannot be {verb}: {reason}; {could}"),
            None => anyhow!("{could}"),
        }
    }
}
