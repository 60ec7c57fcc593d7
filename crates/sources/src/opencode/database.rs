//! OpenCode's database, `opencode.db`.
//!
//! `session` has a column for each fact. `message` and `part` have ids, two times and `data`, the JSON of everything
//! else. Messages are ordered by creation time, then id; parts by id. Rows are listed first without their data, and
//! then read one by one by key: that needs only the index that every version has, sorts no text, and a damaged row
//! costs only that row.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Row as SqlRow, Statement};

use super::Document;
use crate::database::{DatabaseSnapshot, is_local};
use crate::json::{self, ObjectWriter};
use crate::source::{self, OpenedSource, Source, SourceKind, time};
use crate::{SourceError, SourceWarning};

/// The sessions in the database, the newest first.
pub(crate) fn list(snapshot: &DatabaseSnapshot<'_>) -> Result<Vec<Source>, SourceError> {
    let columns = snapshot.columns("session")?;
    let or_null =
        |name: &'static str| if columns.iter().any(|column| column == name) { name } else { "NULL" };
    let bytes =
        |table| format!("(SELECT session_id, sum(octet_length(data)) AS bytes FROM {table} GROUP BY 1)");
    let query = format!(
        "SELECT id, {}, {}, coalesce(parts.bytes, 0) + coalesce(messages.bytes, 0) FROM session \
         LEFT JOIN {} AS parts ON parts.session_id = id LEFT JOIN {} AS messages ON messages.session_id = id \
         ORDER BY 3 DESC, id DESC",
        or_null("directory"),
        or_null("time_updated"),
        bytes("part"),
        bytes("message")
    );
    let source = |row: &SqlRow<'_>| {
        let mut source = Source::inside(SourceKind::OpenCodeDatabase, snapshot.path, row.get(0)?);
        source.project = row.get(1).unwrap_or_default();
        source.modified = row.get::<_, Option<i64>>(2).unwrap_or_default().and_then(time);
        source.bytes = row.get::<_, i64>(3).ok().and_then(|bytes| u64::try_from(bytes).ok());
        Ok(source)
    };
    snapshot.rows(&query, [], source)
}

/// Reads a session as an export document.
pub(crate) fn compose(snapshot: &DatabaseSnapshot<'_>, session: &str) -> Result<OpenedSource, SourceError> {
    let mut reader = SessionReader { snapshot, session, warnings: Vec::new() };
    let mut document = Document::new(&reader.info()?);
    let mut parts = reader.part_ids()?;
    let mut messages =
        snapshot.prepare_cached("SELECT data FROM message WHERE id = ?1").map_err(error(snapshot))?;
    let mut contents =
        snapshot.prepare_cached("SELECT data FROM part WHERE id = ?1").map_err(error(snapshot))?;
    for message in reader.message_ids()? {
        let own = parts.remove(&message).unwrap_or_default();
        let written = reader
            .row(&mut messages, "message", &message, |data| document.message(data, &message, session))?;
        if !written {
            reader.orphans(&message, own.len());
            continue;
        }
        for part in own {
            reader.row(&mut contents, "part", &part, |data| document.part(data, &part, &message, session))?;
            source::check_size(document.text.len(), snapshot.path, session)?;
        }
    }
    for (message, own) in parts {
        reader.orphans(&message, own.len());
    }
    Ok(OpenedSource { content: document.close(), warnings: reader.warnings })
}

fn error<'a>(snapshot: &'a DatabaseSnapshot<'_>) -> impl Fn(rusqlite::Error) -> SourceError + 'a {
    |error| snapshot.error(error)
}

struct SessionReader<'a> {
    snapshot: &'a DatabaseSnapshot<'a>,
    session: &'a str,
    warnings: Vec<SourceWarning>,
}

impl SessionReader<'_> {
    /// The facts in the session's row, under the names of an export.
    fn info(&self) -> Result<String, SourceError> {
        let snapshot = self.snapshot;
        let mut statement =
            snapshot.prepare("SELECT * FROM session WHERE id = ?1").map_err(error(snapshot))?;
        let columns = Columns::of(&statement);
        let mut rows = statement.query([self.session]).map_err(error(snapshot))?;
        match rows.next().map_err(error(snapshot))? {
            Some(row) => Ok(columns.info(row)),
            None => Err(SourceError::no_session(snapshot.path, self.session)),
        }
    }

    fn message_ids(&mut self) -> Result<Vec<String>, SourceError> {
        let query = "SELECT id, time_created FROM message WHERE session_id = ?1";
        let id = |row: &SqlRow<'_>| Ok((row.get(1).unwrap_or_default(), row.get(0)?));
        let mut ids: Vec<(i64, String)> =
            self.snapshot.ids("message", query, self.session, id, &mut self.warnings)?;
        ids.sort();
        Ok(ids.into_iter().map(|(_, id)| id).collect())
    }

    fn part_ids(&mut self) -> Result<BTreeMap<String, Vec<String>>, SourceError> {
        let query = "SELECT message_id, id FROM part WHERE session_id = ?1";
        let id = |row: &SqlRow<'_>| Ok((row.get(0)?, row.get(1)?));
        let mut ids: Vec<(String, String)> =
            self.snapshot.ids("part", query, self.session, id, &mut self.warnings)?;
        ids.sort();
        let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (message, part) in ids {
            parts.entry(message).or_default().push(part);
        }
        Ok(parts)
    }

    /// Passes the data of a row to `write`. Returns whether it was written; if not, a warning says why.
    fn row(
        &mut self,
        statement: &mut CachedStatement<'_>,
        table: &'static str,
        id: &str,
        write: impl FnOnce(&str) -> Result<(), serde_json::Error>,
    ) -> Result<bool, SourceError> {
        let mut write = Some(write);
        let outcome = statement.query_row([id], |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                    Ok(text) => {
                        write.take().map_or(Ok(()), |write| write(text)).map_err(|error| error.to_string())
                    }
                    Err(error) => Err(error.to_string()),
                },
                other => Err(format!("the data is {}, not text", other.data_type())),
            })
        });
        let reason = match outcome {
            Ok(Ok(())) => return Ok(true),
            Ok(Err(reason)) => reason,
            Err(error) if is_local(&error) => error.to_string(),
            Err(error) => return Err(self.snapshot.error(error)),
        };
        self.warn(table, id, format!("left out: {reason}"));
        Ok(false)
    }

    fn orphans(&mut self, message: &str, count: usize) {
        if count > 0 {
            let reason = format!("not there to hold its parts, of which {count} are left out");
            self.warn("message", message, reason);
        }
    }

    fn warn(&mut self, table: &'static str, id: &str, reason: String) {
        self.warnings.push(SourceWarning::row(self.snapshot.path, table, id, reason));
    }
}

