use secateur_sources::{Agent, SourceError, find_at};
use std::time::{Duration, UNIX_EPOCH};

use super::*;

#[test]
fn a_database_becomes_an_export_with_the_data_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("any name ?#%.bin");
    let connection = opencode_database(&path);
    add_message(&connection, "msg_b", 1, r#"{"role":"assistant", "cost": 1.50e0}"#);
    add_message(&connection, "msg_a", 2, r#"{"role":"user","id":"own"}"#);
    add_part(&connection, "prt_2", "msg_b", r#"{"type":"text","text":"\u00e9 é"}"#);
    add_part(&connection, "prt_1", "msg_b", r"{}");
    drop(connection);

    let found = find_at(&path).unwrap();
    let source = only(&found);
    assert_eq!(source.agent, Some(Agent::OpenCode));
    assert_eq!(source.session.as_deref(), Some("ses_1"));
    assert_eq!(source.project.as_deref(), Some("/src/garden"));
    assert_eq!(source.modified, Some(UNIX_EPOCH + Duration::from_millis(1_700_000_001_000)));
    assert_eq!(source.bytes, Some(36 + 26 + 34 + 2));
    let opened = source.open().unwrap();
    assert_eq!(said(&opened.warnings), "");
    assert_eq!(
        text(opened),
        concat!(
            r#"{"info":{"id":"ses_1","slug":"quiet-fern","projectID":"prj","directory":"/src/garden","#,
            r#""title":"Water the \"ferns\"","version":"1.18.0","cost":0.5,"#,
            r#""model":{"id":"m", "providerID":"p"},"tokens":{"input":10,"cache":{"read":7}},"#,
            r#""summary":{"additions":3},"time":{"created":1700000000000,"updated":1700000001000}},"#,
            r#""messages":[{"info":{"id":"msg_b","sessionID":"ses_1","role":"assistant", "cost": 1.50e0},"#,
            r#""parts":[{"id":"prt_1","messageID":"msg_b","sessionID":"ses_1"},"#,
            r#"{"id":"prt_2","messageID":"msg_b","sessionID":"ses_1","type":"text","text":"\u00e9 é"}]},"#,
            r#"{"info":{"sessionID":"ses_1","role":"user","id":"own"},"parts":[]}]}"#
        )
    );
    assert_eq!(names(folder.path()), ["any name ?#%.bin"]);
}

#[test]
fn a_row_that_is_no_json_costs_that_row_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = opencode_database(&path);
    add_message(&connection, "msg_1", 1, r#"{"role":"user"}"#);
    add_message(&connection, "msg_2", 2, r#"{"role":"#);
    add_part(&connection, "prt_1", "msg_1", "[]");
    add_part(&connection, "prt_2", "msg_1", r#"{"type":"text"}"#);
    add_part(&connection, "prt_3", "msg_2", r#"{"type":"text"}"#);
    add_part(&connection, "prt_4", "msg_gone", r#"{"type":"text"}"#);
    connection.execute("INSERT INTO part VALUES ('prt_0', 'msg_1', 'ses_1', 1, 1, x'00ff')", []).unwrap();
    connection.execute("UPDATE part SET data = CAST(x'7b7dff' AS TEXT) WHERE id = 'prt_1'", []).unwrap();

    let found = find_at(&path).unwrap();
    let opened = only(&found).open().unwrap();
    let warnings = opened.warnings.clone();
    let rows: Vec<_> = warnings.iter().map(|warning| warning.row.clone().unwrap()).collect();
    let rows: Vec<_> = rows.iter().map(|row| (row.table, row.id.as_str())).collect();
    assert_eq!(
        rows,
        [
            ("part", "prt_0"),
            ("part", "prt_1"),
            ("message", "msg_2"),
            ("message", "msg_2"),
            ("message", "msg_gone")
        ]
    );
    assert!(said(&warnings).contains("row prt_0 of table part: left out: the data is Blob, not text"));
    let document: Value = serde_json::from_str(&text(opened)).unwrap();
    assert_eq!(document["messages"].as_array().unwrap().len(), 1);
    assert_eq!(document["messages"][0]["parts"][0]["id"], "prt_2");
}

#[test]
fn a_session_that_is_gone_and_a_foreign_database_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = opencode_database(&path);
    let found = find_at(&path).unwrap();
    connection.execute("DELETE FROM session", []).unwrap();
    let error = only(&found).open().unwrap_err();
    assert!(matches!(&error, SourceError::NoSession { session, .. } if session == "ses_1"), "{error}");
    assert!(said(&find_at(&path).unwrap().warnings).contains("holds no session"));

    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE bookmark (id)").unwrap();
    assert!(matches!(find_at(&other).unwrap_err(), SourceError::UnknownDatabase { .. }));
    let found = find_at(folder.path()).unwrap();
    assert!(found.sources.is_empty());
    assert!(said(&found.warnings).contains("other.db: is not a database of a known agent"), "{found:?}");
}

#[test]
fn the_old_folder_becomes_the_same_document() {
    let folder = tempfile::tempdir().unwrap();
    let storage = folder.path().join("storage");
    write(storage.join("session/prj/ses_1.json"), r#"{"id":"ses_1", "directory":"/src/garden"}"#);
    write(storage.join("session/prj/ses_2.json"), "{ torn");
    write(storage.join("message/ses_1/msg_1.json"), r#"{"id":"msg_1","sessionID":"ses_1","role":"user"}"#);
    write(storage.join("message/ses_1/msg_2.json"), r#"{"id":"msg_2","sess"#);
    write(storage.join("part/msg_1/prt_2.json"), r#"{"id":"prt_2","n":1.0}"#);
    write(storage.join("part/msg_1/prt_1.json"), r#"{"id":"prt_1"}"#);
    write(storage.join("part/msg_2/prt_3.json"), r#"{"id":"prt_3"}"#);

    let found = find_at(folder.path()).unwrap();
    assert_eq!(found.sources.len(), 2, "{found:?}");
    assert_eq!(found.sources[0].project.as_deref(), Some("/src/garden"));
    assert_eq!(found.sources[1].project.as_deref(), Some("prj"));
    let opened = found.sources[0].open().unwrap();
    assert!(said(&opened.warnings).contains("msg_2.json: left out: EOF"), "{:?}", opened.warnings);
    assert_eq!(
        text(opened),
        concat!(
            r#"{"info":{"id":"ses_1", "directory":"/src/garden"},"messages":[{"info":{"id":"msg_1","#,
            r#""sessionID":"ses_1","role":"user"},"parts":[{"messageID":"msg_1","sessionID":"ses_1","id":"prt_1"},"#,
            r#"{"messageID":"msg_1","sessionID":"ses_1","id":"prt_2","n":1.0}]}]}"#
        )
    );
    assert_eq!(json(&found.sources[1])["info"]["id"], "ses_2");
}
