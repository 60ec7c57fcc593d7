//! Folders of recorded files, named by the environment.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of the folder that a variable names, with all folders in it; nothing, said aloud, if it names none.
pub(crate) fn under(variable: &str) -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os(variable) else {
        eprintln!("{variable} names no folder, so there is nothing to check");
        return Vec::new();
    };
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    files.sort();
    assert!(!files.is_empty(), "{variable} names a folder without files");
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
