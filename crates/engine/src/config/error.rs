//! What can be wrong with a configuration.

use std::io;
use std::path::PathBuf;

use secateur::ProfileError;
use thiserror::Error;

use crate::hooks::HookConfigError;
use crate::provider::ConnectError;

/// Why a configuration cannot be used. Every message names what is wrong, where, and what is allowed. LayeredValues that may
/// be secrets are not repeated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML.
    #[error("{origin} is not valid TOML: {reason} in line {line}, column {column}")]
    Syntax {
        /// Where the text came from.
        origin: String,
        /// What is wrong.
        reason: String,
        /// The line, from 1 on.
        line: usize,
        /// The column, from 1 on.
        column: usize,
    },
    /// The text is longer than any configuration.
    #[error("{origin} is longer than {limit} bytes; that is no configuration")]
    TooLong {
        /// Where the text came from.
        origin: String,
        /// The most bytes.
        limit: usize,
    },
    /// A flag that sets nothing.
    #[error("--set {flag:?} has no `=`; it is written KEY=VALUE, e.g. compaction.threshold=80%")]
    Flag {
        /// What was given.
        flag: String,
    },
    /// A key has a value that is not allowed, or is missing, or does not exist.
    #[error("{origin}: key `{key}`{value}: {allowed}")]
    Key {
        /// Where the value came from.
        origin: String,
        /// The key, as a path.
        key: String,
        /// The value, written ` = …`; empty if there is none or it may be a secret.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A key that a project may not set.
    #[error(
        "{origin}: key `{key}` is not taken from a project's file, because {danger}; put it into your own file, \
         ~/.config/secateur/config.toml, if you want it"
    )]
    Untrusted {
        /// The project's file.
        origin: String,
        /// The key.
        key: String,
        /// What could happen.
        danger: &'static str,
    },
    /// A page of a profile that cannot be read.
    #[error("{origin}: key `{key}`: cannot read the profile {path}: {source}", path = path.display())]
    Page {
        /// Who named it.
        origin: String,
        /// In which key.
        key: &'static str,
        /// The page.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something is wrong with a profile itself.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A hook that cannot be built.
    #[error("{origin}: {source}")]
    Hook {
        /// Where it came from.
        origin: String,
        /// What is wrong with it.
        source: HookConfigError,
    },
    /// A summariser that can never be asked.
    #[error("{origin}: [summariser]: {source}")]
    Summariser {
        /// Where it came from.
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

    /// What a profile says about values that went over it, told as what it is: a word about the configuration.
    pub(super) fn of_profile(error: ProfileError, chosen: Option<&str>) -> Self {
        match (error, chosen) {
            (ProfileError::Key { origin, key, value, allowed }, _) => {
                Self::Key { origin, key, value, allowed }
            }
            (ProfileError::Unknown { name, known }, Some(origin)) => {
                let allowed = format!("there is no profile of this name; there are {known}");
                Self::key(origin, "profile", &format!("{name:?}"), allowed)
            }
            (error, _) => Self::Profile(error),
        }
    }
}
