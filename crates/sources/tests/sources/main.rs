//! Sessions as agents leave them, found and opened.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

mod busy;
mod locations;
mod openclaw;
mod opencode;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use secateur_sources::{FoundSources, OpenedSource, Source};
use serde_json::Value;

fn write(path: PathBuf, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn text(opened: OpenedSource) -> String {
    String::from_utf8(opened.content.into_bytes().unwrap()).unwrap()
}

fn json(source: &Source) -> Value {
    serde_json::from_str(&text(source.open().unwrap())).unwrap()
}

fn only(found: &FoundSources) -> &Source {
    assert_eq!(found.sources.len(), 1, "{found:?}");
    found.sources.first().unwrap()
}

fn said(warnings: &[secateur_sources::SourceWarning]) -> String {
    warnings.iter().map(|warning| format!("{warning}\n")).collect()
}

/// All names in a folder, to check that none was added.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A database with the tables of OpenCode and one session, `ses_1`.
fn opencode_database(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            r#"
            PRAGMA journal_mode = WAL;
            CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT,
                directory TEXT, title TEXT, version TEXT, share_url TEXT, summary_additions INTEGER,
                tokens_input INTEGER, tokens_cache_read INTEGER, cost REAL, model TEXT, revert TEXT,
                time_created INTEGER, time_updated INTEGER, time_compacting INTEGER);
            CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER,
                time_updated INTEGER, data TEXT);
            CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
                time_created INTEGER, time_updated INTEGER, data TEXT);
            INSERT INTO session VALUES ('ses_1', 'prj', NULL, 'quiet-fern', '/src/garden', 'Water the "ferns"', '1.18.0',
                NULL, 3, 10, 7, 0.5, '{"id":"m", "providerID":"p"}', 'not json', 1700000000000, 1700000001000, NULL);
            "#,
        )
        .unwrap();
    connection
}

fn add_message(connection: &Connection, id: &str, created: i64, data: &str) {
    connection.execute("INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)", (id, created, data)).unwrap();
}

fn add_part(connection: &Connection, id: &str, message: &str, data: &str) {
    connection.execute("INSERT INTO part VALUES (?1, ?2, 'ses_1', 1, 1, ?3)", (id, message, data)).unwrap();
}
