//! Errors in profiles.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::lookup;

/// Why a profile cannot be used. Every message names what is wrong, where, and what is allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// There is no profile of this name.
    #[error("there is no profile {name:?}; there are {known}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The text is not TOML.
    #[error("profile {origin} is not valid TOML: {source}")]
    Syntax {
        /// The origin of the text.
        origin: String,
        /// What is wrong, with line and column.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// Profiles extend one another in a circle, or too many in a row.
    #[error("profile {name:?} extends others in a circle or without end (at {parent:?})")]
    Cycle {
        /// The profile that was asked for.
        name: String,
        /// Where the chain became too long.
        parent: String,
    },
    /// A key is unknown or missing, or its value is not allowed.
    #[error("profile {origin}: key `{key}`{value}: {allowed}")]
    Key {
        /// The origin of the value.
        origin: String,
        /// The key, as a path.
        key: String,
        /// The value, written ` = …`; empty if there is none.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// The profile does not have exactly one family.
    #[error(
        "profile {name:?} must have exactly one of the tables [watermark], [ratio], [keep-last] and [rent]"
    )]
    Families {
        /// The profile's name.
        name: String,
    },
}

impl ProfileError {
    pub(super) fn syntax(origin: &str, source: toml::de::Error) -> Self {
        Self::Syntax { origin: origin.to_owned(), source: Box::new(source) }
    }

    pub(super) fn value(origin: &str, key: &str, value: Option<&Value>, allowed: &str) -> Self {
        let value = value.map(|value| format!(" = {value}")).unwrap_or_default();
        Self::Key { origin: origin.to_owned(), key: key.to_owned(), value, allowed: allowed.to_owned() }
    }

    /// An error at a key of the merged values.
    pub(super) fn at(key: &str, allowed: &str, values: &Table, origins: &BTreeMap<String, String>) -> Self {
        let inside =
            || origins.iter().rev().find(|(path, _)| path.starts_with(key)).map(|(_, origin)| origin);
        let around = || origins.iter().next_back().map(|(_, origin)| origin);
        let origin = origins.get(key).or_else(inside).or_else(around).map_or("", String::as_str);
        // A whole table would only repeat its key.
        let value = lookup(values, key).filter(|value| !value.is_table());
        Self::value(origin, key, value, allowed)
    }

    /// The error of serde as key, value and what is allowed.
    pub(super) fn from_serde(
        error: &serde_path_to_error::Error<toml::de::Error>,
        values: &Table,
        origins: &BTreeMap<String, String>,
    ) -> Self {
        let message = error.inner().message();
        let mut key = error.path().to_string();
        // The path of an unknown or missing key ends at its table; the message names the key itself.
        let named = ["unknown field `", "missing field `"]
            .iter()
            .find_map(|start| message.strip_prefix(start)?.split('`').next());
        if let Some(named) = named
            && !key.ends_with(named)
        {
            key = if key == "." { named.to_owned() } else { format!("{key}.{named}") };
        }
        Self::at(&key, message, values, origins)
    }
}
