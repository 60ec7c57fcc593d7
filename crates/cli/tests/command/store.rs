//! Checking a store, and recovering what can be read of a damaged one.

use std::fs;

use super::session::Shelf;

/// A shelf with the session of the demo, in which results were cut.
fn shelf() -> Shelf {
    let shelf = Shelf::new();
    shelf.demo();
    shelf.run(&["context", "s", "--window", "28000"]);
    shelf
}

#[test]
fn a_whole_store_is_whole() {
    let shelf = shelf();
    let run = shelf.alone(&["store", "verify"], "");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.starts_with("checked 1 session, ") && run.out.ends_with(": all whole\n"), "{}", run.out);
    let report = shelf.alone(&["store", "verify", "--json"], "").json();
    assert_eq!((&report["sessions"], &report["damaged"]), (&1.into(), &0.into()), "{report}");
    assert!(report["messages"].as_u64().unwrap() > 10, "{report}");
    let missing = shelf.alone(&["store", "verify", "--store", "no/such.db"], "");
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("there is no store no/such.db"), "{}", missing.err);
}

#[test]
fn a_damaged_store_is_found_and_recovered() {
    let shelf = shelf();
    let file = shelf.desk.path("sessions.db");
    // All of it into the file: pages that are newer in the log beside it would hide the damage.
    let database = rusqlite::Connection::open(&file).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(database);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 4096 * 2 / 3 * 4096;
    bytes[middle..middle + 3 * 4096].fill(0);
    fs::write(&file, &bytes).unwrap();
    let run = shelf.alone(&["store", "verify"], "");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("`secateur store recover`") && run.out.ends_with(" damaged\n"), "{}", run.out);
    let doctor = shelf.alone(&["doctor", "--json"], "");
    assert_eq!(doctor.code, 1);
    let findings = doctor.json()["findings"].as_array().unwrap().clone();
    let content = findings.iter().find(|finding| finding["check"] == "content").unwrap();
    assert_eq!(content["level"], "fault", "{content}");
    let new = shelf.desk.path("new.db").to_str().unwrap().to_owned();
    let recover = || shelf.alone(&["store", "recover", file.to_str().unwrap(), "--to", &new], "");
    let run = recover();
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("recovered 1 session with "), "{}", run.out);
    assert!(fs::read(&file).unwrap() == bytes, "the damaged file was changed");
    let run = shelf.alone(&["store", "verify", "--store", &new], "");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let again = recover();
    assert_eq!(again.code, 2);
    assert!(again.err.contains("new.db exists already"), "{}", again.err);
    let context = shelf.alone(&["session", "context", "s", "--window", "400000", "--store", &new], "");
    assert_eq!(context.code, 0, "{}", context.err);
}
