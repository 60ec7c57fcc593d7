//! OpenClaw's database, `openclaw-agent.sqlite`.
//!
//! `transcript_events` has one row for each event, numbered by `seq`. An event is JSON text in `event_json`, or the
//! same compressed in `event_zstd`, a later column that may be missing. The result is what OpenClaw wrote before it
//! had the database: one event a line.

use std::io::Read;

use rusqlite::Row as SqlRow;
use rusqlite::types::ValueRef;

use crate::database::{DatabaseSnapshot, is_local};
use crate::source::{self, OpenedSource, Source, SourceContent, SourceKind, time};
use crate::{SourceError, SourceWarning, json};

/// OpenClaw refuses events of more than half this size.
const LARGEST_EVENT: u64 = 8 << 20;
const TABLE: &str = "transcript_events";

/// The sessions in the database, the newest first.
pub(crate) fn list(snapshot: &DatabaseSnapshot<'_>) -> Result<Vec<Source>, SourceError> {
    let columns = snapshot.columns(TABLE)?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    let bytes = match (has("event_utf8_bytes"), has("event_json")) {
        (true, true) => "coalesce(event_utf8_bytes, octet_length(event_json))",
        (true, false) => "event_utf8_bytes",
        (false, _) => "octet_length(event_json)",
    };
    let changed = if has("created_at") { "max(created_at)" } else { "NULL" };
    // Every event is followed by a line feed.
    let query = format!(
        "SELECT session_id, {changed}, sum({bytes}) + count(*) FROM {TABLE} GROUP BY session_id ORDER BY 2 DESC, 1"
    );
    let source = |row: &SqlRow<'_>| {
        let mut source = Source::inside(SourceKind::OpenClawDatabase, snapshot.path, row.get(0)?);
        source.modified = row.get::<_, Option<i64>>(1).unwrap_or_default().and_then(time);
        source.bytes = row.get::<_, i64>(2).ok().and_then(|bytes| u64::try_from(bytes).ok());
        Ok(source)
    };
    snapshot.rows(&query, [], source)
}

/// Reads a session, one event a line.
pub(crate) fn compose(snapshot: &DatabaseSnapshot<'_>, session: &str) -> Result<OpenedSource, SourceError> {
    let columns = snapshot.columns(TABLE)?;
    let or_null =
        |name: &'static str| if columns.iter().any(|column| column == name) { name } else { "NULL" };
    let (plain, packed) = (or_null("event_json"), or_null("event_zstd"));
    let query = format!("SELECT {plain}, {packed} FROM {TABLE} WHERE session_id = ?1 AND seq = ?2");
    let mut warnings = Vec::new();
    let numbers = format!("SELECT seq FROM {TABLE} WHERE session_id = ?1 ORDER BY seq");
    let numbers: Vec<i64> = snapshot.ids(TABLE, &numbers, session, |row| row.get(0), &mut warnings)?;
    if numbers.is_empty() && warnings.is_empty() {
        return Err(SourceError::no_session(snapshot.path, session));
    }
    let mut statement = snapshot.prepare(&query).map_err(|error| snapshot.error(error))?;
    let mut lines = Vec::new();
    for number in numbers {
        let read = match statement.query_row((session, number), |row| Ok(event(row))) {
            Err(error) if !is_local(&error) => return Err(snapshot.error(error)),
            read => read.unwrap_or_else(|error| Err(error.to_string())),
        };
        match read {
            Ok(line) => lines.extend_from_slice(format!("{line}\n").as_bytes()),
            Err(reason) => {
                let (row, reason) = (format!("{session}/{number}"), format!("left out: {reason}"));
                warnings.push(SourceWarning::row(snapshot.path, TABLE, row, reason));
            }
        }
        source::check_size(lines.len(), snapshot.path, session)?;
    }
    Ok(OpenedSource { content: SourceContent::Bytes(lines), warnings })
}

/// Reads the event of a row, on one line.
fn event(row: &SqlRow<'_>) -> Result<String, String> {
    let plain = row.get_ref(0).map_err(|error| error.to_string())?;
    let packed = row.get_ref(1).map_err(|error| error.to_string())?;
    let bytes = match (plain, packed) {
        (ValueRef::Text(text), ValueRef::Null) => text.to_vec(),
        (ValueRef::Null, ValueRef::Blob(frame)) => unpack(frame)?,
        (plain, packed) => {
            let (plain, packed) = (plain.data_type(), packed.data_type());
            return Err(format!("event_json is {plain} and event_zstd is {packed}; one must be set"));
        }
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    json::check(&text).map_err(|error| error.to_string())?;
    // In valid JSON, a bare line break can only be between tokens, where a space means the same.
    Ok(if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text })
}

/// Decompresses an event; refuses one that is too large.
fn unpack(frame: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut unpack = || {
        let mut decoder = zstd::Decoder::new(frame)?.single_frame();
        decoder.window_log_max(LARGEST_EVENT.ilog2())?;
        decoder.take(LARGEST_EVENT + 1).read_to_end(&mut bytes)
    };
    unpack().map_err(|error| format!("the compressed event is damaged: {error}"))?;
    if bytes.len() as u64 > LARGEST_EVENT {
        return Err(format!("the compressed event holds more than {LARGEST_EVENT} bytes"));
    }
    Ok(bytes)
}
