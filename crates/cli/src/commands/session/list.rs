//! `secateur session list`: the sessions that are kept.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use secateur_store::SessionRow;
use serde::Serialize;

use crate::humanize::{grouped, shortened};
use crate::store_args::{self, StoreArgs, engine_error};
use crate::table::Table;
use crate::terminal;
use crate::time_text;

/// List the sessions, the one changed last first.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// At most so many.
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
        let is_cut = sessions.len() > limit;
        sessions.truncate(limit);
        if self.json {
            let rows: Vec<SessionListRow<'_>> = sessions.iter().map(SessionListRow::from).collect();
            serde_json::to_writer(&mut *out, &rows)?;
            writeln!(out)?;
            return Ok(ExitCode::SUCCESS);
        }
        if sessions.is_empty() {
            writeln!(out, "No sessions in {}. `secateur session new` begins one.", self.store.location()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let headings = ["session", "title", "messages", "operations", "changed", "format", "profile"];
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
        if is_cut {
            terminal::note(format_args!("there are more than {limit}; --limit shows more"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
