//! Path patterns: where below a root an agent's sessions are.
//!
//! A pattern is a relative path like `tmp/{project}/chats/session-*.json`. `{project}` matches any one folder, whose
//! name becomes the session's project; `*` alone matches any one folder; a star within the last name matches anything
//! without a dot. Without a dot, because agents insert `.bak`, `.deleted` or `.trajectory` before the ending of files
//! that are not sessions. The empty pattern matches the root itself. A pattern has a fixed depth, so a search is
//! bounded whatever the folder contains.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::SourceWarning;

/// A path that matches a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) path: PathBuf,
    /// The name of the folder that `{project}` matched.
    pub(crate) project: Option<String>,
}

/// The paths below `root` that match `pattern`, sorted by name. A missing folder has none.
pub(crate) fn matches(root: &Path, pattern: &str, warnings: &mut Vec<SourceWarning>) -> Vec<Match> {
    let mut matches = vec![Match { path: root.to_path_buf(), project: None }];
    let mut steps = pattern.split_terminator('/').peekable();
    while let Some(step) = steps.next() {
        let place = if steps.peek().is_some() { PatternStep::Folder } else { PatternStep::Last };
        matches = matches.into_iter().flat_map(|found| found.step(step, place, warnings)).collect();
    }
    matches
}

#[derive(Clone, Copy)]
enum PatternStep {
    Folder,
    Last,
}

impl Match {
    fn step(self, step: &str, place: PatternStep, warnings: &mut Vec<SourceWarning>) -> Vec<Self> {
        if !step.contains(['*', '{']) {
            let path = self.path.join(step);
            return if path.exists() { vec![Self { path, project: self.project }] } else { Vec::new() };
        }
        let mut found: Vec<Self> = names(&self.path, warnings)
            .into_iter()
            .filter(|name| fits(step, name, place))
            .map(|name| {
                let path = self.path.join(&name);
                let project = if step == "{project}" { Some(name) } else { self.project.clone() };
                Self { path, project }
            })
            .collect();
        found.sort_by(|left, right| left.path.cmp(&right.path));
        found
    }
}

/// The names in a folder. A missing folder is fine; one that cannot be read yields a warning.
fn names(folder: &Path, warnings: &mut Vec<SourceWarning>) -> Vec<String> {
    let mut names = Vec::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                warnings.push(SourceWarning::new(folder, format!("cannot be read: {error}")));
            }
            return names;
        }
    };
    for entry in entries {
        match entry.map(|entry| entry.file_name().into_string()) {
            Ok(Ok(name)) => names.push(name),
            // No agent uses such a name, so it is not a session.
            Ok(Err(_)) => {}
            Err(error) => {
                warnings.push(SourceWarning::new(folder, format!("cannot be read to its end: {error}")));
            }
        }
    }
    names
}

fn fits(step: &str, name: &str, place: PatternStep) -> bool {
    if matches!(step, "{project}" | "*") {
        return true;
    }
    let (before, after) = step.split_once('*').unwrap_or((step, ""));
    let middle = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    middle.is_some_and(|middle| matches!(place, PatternStep::Folder) || !middle.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_without_a_dot() {
        assert!(fits("session-*.json", "session-1.json", PatternStep::Last));
        assert!(!fits("session-*.json", "session-1.jsonl", PatternStep::Last));
        assert!(!fits("*.jsonl", "a.trajectory.jsonl", PatternStep::Last));
        assert!(!fits("*.jsonl", "a.jsonl.deleted.1", PatternStep::Last));
        assert!(fits("*.messages.json", "a.messages.json", PatternStep::Last));
        assert!(!fits("ab*ba", "aba", PatternStep::Last));
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_matches_and_is_no_trouble() {
        let mut warnings = Vec::new();
        assert!(matches(Path::new("/nowhere/at/all"), "{project}/*.jsonl", &mut warnings).is_empty());
        assert!(warnings.is_empty());
    }
}
