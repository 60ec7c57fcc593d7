//! The errors of a configuration.

use std::io;
use std::path::PathBuf;

use secateur::{CatalogueError, ProfileError};
use thiserror::Error;

use crate::hooks::HookConfigError;
use crate::provider::ConnectError;

/// Why a configuration cannot be used. Every message says what is wrong, where, and what is allowed. Values that may
/// be secrets are not repeated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML.
    #[error("{origin} is not valid TOML: {reason} in line {line}, column {column}")]
    Syntax {
        /// The origin of the text.
        origin: String,
        /// What is wrong.
        reason: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The text is too long for a configuration.
    #[error("{origin} is longer than {limit} bytes, too long for a configuration")]
    TooLong {
        /// The origin of the text.
        origin: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// A flag without a value.
    #[error("--set {flag:?} has no `=`; expected KEY=VALUE, such as compaction.threshold=80%")]
    Flag {
        /// The flag.
        flag: String,
    },
    /// A flag that names no window.
    #[error("--window {flag:?} is not MODEL=TOKENS, such as my-model=131072")]
    WindowFlag {
        /// The flag.
        flag: String,
    },
    /// A key is unknown or missing, or its value is not allowed.
    #[error("{origin}: key `{key}`{value}: {allowed}")]
    Key {
        /// The origin of the value.
        origin: String,
        /// The key, as a path.
        key: String,
        /// The value, written ` = …`; empty if it is missing or may be a secret.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A key that a project's file may not set.
    #[error(
        "{origin}: key `{key}` is not allowed in a project's file, because {danger}; set it in your own file, \
         ~/.config/secateur/config.toml"
    )]
    Untrusted {
        /// The project's file.
        origin: String,
        /// The key.
        key: String,
        /// Why it is not allowed.
        danger: &'static str,
    },
    /// A profile file that cannot be read.
    #[error("{origin}: key `{key}`: cannot read the profile {path}: {source}", path = path.display())]
    ProfileFile {
        /// The origin of the setting that names it.
        origin: String,
        /// That setting.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of models that cannot be read.
    #[error("{origin}: key `models`: cannot read {path}: {source}", path = path.display())]
    ModelsFile {
        /// The origin of the setting that names it.
        origin: String,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An error in a file of models.
    #[error(transparent)]
    Models(#[from] CatalogueError),
    /// An error in a profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A hook that cannot be built.
    #[error("{origin}: {source}")]
    Hook {
        /// The origin of its settings.
        origin: String,
        /// What is wrong with it.
        source: HookConfigError,
    },
    /// A summariser that cannot be used.
    #[error("{origin}: [summariser]: {source}")]
    Summariser {
        /// The origin of its settings.
        origin: String,
        /// What is wrong with it.
        source: ConnectError,
    },
}

impl ConfigError {
    pub(super) fn key(origin: &str, key: &str, value: &str, allowed: impl Into<String>) -> Self {
        let value = if value.is_empty() { String::new() } else { format!(" = {value}") };
        Self::Key { origin: origin.to_owned(), key: key.to_owned(), value, allowed: allowed.into() }
    }

    /// Turns an error about overrides of a profile into one about the configuration.
    pub(super) fn of_profile(error: ProfileError, chosen: Option<&str>) -> Self {
        match (error, chosen) {
            (ProfileError::Key { origin, key, value, allowed }, _) => {
                Self::Key { origin, key, value, allowed }
            }
            (ProfileError::Unknown { name, known }, Some(origin)) => {
                let allowed = format!("unknown profile; known are {known}");
                Self::key(origin, "profile", &format!("{name:?}"), allowed)
            }
            (error, _) => Self::Profile(error),
        }
    }
}
