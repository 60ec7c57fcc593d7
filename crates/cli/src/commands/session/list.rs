//! `secateur session list`: the sessions in the store.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use secateur_store::SessionRow;
use serde::Serialize;

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

/// One session as `--json` prints it.
#[derive(Serialize)]
struct SessionListRow<'a> {
    session: &'a str,
    title: Option<&'a str>,
    wire: &'a str,
    profile: &'a str,
    messages: u64,
    operations: u64,
    created: i64,
    updated: i64,
}

impl<'a> From<&'a SessionRow> for SessionListRow<'a> {
    fn from(row: &'a SessionRow) -> Self {
        Self {
            session: &row.id,
            title: row.title.as_deref(),
            wire: &row.wire,
            profile: &row.profile,
            messages: row.head,
            operations: row.last_operation,
            created: row.created,
            updated: row.updated,
        }
    }
}

impl ListArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let engine = store_args::open_engine(&self.store, None).await?;
        let limit = self.limit as usize;
        let mut sessions = engine.sessions(limit + 1).await.map_err(engine_error)?;
        let has_more = sessions.len() > limit;
        sessions.truncate(limit);
        if self.json {
            let rows: Vec<SessionListRow<'_>> = sessions.iter().map(SessionListRow::from).collect();
            print_json(out, &rows)?;
            return Ok(ExitCode::SUCCESS);
        }
        if sessions.is_empty() {
            writeln!(out, "No sessions in {}. `secateur session new` creates one.", self.store.location()?)?;
            return Ok(ExitCode::SUCCESS);
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
        Ok(ExitCode::SUCCESS)
    }
}
