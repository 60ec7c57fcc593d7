//! The table of bodies.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{SqliteResult, session};
use crate::body::{PackedBodies, PackedBody};
use crate::sql::{BODY_AT, ORIGINAL_MESSAGES, stored_row};
use crate::stored_row::RowBody;
use crate::tenant::SessionName;
use crate::validation::to_column;

/// Inserts the bodies that do not exist yet. One whose bytes are not the same is replaced: it is damaged, or another
/// version has compressed it.
pub(super) fn insert(connection: &Connection, bodies: &PackedBodies) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO bodies (digest, encoding, size, bytes) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (digest) DO UPDATE \
         SET encoding = excluded.encoding, size = excluded.size, bytes = excluded.bytes \
         WHERE bytes <> excluded.bytes OR size <> excluded.size OR encoding <> excluded.encoding",
    )?;
    for (digest, packed) in bodies {
        statement.execute((&digest[..], packed.encoding, packed.size, &packed.bytes[..]))?;
    }
    Ok(())
}

/// Reads a body from three columns; none if they are NULL.
pub(super) fn read_packed(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<PackedBody>> {
    let Some(encoding) = row.get(at)? else {
        return Ok(None);
    };
    Ok(Some(PackedBody { encoding, size: row.get(at + 1)?, bytes: row.get::<_, Vec<u8>>(at + 2)?.into() }))
}

/// Reads the original bodies of messages, in the order of `seqs`.
pub(super) fn originals(
    connection: &Connection,
    name: &SessionName,
    seqs: &[u64],
) -> SqliteResult<Vec<Option<Vec<u8>>>> {
    let (key, is_sealed) = session::find_sealed_key(connection, name)?;
    let sql = format!("{ORIGINAL_MESSAGES} WHERE session = ?1 AND seq = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = HashMap::new();
    for &seq in seqs {
        if found.contains_key(&seq) {
            continue;
        }
        let read = |row: &Row<'_>| Ok((stored_row!(row.get), read_packed(row, BODY_AT)?));
        let Some((row, packed)) = statement.query_row((key, to_column(seq)), read).optional()? else {
            continue;
        };
        row.check(&name.id, is_sealed)?;
        if row.body.is_some() {
            found.insert(seq, row.open(&name.id, RowBody::Original, packed)?.body);
        }
    }
    Ok(seqs.iter().map(|seq| found.get(seq).cloned()).collect())
}

/// Deletes the released bodies that no message refers to any more.
pub(super) fn sweep(connection: &Connection, released: &[Vec<u8>]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM bodies WHERE digest = ?1 AND NOT EXISTS (SELECT * FROM messages WHERE body = ?1) \
         AND NOT EXISTS (SELECT * FROM messages WHERE shown = ?1)",
    )?;
    for digest in released {
        statement.execute([digest])?;
    }
    Ok(())
}
