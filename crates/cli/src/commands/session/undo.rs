//! `secateur session undo` and `redo`.

use std::io::Write;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_engine::EngineError;
use secateur_store::OperationRow;
use serde_json::json;

use super::SessionIdArgs;
use crate::event_text::number;
use crate::store_args::engine_error;
use crate::terminal::print_json;

/// How many operations an error lists.
const LISTED: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct OperationArgs {
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
pub(super) enum Direction {
    Undo,
    Redo,
}

impl OperationArgs {
    pub(super) async fn run(&self, out: &mut dyn Write, direction: Direction) -> Result<()> {
        let (engine, mut session) = self.session.open(None).await?;
        let before = session.tokens();
        let (changed, done) = match direction {
            Direction::Undo => (session.undo(self.operation).await, "undid"),
            Direction::Redo => (session.redo(self.operation).await, "redid"),
        };
        let operations = engine.all_operations(session.id()).await.map_err(engine_error)?;
        let changed = changed.map_err(|error| self.explain(error, direction, &operations))?;
        let kind = operations.iter().find(|row| row.number == changed).map_or("", |row| row.kind.as_str());
        let after = session.tokens();
        if self.json {
            let report = json!({ "session": session.id(), "operation": changed, "kind": kind,
                "undone": direction == Direction::Undo, "before": before, "after": after });
            return print_json(out, &report);
        }
        let (before, after) = (number(before), number(after));
        writeln!(out, "{done} operation {changed} ({kind}): about {before} → {after} tokens")?;
        Ok(())
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
