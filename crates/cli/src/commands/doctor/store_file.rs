//! Whether the store can be read and written, and whether its schema is one that this version knows. It is only looked
//! at: opening it would bring it up to date.

use std::fs;
use std::path::Path;

use secateur_store::{FileStatus, file_status};

use super::finding::DoctorFinding;
use super::schema;
use crate::store_args::StoreFolder;

const CHECK: &str = "store";

/// Looks at the file that sessions are kept in.
pub(crate) fn check(file: Option<&Path>, folder: StoreFolder) -> Vec<DoctorFinding> {
    let Some(file) = file else {
        return vec![DoctorFinding::warning(
            CHECK,
            "sessions are kept in memory and end with the proxy",
            "nothing, if that is meant; otherwise name a file with --store or `store` in the configuration",
        )];
    };
    let shown = file.display();
    if fs::symlink_metadata(file).is_err() {
        return vec![match hindrance(file, folder) {
            None => DoctorFinding::ok(CHECK, format!("{shown} will be made")),
            Some(why) => DoctorFinding::fault(
                CHECK,
                format!("{shown} is not there and cannot be made: {why}"),
                "make the folder, or name another file with --store or `store` in the configuration",
            ),
        }];
    }
    if let Some(why) = blocked(file) {
        let fix = format!(
            "give yourself the right to read and write it (chmod u+rw {shown}), or name another file with --store"
        );
        return vec![DoctorFinding::fault(CHECK, format!("{shown} cannot be used: {why}"), fix)];
    }
    match file_status(file) {
        Err(error) => {
            let fix = "name a file that can be read and written with --store or `store` in the configuration";
            vec![DoctorFinding::fault(CHECK, format!("{shown} cannot be read: {error}"), fix)]
        }
        Ok(FileStatus::NoDatabase) => vec![DoctorFinding::fault(
            CHECK,
            format!("{shown} is no database"),
            "move it away, or bring it back from a copy; a new one is made when there is none",
        )],
        Ok(FileStatus::Foreign) => vec![DoctorFinding::fault(
            CHECK,
            format!("{shown} is a database of another program"),
            "name another file with --store or `store` in the configuration",
        )],
        Ok(FileStatus::Store { schema, known }) => {
            vec![
                DoctorFinding::ok(CHECK, format!("{shown} can be read and written")),
                schema::check(schema, known),
            ]
        }
        Ok(_) => vec![DoctorFinding::ok(CHECK, format!("{shown} is empty and will be filled"))],
    }
}

/// The nearest folder above a file that is there.
pub(crate) fn above(file: &Path) -> &Path {
    let here = Path::new(".");
    let real = |folder: &&Path| folder.exists() || folder.as_os_str().is_empty();
    let folder = file.ancestors().skip(1).find(real).unwrap_or(here);
    if folder.as_os_str().is_empty() { here } else { folder }
}

/// Why a file cannot be made.
fn hindrance(file: &Path, folder: StoreFolder) -> Option<String> {
    let above = above(file);
    if !above.is_dir() {
        return Some(format!("{} is not a folder", above.display()));
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    if folder == StoreFolder::Required && parent.is_some_and(|parent| parent != above) {
        return Some(String::from("its folder is not there"));
    }
    blocked(above)
}

/// Why something cannot be read and written.
#[cfg(unix)]
fn blocked(path: &Path) -> Option<String> {
    use rustix::fs::{Access, access};

    access(path, Access::READ_OK | Access::WRITE_OK).err().map(|error| error.to_string())
}

/// Why something cannot be read and written.
#[cfg(not(unix))]
fn blocked(path: &Path) -> Option<String> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.permissions().readonly() => Some(String::from("it can only be read")),
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}
