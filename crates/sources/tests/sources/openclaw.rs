use secateur_sources::{Agent, SourceError, find_at};

use super::*;

fn database(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    let columns = "session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, event_utf8_bytes INTEGER, \
                   created_at INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq)";
    connection.execute_batch(&format!("CREATE TABLE transcript_events ({columns})")).unwrap();
    connection
}

fn add(connection: &Connection, seq: i64, plain: Option<&str>, packed: Option<&[u8]>) {
    connection
        .execute(
            "INSERT INTO transcript_events VALUES ('s', ?1, ?2, ?3, NULL, ?1, NULL)",
            (seq, plain, packed),
        )
        .unwrap();
}

fn pack(text: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(text, 1).unwrap()
}

#[test]
fn events_come_in_order_one_a_line_packed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openclaw-agent.sqlite");
    let connection = database(&path);
    add(&connection, 10, Some("{\"n\":\r\n3,\"s\":\"\\n\"}"), None);
    add(&connection, 2, None, Some(&pack(br#"{"n": 2}"#)));
    add(&connection, 1, Some(r#"{"n":1.0}"#), None);

    let found = find_at(&path).unwrap();
    assert_eq!(only(&found).agent, Some(Agent::OpenClaw));
    let opened = only(&found).open().unwrap();
    assert_eq!(said(&opened.warnings), "");
    assert_eq!(text(opened), "{\"n\":1.0}\n{\"n\": 2}\n{\"n\":  3,\"s\":\"\\n\"}\n");
}

#[test]
fn damaged_events_and_bombs_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openclaw-agent.sqlite");
    let connection = database(&path);
    let whole = format!("\"{}\"", "ab".repeat(2000));
    let mut torn = pack(whole.as_bytes());
    torn.truncate(torn.len() / 2);
    let bomb = pack(&vec![b'1'; 12 << 20]);
    add(&connection, 1, Some(r#"{"n":1}"#), None);
    add(&connection, 2, None, Some(&torn));
    add(&connection, 3, None, Some(&bomb));
    add(&connection, 4, None, None);
    add(&connection, 5, Some("{}"), Some(&pack(b"{}")));
    add(&connection, 6, Some("{"), None);
    add(&connection, 7, None, Some(b"no frame"));
    add(&connection, 8, None, Some(&pack(b"\xff")));
    add(&connection, 9, Some(r#"{"n":9}"#), None);

    let opened = only(&find_at(&path).unwrap()).open().unwrap();
    let ids: Vec<_> = opened.warnings.iter().map(|warning| warning.row.clone().unwrap().id).collect();
    assert_eq!(ids, ["s/2", "s/3", "s/4", "s/5", "s/6", "s/7", "s/8"], "{:?}", opened.warnings);
    assert!(said(&opened.warnings).contains(
        "row s/3 of table transcript_events: left out: the compressed event holds more than 8388608 bytes"
    ));
    assert_eq!(text(opened), "{\"n\":1}\n{\"n\":9}\n");
}

#[test]
fn a_table_without_the_later_columns_is_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openclaw-agent.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE transcript_events (session_id, seq, event_json);
             INSERT INTO transcript_events VALUES ('a', 1, '{}'), ('b', 1, '[1]'), ('b', 2, '[]');",
        )
        .unwrap();
    let found = find_at(&path).unwrap();
    let all: Vec<_> =
        found.sources.iter().map(|source| (source.bytes, text(source.open().unwrap()))).collect();
    assert_eq!(all, [(Some(3), "{}\n".to_owned()), (Some(7), "[1]\n[]\n".to_owned())]);
    connection.execute("DELETE FROM transcript_events WHERE session_id = 'a'", []).unwrap();
    assert!(matches!(found.sources[0].open().unwrap_err(), SourceError::NoSession { .. }));
}
