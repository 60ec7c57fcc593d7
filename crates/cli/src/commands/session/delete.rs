//! `secateur session delete`: deletes whole sessions.

use std::io::{IsTerminal, Write};

use anyhow::{Result, bail};
use clap::Args;
use jiff::Timestamp;
use secateur_engine::Engine;
use secateur_store::SessionCursor;
use serde_json::json;

use super::database_size::{DatabaseSizes, confirm};
use crate::humanize::counted;
use crate::store_args::{self, StoreArgs, engine_error};
use crate::terminal::print_json;
use crate::time_text;

/// How many sessions are listed at once.
const PAGE: usize = 500;

/// Delete sessions with everything in them, permanently.
///
/// A conversation whose session was deleted goes on: its agent sends the whole history again, and a new session begins.
/// What was cut from it before cannot be recalled. The database file is rewritten afterwards.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The ids of the sessions.
    #[arg(value_name = "SESSION", required_unless_present = "before", conflicts_with = "before")]
    sessions: Vec<String>,
    /// All sessions that were last used before a date, a time or an age: 2026-01-31, 2026-01-31T12:00:00Z, 30d.
    #[arg(long, value_name = "DATE|AGE", value_parser = time_text::parse_flag, allow_hyphen_values = true)]
    before: Option<Timestamp>,
    /// Only print what would be deleted.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl DeleteArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let engine = store_args::open_engine(&self.store, None).await?;
        let ids = self.ids(&engine).await?;
        if self.dry_run {
            return self.report(out, &ids, None);
        }
        // A person is asked first, because deleting is permanent. A program is not.
        let asks = !self.yes && !self.json && !ids.is_empty() && std::io::stdin().is_terminal();
        if asks && !confirm(&counted(ids.len() as u64, "session"))? {
            bail!("nothing was deleted");
        }
        let before = self.before.map_or(i64::MAX, Timestamp::as_millisecond);
        let mut deleted = Vec::new();
        for id in ids {
            if engine.delete_session(&id, before).await.map_err(engine_error)? {
                deleted.push(id);
            }
        }
        engine.remove_deleted().await.map_err(engine_error)?;
        let sizes = DatabaseSizes::of_shrinking(&engine, &self.store).await?;
        self.report(out, &deleted, Some(sizes))
    }

    /// The sessions to delete, all of which exist.
    async fn ids(&self, engine: &Engine) -> Result<Vec<String>> {
        let Some(before) = self.before else {
            for id in &self.sessions {
                store_args::check_session(engine, &self.store, id).await?;
            }
            return Ok(self.sessions.clone());
        };
        let mut found: Vec<SessionCursor> = Vec::new();
        loop {
            let page = engine.unused_sessions(before.as_millisecond(), found.last(), PAGE).await;
            let page = page.map_err(engine_error)?;
            let is_last = page.len() < PAGE;
            found.extend(page);
            if is_last {
                return Ok(found.into_iter().map(|session| session.id).collect());
            }
        }
    }

    fn report(&self, out: &mut dyn Write, ids: &[String], sizes: Option<DatabaseSizes>) -> Result<()> {
        if self.json {
            let before = self.before.map(Timestamp::as_millisecond);
            let database = sizes.as_ref().and_then(DatabaseSizes::json);
            return print_json(
                out,
                &json!({ "before": before, "dry_run": self.dry_run, "sessions": ids, "database": database }),
            );
        }
        let sessions = counted(ids.len() as u64, "session");
        match (ids.len(), self.dry_run) {
            (0, _) => writeln!(out, "Nothing to delete: no session was last used before that.")?,
            (_, true) => writeln!(out, "Would delete {sessions}. Nothing was deleted.")?,
            (_, false) => writeln!(out, "Deleted {sessions}.")?,
        }
        sizes.map_or(Ok(()), |sizes| sizes.write(out))
    }
}
