//! `secateur session list`: the sessions in the store.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use secateur_store::SessionRow;
use serde_json::json;

use crate::humanize::{grouped, shortened};
use crate::store_args::{self, StoreArgs, engine_error};
use crate::table::Table;
use crate::terminal::{self, print_json};
use crate::time_text;

/// List the sessions, the last changed first.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The maximum number of sessions.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    store: StoreArgs,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let engine = store_args::open_engine(&self.store, None).await?;
        let limit = self.limit as usize;
        let mut sessions = engine.sessions(limit + 1).await.map_err(engine_error)?;
        let has_more = sessions.len() > limit;
        sessions.truncate(limit);
        if self.json {
            let row = |row: &SessionRow| {
                json!({ "session": row.id, "title": row.title, "wire": row.wire, "profile": row.profile,
                    "messages": row.head, "operations": row.last_operation, "created": row.created,
                    "updated": row.updated })
            };
            return print_json(out, &sessions.iter().map(row).collect::<Vec<_>>());
        }
        if sessions.is_empty() {
            writeln!(out, "No sessions in {}. `secateur session new` creates one.", self.store.location()?)?;
            return Ok(());
        }
        let headings = ["session", "title", "messages", "operations", "changed", "wire", "profile"];
        let mut table = Table::new(headings).right([2, 3]);
        for row in &sessions {
            table.row([
                row.id.clone(),
                shortened(row.title.as_deref().unwrap_or_default(), 30),
                grouped(row.head),
                grouped(row.last_operation),
                time_text::minute(row.updated),
                row.wire.clone(),
                row.profile.clone(),
            ]);
        }
        write!(out, "{table}")?;
        if has_more {
            terminal::note("more sessions exist; raise --limit to see them");
        }
        Ok(())
    }
}
