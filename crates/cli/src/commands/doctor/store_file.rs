//! Checks the store's file: whether it can be read and written, its schema, and the room on its disk. It is not opened,
//! because that would migrate it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use secateur_store::{FileStatus, file_status};

use super::finding::DoctorFinding;
use super::growth::Growth;
use crate::humanize::{counted, grouped};
use crate::store_args::StoreFolder;

pub(crate) const CHECK: &str = "store";
pub(crate) const SCHEMA: &str = "schema";
const DISK: &str = "disk";
const CONTENT: &str = "content";

/// How long the content of a store is checked.
const CONTENT_TIME: Duration = Duration::from_secs(5);

/// Checks the file of the store.
pub(crate) fn check(file: Option<&Path>, folder: StoreFolder, growth: Growth) -> Vec<DoctorFinding> {
    let Some(file) = file else {
        return vec![DoctorFinding::warning(
            CHECK,
            "sessions are kept in memory and are lost when the proxy stops",
            "ignore if this is intended; otherwise name a file with --store or `store` in the configuration",
        )];
    };
    let shown = file.display();
    let fault = |found: String, fix: &str| vec![DoctorFinding::fault(CHECK, found, fix)];
    if fs::symlink_metadata(file).is_err() {
        return match cannot_create(file, folder) {
            None => vec![DoctorFinding::ok(CHECK, format!("{shown} will be created"))],
            Some(why) => fault(
                format!("{shown} does not exist and cannot be created: {why}"),
                "create the folder, or name another file with --store or `store` in the configuration",
            ),
        };
    }
    if let Some(why) = cannot_access(file) {
        let fix = format!(
            "allow yourself to read and write it (chmod u+rw {shown}), or name another file with --store"
        );
        return fault(format!("{shown} cannot be used: {why}"), &fix);
    }
    match file_status(file) {
        Err(error) => fault(
            format!("{shown} cannot be read: {error}"),
            "name a file that can be read and written with --store or `store` in the configuration",
        ),
        Ok(FileStatus::NoDatabase) => fault(
            format!("{shown} is not a database"),
            "restore it from a backup, or bring out what can be read with `secateur store recover`; if it is another file, \
             move it away: a missing file is created",
        ),
        Ok(FileStatus::Foreign) => fault(
            format!("{shown} is another program's database"),
            "name another file with --store or `store` in the configuration",
        ),
        Ok(FileStatus::Store { schema, known }) => {
            let usable = DoctorFinding::ok(CHECK, format!("{shown} can be read and written"));
            let bytes = fs::metadata(file).map_or(0, |metadata| metadata.len());
            [usable, check_schema(schema, known)].into_iter().chain(growth.check(bytes)).collect()
        }
        Ok(_) => vec![DoctorFinding::ok(CHECK, format!("{shown} is empty; its tables will be created"))],
    }
}

/// The nearest existing folder above a file.
fn above(file: &Path) -> &Path {
    let here = Path::new(".");
    let exists = |folder: &&Path| folder.exists() || folder.as_os_str().is_empty();
    let folder = file.ancestors().skip(1).find(exists).unwrap_or(here);
    if folder.as_os_str().is_empty() { here } else { folder }
}

/// Why a file cannot be created.
fn cannot_create(file: &Path, folder: StoreFolder) -> Option<String> {
    let above = above(file);
    if !above.is_dir() {
        return Some(format!("{} is not a folder", above.display()));
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    if folder == StoreFolder::Required && parent.is_some_and(|parent| parent != above) {
        return Some(String::from("its folder does not exist"));
    }
    cannot_access(above)
}

/// Why a path cannot be read and written.
#[cfg(unix)]
fn cannot_access(path: &Path) -> Option<String> {
    use rustix::fs::{Access, access};

    access(path, Access::READ_OK | Access::WRITE_OK).err().map(|error| error.to_string())
}

/// Why a path cannot be read and written.
#[cfg(not(unix))]
fn cannot_access(path: &Path) -> Option<String> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.permissions().readonly() => Some(String::from("it is read-only")),
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Compares the schema of a store with the newest one that this version knows.
pub(crate) fn check_schema(schema: u32, known: u32) -> DoctorFinding {
    if schema > known {
        DoctorFinding::fault(
            SCHEMA,
            format!("the store has schema {schema}, and this version knows schemas up to {known}"),
            "install the version of secateur that wrote it, or a newer one; or name another store with --store",
        )
    } else if schema < known {
        DoctorFinding::warning(
            SCHEMA,
            format!("the store has the old schema {schema}; this version writes schema {known}"),
            "ignore: the next `secateur serve` migrates it. Older versions cannot open it then, so make a backup first \
             if you may need one",
        )
    } else {
        DoctorFinding::ok(SCHEMA, format!("the store has schema {schema}, the newest"))
    }
}

/// Checks the rows and digests of a store, as many as can be checked in a few seconds.
pub(crate) async fn check_content(url: &str) -> DoctorFinding {
    let fix = "run `secateur store verify`, which lists everything; restore a backup, or bring out what can be read with \
               `secateur store recover`";
    let report = match secateur_store::check(url, Some(CONTENT_TIME)).await {
        Ok(report) => report,
        Err(error) => {
            return DoctorFinding::fault(CONTENT, format!("the store cannot be checked: {error}"), fix);
        }
    };
    if let Some(first) = report.damages.first() {
        let session = first.session.as_ref().map(|id| format!(" in session {id}")).unwrap_or_default();
        let found =
            format!("damage{session}: {}; {} in all", first.what, counted(report.damage_count, "damage"));
        return DoctorFinding::fault(CONTENT, found, fix);
    }
    let checked = format!("{} and {} bodies are whole", counted(report.messages, "message"), report.bodies);
    let seconds = CONTENT_TIME.as_secs();
    let rest = format!(
        "; the time of {seconds} s was over before all was checked: `secateur store verify` checks all"
    );
    DoctorFinding::ok(CONTENT, checked + if report.is_complete { "" } else { &rest })
}

/// Checks that this many megabytes are free on the store's disk. With a full disk the proxy passes all requests through,
/// so agents work, but nothing is cut.
pub(crate) fn check_disk(file: Option<&Path>, least: u64) -> Vec<DoctorFinding> {
    let Some(folder) = file.map(above) else { return Vec::new() };
    let shown = folder.display();
    let Some(free) = free_bytes(folder) else { return Vec::new() };
    let megabytes = grouped(free >> 20);
    vec![if free >> 20 < least {
        DoctorFinding::fault(
            DISK,
            format!("the disk is full: {megabytes} MB free at {shown}, at least {} needed", grouped(least)),
            "make room, delete old sessions with `secateur session delete --before 90d`, or choose another place with --store",
        )
    } else {
        DoctorFinding::ok(DISK, format!("{megabytes} MB free at {shown}"))
    }]
}

/// The bytes that the user may still write.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Not known on this system.
#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}
