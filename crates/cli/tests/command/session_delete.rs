//! Deleting sessions: what is deleted is said before and after, and other sessions stay.

use super::masked;
use super::session::Shelf;

#[test]
fn named_sessions_are_deleted_and_others_stay() {
    let shelf = Shelf::new();
    shelf.demo();
    shelf.run(&["new", "--id", "t"]);
    shelf.run(&["compact", "s"]);
    let would = shelf.run(&["delete", "s", "--dry-run", "--json"]).json();
    assert_eq!(would["sessions"], serde_json::json!(["s"]));
    assert_eq!(shelf.run(&["context", "s", "--window", "200000"]).code, 0, "a dry run deletes nothing");
    let did = shelf.run(&["delete", "s", "--json"]).json();
    assert_eq!(did["sessions"], would["sessions"]);
    let size = |when: &str| did["database"][when].as_u64().unwrap();
    assert!(size("after") < size("before"), "{did}");
    assert!(shelf.refusal(&["context", "s", "--window", "200000"], "").contains("no session \"s\""));
    let list = shelf.run(&["list"]).out;
    assert!(list.contains('t'), "{list}");
    // The name is free.
    shelf.run(&["new", "--id", "s"]);
}

#[test]
fn sessions_that_are_not_used_any_more_are_deleted() {
    let shelf = Shelf::new();
    shelf.demo();
    insta::assert_snapshot!(masked(&shelf.run(&["delete", "--before", "2020-01-31"]).out), @r"
    Nothing to delete: no session was last used before that.
    Database size: N → N bytes.
    ");
    insta::assert_snapshot!(masked(&shelf.run(&["delete", "--before", "0s", "--dry-run"]).out), @"Would delete 1 session. Nothing was deleted.");
    insta::assert_snapshot!(masked(&shelf.run(&["delete", "--before", "0s", "--yes"]).out), @r"
    Deleted 1 session.
    Database size: N → N bytes.
    ");
}

#[test]
fn which_sessions_must_be_said() {
    let shelf = Shelf::new();
    for arguments in [&["delete"][..], &["delete", "s", "--before", "30d"]] {
        shelf.refusal(arguments, "");
    }
    let reported = shelf.refusal(&["delete", "--before", "soon"], "");
    assert!(reported.contains("or an age such as 30d"), "{reported}");
    assert!(shelf.refusal(&["delete", "nobody"], "").contains("no session \"nobody\""));
}
