//! Faults of the machine: the store, its schema, its disk, variables, the configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::patient::{doctor, examine, examine_as_it_is};
use crate::stage::{Stage, end};

/// A store as the command makes it.
fn made(stage: &Stage) -> rusqlite::Connection {
    let path = stage.path("store.db");
    let run = end(&mut stage.secateur(&["session", "list", "--store", path.to_str().unwrap()]));
    assert_eq!(run.code, 0, "{}", run.err);
    rusqlite::Connection::open(path).unwrap()
}

#[test]
fn a_machine_on_which_all_is_well_has_no_fault() {
    let stage = Stage::new();
    drop(made(&stage));
    let report = examine(&mut doctor(&stage));
    assert_eq!((report.code, report.faults()), (0, 0), "{}", report.text);
    report.find("store", "ok", "store.db");
    report.find("schema", "ok", "the newest");
    report.find("proxy", "warning", "no proxy listens");
    report.find("upstream", "ok", "Anthropic");
}

#[test]
fn an_unreadable_store_is_found() {
    let stage = Stage::new();
    let path = stage.path("store.db");
    fs::write(&path, "this is no database").unwrap();
    let (found, fix) = examine(&mut doctor(&stage)).find("store", "fault", "is not a database");
    assert!(found.contains("store.db") && fix.contains("move it away"), "{found} {fix}");
    fs::remove_file(&path).unwrap();
    drop(made(&stage));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    if fs::File::open(&path).is_err() {
        let (_, fix) = examine(&mut doctor(&stage)).find("store", "fault", "cannot be used");
        assert!(fix.contains("chmod u+rw"), "{fix}");
    }
    let mut command = doctor(&stage);
    command.env("SECATEUR_STORE", stage.path("work"));
    let (_, fix) = examine(&mut command).find("store", "fault", "not a file");
    assert!(fix.contains("--store"), "{fix}");
    let mut command = doctor(&stage);
    command.env("SECATEUR_STORE", path.join("store.db"));
    examine(&mut command).find("store", "fault", "is not a folder");
    let mut command = doctor(&stage);
    command.env("SECATEUR_STORE", stage.path("none/store.db"));
    let (_, fix) = examine(&mut command).find("store", "fault", "its folder does not exist");
    assert!(fix.contains("create the folder"), "{fix}");
}

#[test]
fn an_old_schema_and_one_that_is_too_new_are_found_and_left_alone() {
    let stage = Stage::new();
    let database = made(&stage);
    let glance = |version: u32| {
        database.pragma_update(None, "user_version", version).unwrap();
        database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let before = fs::read(stage.path("store.db")).unwrap();
        let report = examine(&mut doctor(&stage));
        assert!(fs::read(stage.path("store.db")).unwrap() == before, "{version}");
        report
    };
    let report = glance(1);
    let (_, fix) = report.find("schema", "warning", "old schema 1");
    assert!(fix.contains("`secateur serve` migrates it"), "{fix}");
    let report = glance(99);
    let (_, fix) = report.find("schema", "fault", "schema 99");
    assert!(fix.contains("install the version"), "{fix}");
}

#[test]
fn a_full_disk_is_found() {
    let stage = Stage::new();
    let (_, fix) =
        examine(doctor(&stage).args(["--least-free", "99999999999"])).find("disk", "fault", "full");
    assert!(fix.contains("make room"), "{fix}");
    // The same for real, where the system lets anybody mount a small disk of his own.
    let disk = stage.path("disk");
    fs::create_dir(&disk).unwrap();
    let program = doctor(&stage);
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c"]);
    command.arg(r#"mount -t tmpfs -o size=1M none "$DISK" || exit 77; exec "$@""#);
    command.arg("sh").arg(program.get_program()).args(program.get_args());
    command.env("DISK", &disk).envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("SECATEUR_STORE", disk.join("store.db")).current_dir(stage.path("work"));
    let probe = Command::new("unshare").args(["--map-root-user", "--mount", "true"]).status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("skipped: nobody may mount a disk of his own here");
        return;
    }
    let run = end(&mut command);
    if run.code == 77 {
        eprintln!("skipped: no disk could be mounted: {}", run.err);
        return;
    }
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("the disk is full"), "{}", run.out);
}

#[test]
fn variables_that_name_another_proxy_are_found() {
    let stage = Stage::new();
    let mut command = doctor(&stage);
    command.env("HTTPS_PROXY", "http://me:secret@proxy.example:3128").env("NO_PROXY", "example.com");
    let report = examine(&mut command);
    let (found, fix) = report.find("proxy variables", "fault", "HTTPS_PROXY");
    assert!(found.contains("NO_PROXY does not exempt 127.0.0.1"), "{found}");
    assert!(fix.contains("export NO_PROXY=example.com,127.0.0.1,localhost"), "{fix}");
    assert!(!report.text.contains("secret"), "{}", report.text);
    command.env("NO_PROXY", "example.com,127.0.0.1");
    examine_as_it_is(&mut command).find("proxy variables", "ok", "exempts 127.0.0.1");
}

#[test]
fn a_configuration_that_is_wrong_is_found_and_the_rest_is_looked_at() {
    let stage = Stage::new();
    stage.put(".config/secateur/config.toml", "[serve]\nlisten = 7878\n");
    let report = examine(&mut doctor(&stage));
    let (found, fix) = report.find("configuration", "fault", "serve");
    assert!(found.contains("config.toml") && fix.contains("secateur config --path"), "{found} {fix}");
    report.find("proxy variables", "ok", "");
}

#[test]
fn people_read_what_to_do() {
    let stage = Stage::new();
    fs::write(stage.path("store.db"), "this is no database").unwrap();
    let mut command = stage.secateur(&["doctor", "--anthropic", &stage.upstream.url()]);
    command.env("SECATEUR_STORE", stage.path("store.db"));
    let run = end(&mut command);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("fault    store: "), "{}", run.out);
    assert!(run.out.contains("         fix: move it away"), "{}", run.out);
}