/// The columns of `session`, by name.
struct Columns(BTreeMap<String, usize>);

/// Facts and their columns.
const IDS: [(&str, &str); 10] = [
    ("slug", "slug"),
    ("projectID", "project_id"),
    ("workspaceID", "workspace_id"),
    ("parentID", "parent_id"),
    ("directory", "directory"),
    ("path", "path"),
    ("title", "title"),
    ("agent", "agent"),
    ("version", "version"),
    ("cost", "cost"),
];
const DOCUMENTS: [(&str, &str); 4] =
    [("model", "model"), ("revert", "revert"), ("permission", "permission"), ("metadata", "metadata")];
const TOKENS: [(&str, &str); 3] =
    [("input", "tokens_input"), ("output", "tokens_output"), ("reasoning", "tokens_reasoning")];
const CACHE: [(&str, &str); 2] = [("read", "tokens_cache_read"), ("write", "tokens_cache_write")];
const CHANGES: [(&str, &str); 3] =
    [("additions", "summary_additions"), ("deletions", "summary_deletions"), ("files", "summary_files")];
const TIMES: [(&str, &str); 4] = [
    ("created", "time_created"),
    ("updated", "time_updated"),
    ("compacting", "time_compacting"),
    ("archived", "time_archived"),
];

impl Columns {
    fn of(statement: &Statement<'_>) -> Self {
        Self(statement.column_names().into_iter().map(str::to_owned).zip(0..).collect())
    }

    fn info(&self, row: &SqlRow<'_>) -> String {
        let mut info = ObjectWriter::default();
        self.add(&mut info, row, &[("id", "id")]);
        self.add(&mut info, row, &IDS);
        self.add_documents(&mut info, row, &DOCUMENTS);
        let mut cache = ObjectWriter::default();
        self.add(&mut cache, row, &CACHE);
        let mut tokens = ObjectWriter::default();
        self.add(&mut tokens, row, &TOKENS);
        tokens.object("cache", cache);
        info.object("tokens", tokens);
        let mut share = ObjectWriter::default();
        self.add(&mut share, row, &[("url", "share_url")]);
        info.object("share", share);
        let mut summary = ObjectWriter::default();
        self.add(&mut summary, row, &CHANGES);
        self.add_documents(&mut summary, row, &[("diffs", "summary_diffs")]);
        info.object("summary", summary);
        let mut times = ObjectWriter::default();
        self.add(&mut times, row, &TIMES);
        info.object("time", times);
        info.close()
    }

    fn value<'a>(&self, row: &'a SqlRow<'_>, column: &str) -> Option<ValueRef<'a>> {
        row.get_ref(*self.0.get(column)?).ok()
    }

    fn add(&self, members: &mut ObjectWriter, row: &SqlRow<'_>, facts: &[(&str, &str)]) {
        for (name, column) in facts {
            match self.value(row, column) {
                Some(ValueRef::Text(text)) => members.text(name, &String::from_utf8_lossy(text)),
                Some(ValueRef::Integer(number)) => members.json(name, &number.to_string()),
                Some(ValueRef::Real(number)) => {
                    members.json(name, &serde_json::Value::from(number).to_string());
                }
                Some(ValueRef::Null | ValueRef::Blob(_)) | None => {}
            }
        }
    }

    /// Adds columns that contain JSON. Invalid JSON is left out: none of these facts is essential.
    fn add_documents(&self, members: &mut ObjectWriter, row: &SqlRow<'_>, facts: &[(&str, &str)]) {
        for (name, column) in facts {
            if let Some(ValueRef::Text(text)) = self.value(row, column)
                && let Ok(text) = std::str::from_utf8(text)
                && json::check(text).is_ok()
            {
                members.json(name, text);
            }
        }
    }
}
