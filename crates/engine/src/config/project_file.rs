//! What a project's file may not set.
//!
//! People open a repository without reading its `secateur.toml` first. So it may not run a program, decide where the
//! conversation is sent or stored, or write text in the user's name. Such settings are refused, not ignored: a
//! setting without effect is confusing.

use std::path::{Component, Path};

use toml::{Table, Value};

use super::error::ConfigError;
use super::source::{Author, ConfigSource};

/// Sections that are refused, and why.
const SECTIONS: [(&str, &str); 7] = [
    ("hooks", "hooks run programs and pass on parts of the conversation"),
    ("summariser", "it decides where the conversation is sent"),
    ("store", "it decides where the conversation is stored"),
    ("models", "it names a file that is read"),
    ("redaction", "it decides what is redacted"),
    ("retention", "it decides which sessions are deleted"),
    ("serve", "it decides where the conversation and its credentials are sent"),
];

/// Texts that are refused, and why.
const TEXTS: [(&str, &str, &str); 3] = [
    ("compaction", "marker", "a model reads it as the user's words"),
    ("compaction", "resume", "a model reads it as the user's words"),
    ("prune", "placeholder", "a model reads it as a tool's output"),
];

/// Refuses settings that a project's file may not have.
pub(super) fn check(source: &ConfigSource) -> Result<(), ConfigError> {
    if source.author == Author::User {
        return Ok(());
    }
    for (key, danger) in SECTIONS {
        if source.values.contains_key(key) {
            let (origin, key) = (source.origin.clone(), key.to_owned());
            return Err(ConfigError::Untrusted { origin, key, danger });
        }
    }
    check_texts(&source.origin, &source.values)
}

/// Refuses texts that a model would read, in a project's file or in a profile that it brings.
pub(super) fn check_texts(origin: &str, values: &Table) -> Result<(), ConfigError> {
    for (section, key, danger) in TEXTS {
        if values.get(section).and_then(Value::as_table).is_some_and(|table| table.contains_key(key)) {
            let (origin, key) = (origin.to_owned(), format!("{section}.{key}"));
            return Err(ConfigError::Untrusted { origin, key, danger });
        }
    }
    Ok(())
}

/// Whether a path stays below the folder that it is relative to.
pub(super) fn stays_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
