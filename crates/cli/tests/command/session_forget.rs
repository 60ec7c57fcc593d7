//! Forgetting: what is deleted is said before and after, and what is shown stays.

use super::masked;
use super::session::Shelf;

#[test]
fn what_would_be_forgotten_is_what_is_forgotten() {
    let shelf = Shelf::new();
    shelf.demo();
    shelf.run(&["context", "s", "--window", "200000"]);
    shelf.run(&["compact", "s"]);
    let shown = shelf.run(&["context", "s", "--window", "200000"]).out;
    let would = shelf.run(&["forget", "s", "--before", "0s", "--dry-run", "--json"]).json();
    assert!(would["messages"].as_u64() > Some(50), "{would}");
    assert_eq!(would["database"], serde_json::Value::Null);
    assert_eq!(shelf.run(&["recall", "s", "1"]).code, 0, "a dry run deletes nothing");

    let did = shelf.run(&["forget", "--all", "--before", "0s", "--json"]).json();
    for count in ["sessions", "messages", "bytes"] {
        assert_eq!(did[count], would[count], "{count}");
    }
    let size = |when: &str| did["database"][when].as_u64().unwrap();
    assert!(size("after") < size("before"), "{did}");
    assert!(shelf.refusal(&["recall", "s", "1"], "").contains("was forgotten"));
    assert_eq!(shelf.run(&["context", "s", "--window", "200000"]).out, shown, "what is shown stays");
}

#[test]
fn forgetting_says_what_it_did() {
    let shelf = Shelf::new();
    shelf.demo();
    insta::assert_snapshot!(masked(&shelf.run(&["forget", "s", "--before", "2020-01-31"]).out), @r"
    Nothing to delete: no original from before N N was cut or compacted.
    Database size: N → N bytes.
    ");
    shelf.run(&["compact", "s"]);
    insta::assert_snapshot!(masked(&shelf.run(&["forget", "s", "--before", "0s", "--dry-run"]).out), @"Would delete the originals of N messages in 1 session, N bytes. Nothing was deleted.");
    insta::assert_snapshot!(masked(&shelf.run(&["forget", "s", "--before", "0s"]).out), @r"
    Deleted the originals of N messages in 1 session, N bytes.
    Database size: N → N bytes.
    ");
    insta::assert_snapshot!(masked(&shelf.run(&["forget", "s", "--before", "0s"]).out), @r"
    Nothing to delete: no original from before N N was cut or compacted.
    Database size: N → N bytes.
    ");
}

#[test]
fn when_and_where_must_be_said() {
    let shelf = Shelf::new();
    for arguments in
        [&["forget", "s"][..], &["forget", "--before", "30d"], &["forget", "s", "--all", "--before", "30d"]]
    {
        shelf.refusal(arguments, "");
    }
    let reported = shelf.refusal(&["forget", "s", "--before", "soon"], "");
    assert!(reported.contains("or an age such as 30d"), "{reported}");
    assert!(shelf.refusal(&["forget", "nobody", "--before", "30d"], "").contains("no session \"nobody\""));
}
