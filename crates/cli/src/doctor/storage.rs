//! Whether the store can be read and written, and whether its schema is one that this version knows. It is only looked
//! at: opening it would bring it up to date.

use std::fs;
use std::path::Path;

use secateur_store::{FileStatus, file_status};

use super::finding::Finding;
use super::schema;
use crate::keeper::Folder;

const CHECK: &str = "store";

/// Looks at the file that sessions are kept in.
pub(crate) fn check(file: Option<&Path>, folder: Folder) -> Vec<Finding> {
    let Some(file) = file else {
        return vec![Finding::warning(
            CHECK,
            "sessions are kept in memory and end with the proxy",
            "nothing, if that is meant; otherwise name a file with --store or `store` in the configuration",
        )];
    };
    let shown = file.display();
    if fs::symlink_metadata(file).is_err() {
        return vec![match hindrance(file, folder) {
            None => Finding::ok(CHECK, format!("{shown} will be made")),
            Some(why) => Finding::fault(
                CHECK,
                format!("{shown} is not there and cannot be made: {why}"),
                "make the folder, or name another file with --store or `store` in the configuration",
            ),
        }];
    }
    if let Some(why) = blocked(file) {
        let mend = format!(
            "give yourself the right to read and write it (chmod u+rw {shown}), or name another file with --store"
        );
        return vec![Finding::fault(CHECK, format!("{shown} cannot be used: {why}"), mend)];
    }
    match file_status(file) {
        Err(error) => {
            let mend =
                "name a file that can be read and written with --store or `store` in the configuration";
            vec![Finding::fault(CHECK, format!("{shown} cannot be read: {error}"), mend)]
        }
        Ok(FileStatus::NoDatabase) => vec![Finding::fault(
            CHECK,
            format!("{shown} is no database"),
            "move it away, or bring it back from a copy; a new one is made when there is none",
        )],
        Ok(FileStatus::Foreign) => vec![Finding::fault(
            CHECK,
            format!("{shown} is a database of another program"),
            "name another file with --store or `store` in the configuration",
        )],
        Ok(FileStatus::Store { schema, known }) => {
            vec![Finding::ok(CHECK, format!("{shown} can be read and written")), schema::check(schema, known)]
        }
        Ok(_) => vec![Finding::ok(CHECK, format!("{shown} is empty and will be filled"))],
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
fn hindrance(file: &Path, folder: Folder) -> Option<String> {
    let above = above(file);
    if !above.is_dir() {
        return Some(format!("{} is not a folder", above.display()));
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    if folder == Folder::Needed && parent.is_some_and(|parent| parent != above) {
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
