//! Databases that are being written to, are read-only, or are damaged.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use secateur_sources::{SourceError, find_at};

use super::*;

#[test]
fn what_is_read_while_the_agent_writes_is_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let mut connection = opencode_database(&path);
    let source = only(&find_at(&path).unwrap()).clone();
    let done = AtomicBool::new(false);
    let lengths = std::thread::scope(|scope| {
        scope.spawn(|| {
            connection.pragma_update(None, "wal_autocheckpoint", 8).unwrap();
            for turn in 0..400 {
                // A message and its two parts belong together; a reader must never see only some of them.
                let transaction = connection.transaction().unwrap();
                let message = format!("msg_{turn:08}");
                add_message(&transaction, &message, turn, r#"{"role":"user"}"#);
                for part in 0..2 {
                    let data = format!(r#"{{"text":"{}"}}"#, "x".repeat(300));
                    add_part(&transaction, &format!("prt_{turn:08}_{part}"), &message, &data);
                }
                transaction.commit().unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
            done.store(true, Ordering::Relaxed);
        });
        let mut lengths = Vec::new();
        while !done.load(Ordering::Relaxed) {
            let opened = source.open().unwrap();
            assert_eq!(said(&opened.warnings), "");
            let document: Value = serde_json::from_str(&text(opened)).unwrap();
            let messages = document["messages"].as_array().unwrap();
            for (turn, message) in messages.iter().enumerate() {
                assert_eq!(message["info"]["id"], format!("msg_{turn:08}"));
                assert_eq!(message["parts"].as_array().unwrap().len(), 2);
            }
            lengths.push(messages.len());
        }
        lengths
    });
    assert!(lengths.is_sorted() && lengths.first() < lengths.last(), "{lengths:?}");
}

#[test]
fn a_database_at_rest_gets_no_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    drop(opencode_database(&path));
    assert_eq!(names(folder.path()), ["opencode.db"]);
    let before = fs::read(&path).unwrap();
    assert_eq!(json(only(&find_at(&path).unwrap()))["info"]["id"], "ses_1");
    assert_eq!(names(folder.path()), ["opencode.db"]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_a_crash_left_in_the_log_is_read_and_stays_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = opencode_database(&path);
    add_message(&connection, "msg_1", 1, r#"{"role":"user"}"#);
    // A copy of the files under an open connection is what a crash leaves.
    let crashed = folder.path().join("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["opencode.db", "opencode.db-wal"] {
        fs::copy(folder.path().join(name), crashed.join(name)).unwrap();
    }
    let files = || ["opencode.db", "opencode.db-wal"].map(|name| fs::read(crashed.join(name)).unwrap());
    let before = files();
    let source = only(&find_at(&crashed.join("opencode.db")).unwrap()).clone();
    assert_eq!(json(&source)["messages"][0]["info"]["id"], "msg_1");
    assert!(files() == before);
}

#[test]
fn a_database_that_keeps_a_rollback_journal_is_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = opencode_database(&path);
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    assert_eq!(json(only(&find_at(&path).unwrap()))["info"]["id"], "ses_1");
    assert_eq!(names(folder.path()), ["opencode.db"]);
}

#[test]
fn truncated_and_overwritten_databases_are_errors_that_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = opencode_database(&path);
    for turn in 0..200 {
        add_message(&connection, &format!("msg_{turn:03}"), turn, r#"{"role":"user"}"#);
    }
    drop(connection);
    let whole = fs::read(&path).unwrap();
    for length in [16, 50, 100, 1000, 4096, whole.len() / 2] {
        fs::write(&path, &whole[..length]).unwrap();
        match find_at(&path) {
            Err(error) => {
                assert!(matches!(error, SourceError::Database { .. }), "{length}: {error}");
                assert!(error.to_string().contains("opencode.db"), "{error}");
            }
            // If the list of sessions is intact, opening one reports the damage.
            Ok(found) => assert!(found.sources.iter().all(|source| match source.open() {
                Ok(opened) => !opened.warnings.is_empty(),
                Err(error) => matches!(error, SourceError::Database { .. }),
            })),
        }
    }
    let mut garbled = whole;
    garbled[100..4096].fill(0xa5);
    fs::write(&path, &garbled).unwrap();
    let error = find_at(&path).unwrap_err();
    assert!(error.to_string().contains("malformed"), "{error}");
    let found = find_at(folder.path()).unwrap();
    assert!(said(&found.warnings).contains("opencode.db: the database cannot be read: "), "{found:?}");
}

/// Permissions do not bind root, so root runs the test again as the user `nobody`.
#[cfg(unix)]
#[test]
fn a_database_where_nothing_can_be_written_is_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if fs::metadata(folder.path()).unwrap().uid() == 0 {
        mode(folder.path(), 0o755);
        let test = folder.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
        let status = std::process::Command::new(&test)
            .args(["--exact", "busy::a_database_where_nothing_can_be_written_is_read"])
            .env("TMPDIR", "/tmp")
            .current_dir("/")
            .gid(65534)
            .uid(65534)
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let path = folder.path().join("opencode.db");
    let connection = opencode_database(&path);
    add_message(&connection, "msg_1", 1, r#"{"role":"user"}"#);
    let crashed = folder.path().join("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["opencode.db", "opencode.db-wal"] {
        fs::copy(folder.path().join(name), crashed.join(name)).unwrap();
    }
    drop(connection);
    mode(&path, 0o444);
    mode(folder.path(), 0o555);
    mode(&crashed, 0o555);
    let read = find_at(&path).and_then(|found| only(&found).open());
    let lost = find_at(&crashed.join("opencode.db"));
    mode(folder.path(), 0o755);
    mode(&crashed, 0o755);
    let document: Value = serde_json::from_str(&text(read.unwrap())).unwrap();
    assert_eq!(document["messages"][0]["info"]["id"], "msg_1");
    assert_eq!(names(folder.path()), ["crashed", "opencode.db"]);
    // The log cannot be read there. Reading without it would silently lose the newest messages.
    assert!(matches!(lost, Err(SourceError::Log { .. })), "{lost:?}");

    mode(&path, 0o000);
    let error = find_at(&path).unwrap_err().to_string();
    mode(&path, 0o644);
    assert!(error.contains("opencode.db") && error.contains("ermission denied"), "{error}");
    mode(&crashed, 0o000);
    let found = find_at(folder.path()).unwrap();
    mode(&crashed, 0o755);
    assert_eq!(found.sources.len(), 1);
    assert!(said(&found.warnings).contains("crashed: cannot be read: Permission denied"), "{found:?}");
}

#[test]
fn a_short_exclusive_lock_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = opencode_database(&path);
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let reader = std::thread::spawn(move || find_at(&path).map(|found| found.sources.len()));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!reader.is_finished());
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(reader.join().unwrap().unwrap(), 1);
}
