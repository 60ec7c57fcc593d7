//! OpenCode's folder of small files, `storage`, which it used before it had a database.
//!
//! ```text
//! session/<project>/<session>.json    message/<session>/<message>.json    part/<message>/<part>.json
//! ```
//!
//! The files contain their ids. Names sort by time. A folder has no snapshot: a file that is being written is left
//! out with a warning.

use std::fs;
use std::path::{Path, PathBuf};

use super::Document;
use crate::regular_file;
use crate::source::{self, Source, SourceContent, SourceKind};
use crate::{SourceError, SourceWarning, json, pattern};

/// The largest session file that is searched for the name of the project.
const SESSION_FILE: u64 = 1 << 20;

/// Whether `folder` looks like OpenCode's storage.
pub(crate) fn is_storage(folder: &Path) -> bool {
    ["session", "message", "part"].iter().all(|name| folder.join(name).is_dir())
}

/// The sessions in the storage at `folder`.
pub(crate) fn list(folder: &Path, warnings: &mut Vec<SourceWarning>) -> Vec<Source> {
    let mut sources = Vec::new();
    for found in pattern::matches(folder, "session/{project}/*.json", warnings) {
        let Some(session) = stem(&found.path) else { continue };
        let mut source = Source::inside(SourceKind::OpenCodeFolder, folder, session);
        source.project = directory(&found.path).or(found.project);
        source.modified = fs::metadata(&found.path).and_then(|metadata| metadata.modified()).ok();
        sources.push(source);
    }
    sources
}

/// Reads a session as an export document.
pub(crate) fn compose(
    folder: &Path,
    session: &str,
    warnings: &mut Vec<SourceWarning>,
) -> Result<SourceContent, SourceError> {
    let file = pattern::matches(folder, &format!("session/*/{session}.json"), warnings).into_iter().next();
    let file = file.ok_or_else(|| SourceError::no_session(folder, session))?.path;
    let info = match regular_file::text(&file)?
        .and_then(|text| json::with_members(&text, &[("id", session)]).map_err(|error| error.to_string()))
    {
        Ok(info) => info,
        Err(reason) => {
            warnings.push(SourceWarning::new(&file, format!("left out: {reason}")));
            json::with_members("{}", &[("id", session)]).unwrap_or_default()
        }
    };
    let mut document = Document::new(&info);
    for message in files(&folder.join("message").join(session), warnings) {
        let Some(id) = stem(&message) else { continue };
        if !add(&message, warnings, |text| document.message(text, &id, session)) {
            continue;
        }
        for part in files(&folder.join("part").join(&id), warnings) {
            let Some(part_id) = stem(&part) else { continue };
            add(&part, warnings, |text| document.part(text, &part_id, &id, session));
            source::check_size(document.text.len(), folder, session)?;
        }
    }
    Ok(document.close())
}

fn files(folder: &Path, warnings: &mut Vec<SourceWarning>) -> Vec<PathBuf> {
    pattern::matches(folder, "*.json", warnings).into_iter().map(|found| found.path).collect()
}

/// Passes the text of a file to `write`. Returns whether it was written; if not, a warning says why.
fn add(
    file: &Path,
    warnings: &mut Vec<SourceWarning>,
    write: impl FnOnce(&str) -> Result<(), serde_json::Error>,
) -> bool {
    let outcome = match regular_file::text(file) {
        Ok(Ok(text)) => write(&text).map_err(|error| error.to_string()),
        Ok(Err(reason)) => Err(reason),
        Err(error) => Err(error.reason()),
    };
    outcome.map_err(|reason| warnings.push(SourceWarning::new(file, format!("left out: {reason}")))).is_ok()
}

fn stem(file: &Path) -> Option<String> {
    file.file_stem()?.to_str().map(str::to_owned)
}

/// The project's folder as the session file names it.
fn directory(file: &Path) -> Option<String> {
    let bytes = regular_file::beginning(file, SESSION_FILE).ok()?;
    let session: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    session.get("directory")?.as_str().map(str::to_owned)
}
