//! Values that the store keeps as JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::EngineError;

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, EngineError> {
    serde_json::to_string(value)
        .map_err(|source| EngineError::Unreadable { what: "a record".to_owned(), source: source.into() })
}

/// Reads a stored value; `what` names it in the error.
pub(crate) fn from_json<T: DeserializeOwned>(
    json: &str,
    what: impl FnOnce() -> String,
) -> Result<T, EngineError> {
    serde_json::from_str(json)
        .map_err(|source| EngineError::Unreadable { what: what(), source: source.into() })
}
