//! Finding the sessions at a path that the user names: a file, a database, or a folder.
//!
//! A named file is taken as a session whatever its name is. In a folder the names decide, because it contains other
//! files too; the formats decide what the bytes are. Links to files are followed; links to folders are not, because
//! they could lead anywhere, even back.

use std::fs;
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use crate::locations::list_once;
use crate::source::{FoundSources, Source};
use crate::{Agent, SourceError, SourceWarning, database, opencode, openhands, storage};

/// Deeper than any agent nests its folders, and a limit for endless ones.
const DEEPEST: usize = 32;
const DATABASES: [&str; 3] = ["db", "sqlite", "sqlite3"];
const SESSIONS: [&str; 3] = ["json", "jsonl", "traj"];
const AIDER: &str = ".aider.chat.history.md";

/// Finds the sessions at `path`: a file, all sessions of a database, or all sessions below a folder.
///
/// # Errors
///
/// If `path` itself cannot be used: it does not exist, may not be read, is not a regular file or folder, or is a
/// database of an unknown program. Anything unreadable below a folder yields a warning.
pub fn find_at(path: &Path) -> Result<FoundSources, SourceError> {
    let mut found = FoundSources::default();
    if fs::metadata(path).map_err(SourceError::io(path))?.is_dir() {
        fs::read_dir(path).map_err(SourceError::io(path))?;
        walk(path, &mut found);
        list_once(&mut found.sources);
    } else if database::is_database(path)? {
        found.sources = storage::list_database(path)?;
        if found.sources.is_empty() {
            found.warnings.push(SourceWarning::new(path, "the database holds no session"));
        }
    } else {
        found.sources.push(file(path));
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut FoundSources) {
    let mut entries = WalkDir::new(folder).max_depth(DEEPEST).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_path_buf();
                let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                found.warnings.push(SourceWarning::new(path, format!("cannot be read: {reason}")));
                continue;
            }
        };
        if entry.file_type().is_dir() {
            if enter(&entry, found) == FolderAction::Skip {
                entries.skip_current_dir();
            }
        } else {
            take(&entry, found);
        }
    }
}

#[derive(PartialEq, Eq)]
enum FolderAction {
    Enter,
    Skip,
}

/// Takes a folder that is a session, or contains sessions, as a whole.
fn enter(entry: &DirEntry, found: &mut FoundSources) -> FolderAction {
    let path = entry.path();
    if opencode::folder::is_storage(path) {
        found.sources.extend(opencode::folder::list(path, &mut found.warnings));
        return FolderAction::Skip;
    }
    if openhands::is_conversation(path) {
        found.sources.extend(openhands::conversation(path));
        return FolderAction::Skip;
    }
    if entry.depth() == DEEPEST {
        found.warnings.push(SourceWarning::new(path, format!("not entered: {DEEPEST} folders deep")));
    }
    FolderAction::Enter
}

/// Takes a file that may be a session, judged by its name.
fn take(entry: &DirEntry, found: &mut FoundSources) {
    let path = entry.path();
    let Some(name) = entry.file_name().to_str() else { return };
    if entry.path_is_symlink() && path.is_dir() {
        let reason = "a link to a folder, not followed; name the folder itself to have it read";
        found.warnings.push(SourceWarning::new(path, reason));
        return;
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if DATABASES.contains(&ending) {
        match database::is_database(path)
            .and_then(|is| if is { storage::list_database(path) } else { Ok(Vec::new()) })
        {
            Ok(sources) => found.sources.extend(sources),
            Err(error) => found.warnings.push(SourceWarning::new(path, error.reason())),
        }
    } else if SESSIONS.contains(&ending) || name == AIDER {
        match fs::metadata(path)
            .map_err(SourceError::io(path))
            .and_then(|is| crate::regular_file::check(path, &is))
        {
            Ok(()) => found.sources.push(file(path)),
            Err(error) => found.warnings.push(SourceWarning::new(path, error.reason())),
        }
    }
}

fn file(path: &Path) -> Source {
    let mut source = Source::file(path.to_path_buf());
    if path.file_name().is_some_and(|name| name == AIDER) {
        source.agent = Some(Agent::Aider);
    }
    source
}
