//! Asking before something is deleted, and shrinking the database afterwards.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use secateur_engine::Engine;
use serde_json::{Value, json};

use crate::humanize::grouped;
use crate::store_args::StoreArgs;
use crate::terminal;

/// The bytes of a database file with its log, before and after it was shrunk; none on a server.
pub(super) struct DatabaseSizes(Option<(u64, u64)>);

impl DatabaseSizes {
    /// Shrinks the database. What was deleted stays deleted if that fails, so a warning says why.
    pub(super) async fn of_shrinking(engine: &Engine, store: &StoreArgs) -> Result<Self> {
        let file = store.location()?.file;
        let old = file.as_deref().map(database_size);
        if let Err(error) = engine.shrink_store().await {
            terminal::warn(format_args!(
                "the database was not rewritten, so copies of what was deleted may be left in unused bytes of it: {error}"
            ));
        }
        Ok(Self(old.zip(file.as_deref().map(database_size))))
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> Option<Value> {
        self.0.map(|(before, after)| json!({ "before": before, "after": after }))
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        if let Some((old, new)) = self.0 {
            writeln!(out, "Database size: {} → {} bytes.", grouped(old), grouped(new))?;
        }
        Ok(())
    }
}

/// Asks whether to go on.
pub(super) fn confirm(what: &str) -> Result<bool> {
    terminal::warn(format_args!("this permanently deletes {what}"));
    anstream::eprint!("Continue? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// The bytes of a database file and its write-ahead log.
fn database_size(file: &Path) -> u64 {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    size(file) + size(Path::new(&log))
}
