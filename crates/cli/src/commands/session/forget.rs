//! `secateur session forget`: deletes originals permanently.

use std::io::{IsTerminal, Write};

use anyhow::{Result, bail};
use clap::Args;
use jiff::Timestamp;
use secateur_engine::Engine;
use secateur_store::Forgotten;
use serde_json::json;

use super::database_size::{DatabaseSizes, confirm};
use crate::humanize::counted;
use crate::store_args::{self, StoreArgs, engine_error};
use crate::terminal::print_json;
use crate::time_text;

/// Delete originals that were cut or compacted, permanently.
///
/// Requests stay the same. What was deleted cannot be recalled, and the operations that cut it cannot be undone. The
/// database file is rewritten afterwards.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The session's id.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    session: Option<String>,
    /// Delete in all sessions.
    #[arg(long)]
    all: bool,
    /// Only originals of messages older than a date, a time or an age: 2026-01-31, 2026-01-31T12:00:00Z, 30d.
    #[arg(long, value_name = "DATE|AGE", value_parser = time_text::parse_flag, allow_hyphen_values = true)]
    before: Timestamp,
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

/// How much is deleted in total.
#[derive(Clone, Copy, Default)]
struct ForgetTotals {
    sessions: u64,
    messages: u64,
    bytes: u64,
}

impl ForgetTotals {
    fn add(&mut self, forgotten: Forgotten) {
        self.sessions += u64::from(forgotten.messages > 0);
        self.messages += forgotten.messages;
        self.bytes += forgotten.bytes;
    }

    fn describe(self) -> String {
        let (messages, sessions) = (counted(self.messages, "message"), counted(self.sessions, "session"));
        format!("the originals of {messages} in {sessions}, {}", counted(self.bytes, "byte"))
    }
}

impl ForgetArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let engine = store_args::open_engine(&self.store, None).await?;
        let ids = self.ids(&engine).await?;
        let before = self.before.as_millisecond();
        // A person is asked first, because deleting is permanent. A program is not.
        let asks = !self.dry_run && !self.yes && !self.json && std::io::stdin().is_terminal();
        if self.dry_run || asks {
            let mut sum = ForgetTotals::default();
            for id in &ids {
                let session = store_args::open_session(&engine, &self.store, id).await?;
                sum.add(session.would_forget(before).await.map_err(engine_error)?);
            }
            if self.dry_run {
                return self.report(out, sum, None);
            }
            if sum.messages > 0 && !confirm(&sum.describe())? {
                bail!("nothing was deleted");
            }
        }
        let mut sum = ForgetTotals::default();
        for id in &ids {
            let mut session = store_args::open_session(&engine, &self.store, id).await?;
            sum.add(session.forget(before).await.map_err(engine_error)?);
        }
        let sizes = DatabaseSizes::of_shrinking(&engine, &self.store).await?;
        self.report(out, sum, Some(sizes))
    }

    async fn ids(&self, engine: &Engine) -> Result<Vec<String>> {
        match &self.session {
            Some(id) => Ok(vec![id.clone()]),
            None => {
                let rows = engine.sessions(usize::MAX >> 1).await.map_err(engine_error)?;
                Ok(rows.into_iter().map(|row| row.id).collect())
            }
        }
    }

    fn report(&self, out: &mut dyn Write, sum: ForgetTotals, sizes: Option<DatabaseSizes>) -> Result<()> {
        let ForgetTotals { sessions, messages, bytes } = sum;
        if self.json {
            let database = sizes.as_ref().and_then(DatabaseSizes::json);
            let report = json!({ "before": self.before.as_millisecond(), "dry_run": self.dry_run,
                "sessions": sessions, "messages": messages, "bytes": bytes, "database": database });
            return print_json(out, &report);
        }
        let day = time_text::minute(self.before.as_millisecond());
        match (messages, self.dry_run) {
            (0, _) => {
                writeln!(out, "Nothing to delete: no original from before {day} was cut or compacted.")?;
            }
            (_, true) => writeln!(out, "Would delete {}. Nothing was deleted.", sum.describe())?,
            (_, false) => writeln!(out, "Deleted {}.", sum.describe())?,
        }
        sizes.map_or(Ok(()), |sizes| sizes.write(out))
    }
}
