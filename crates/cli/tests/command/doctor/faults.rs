//! Faults of the machine: the store, its schema, its disk, variables, the configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::report::{doctor, examine, examine_unchanged};
use crate::machine::{Machine, run_to_end};

/// A store as the command makes it.
fn made(machine: &Machine) -> rusqlite::Connection {
    let path = machine.path("store.db");
    let run = run_to_end(&mut machine.secateur(&["session", "list", "--store", path.to_str().unwrap()]));
    assert_eq!(run.code, 0, "{}", run.err);
    rusqlite::Connection::open(path).unwrap()
}

#[test]
fn a_machine_on_which_all_is_well_has_no_fault() {
    let machine = Machine::new();
    drop(made(&machine));
    let report = examine(&mut doctor(&machine));
    assert_eq!((report.code, report.faults()), (0, 0), "{}", report.text);
    report.find("store", "ok", "store.db");
    report.find("schema", "ok", "the newest");
    report.find("proxy", "warning", "no proxy listens");
    report.find("upstream", "ok", "Anthropic");
}

#[test]
fn an_unreadable_store_is_found() {
    let machine = Machine::new();
    let path = machine.path("store.db");
    fs::write(&path, "this is no database").unwrap();
    let (found, fix) = examine(&mut doctor(&machine)).find("store", "fault", "is not a database");
    assert!(found.contains("store.db") && fix.contains("move it away"), "{found} {fix}");
    fs::remove_file(&path).unwrap();
    drop(made(&machine));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    if fs::File::open(&path).is_err() {
        let (_, fix) = examine(&mut doctor(&machine)).find("store", "fault", "cannot be used");
        assert!(fix.contains("chmod u+rw"), "{fix}");
    }
    let mut command = doctor(&machine);
    command.env("SECATEUR_STORE", machine.path("work"));
    let (_, fix) = examine(&mut command).find("store", "fault", "not a file");
    assert!(fix.contains("--store"), "{fix}");
    let mut command = doctor(&machine);
    command.env("SECATEUR_STORE", path.join("store.db"));
    examine(&mut command).find("store", "fault", "is not a folder");
    let mut command = doctor(&machine);
    command.env("SECATEUR_STORE", machine.path("none/store.db"));
    let (_, fix) = examine(&mut command).find("store", "fault", "its folder does not exist");
    assert!(fix.contains("create the folder"), "{fix}");
}

#[test]
fn an_old_schema_and_one_that_is_too_new_are_found_and_left_alone() {
    let machine = Machine::new();
    let database = made(&machine);
    let glance = |version: u32| {
        database.pragma_update(None, "user_version", version).unwrap();
        database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let before = fs::read(machine.path("store.db")).unwrap();
        let report = examine(&mut doctor(&machine));
        assert!(fs::read(machine.path("store.db")).unwrap() == before, "{version}");
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
    let machine = Machine::new();
    let (_, fix) =
        examine(doctor(&machine).args(["--least-free", "99999999999"])).find("disk", "fault", "full");
    assert!(fix.contains("make room"), "{fix}");
    // The same for real, where the system lets anybody mount a small disk of his own.
    let disk = machine.path("disk");
    fs::create_dir(&disk).unwrap();
    let program = doctor(&machine);
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c"]);
    command.arg(r#"mount -t tmpfs -o size=1M none "$DISK" || exit 77; exec "$@""#);
    command.arg("sh").arg(program.get_program()).args(program.get_args());
    command.env("DISK", &disk).envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("SECATEUR_STORE", disk.join("store.db")).current_dir(machine.path("work"));
    let probe = Command::new("unshare").args(["--map-root-user", "--mount", "true"]).status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this user may not mount a disk");
        return;
    }
    let run = run_to_end(&mut command);
    if run.code == 77 {
        eprintln!("skipped: no disk could be mounted: {}", run.err);
        return;
    }
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("the disk is full"), "{}", run.out);
}

#[test]
fn variables_that_name_another_proxy_are_found() {
    let machine = Machine::new();
    let mut command = doctor(&machine);
    command.env("HTTPS_PROXY", "http://me:secret@proxy.example:3128").env("NO_PROXY", "example.com");
    let report = examine(&mut command);
    let (found, fix) = report.find("proxy variables", "fault", "HTTPS_PROXY");
    assert!(found.contains("NO_PROXY does not exempt 127.0.0.1"), "{found}");
    assert!(fix.contains("export NO_PROXY=example.com,127.0.0.1,localhost"), "{fix}");
    assert!(!report.text.contains("secret"), "{}", report.text);
    command.env("NO_PROXY", "example.com,127.0.0.1");
    examine_unchanged(&mut command).find("proxy variables", "ok", "exempts 127.0.0.1");
}

#[test]
fn a_configuration_that_is_wrong_is_found_and_the_rest_is_looked_at() {
    let machine = Machine::new();
    machine.put(".config/secateur/config.toml", "[serve]\nlisten = 7878\n");
    let report = examine(&mut doctor(&machine));
    let (found, fix) = report.find("configuration", "fault", "serve");
    assert!(found.contains("config.toml") && fix.contains("secateur config --path"), "{found} {fix}");
    report.find("proxy variables", "ok", "");
}

#[test]
fn people_read_what_to_do() {
    let machine = Machine::new();
    fs::write(machine.path("store.db"), "this is no database").unwrap();
    let mut command = machine.secateur(&["doctor", "--anthropic", &machine.upstream.url()]);
    command.env("SECATEUR_STORE", machine.path("store.db"));
    let run = run_to_end(&mut command);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("fault    store: "), "{}", run.out);
    assert!(run.out.contains("         fix: restore it from a backup"), "{}", run.out);
    assert!(run.out.contains("`secateur store recover`"), "{}", run.out);
}

#[test]
fn a_store_that_grows_for_ever_is_found() {
    let machine = Machine::new();
    let database = made(&machine);
    database
        .execute_batch("CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(3000000))")
        .unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let report = examine(&mut doctor(&machine));
    assert!(!report.text.contains("retention"), "{}", report.text);
    let (found, fix) =
        examine(doctor(&machine).args(["--largest-store", "2"])).find("retention", "warning", "grows");
    assert!(found.contains("3 MB") && fix.contains("retention.age"), "{found} {fix}");
    let mut limited = doctor(&machine);
    limited.args(["--largest-store", "2", "--set", "retention.age=30d"]);
    let report = examine(&mut limited);
    assert!(!report.text.contains("and grows"), "{}", report.text);
}
