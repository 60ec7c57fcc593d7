//! From which age on a result may be cut, by what it is.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::tool_class::ToolClass;

/// An age in model calls; none is never reached.
pub(super) type Age = Option<u32>;

/// Ages in model calls, counted from the first call that saw a result. An age that is left out is never reached.
///
/// ```
/// let ages: secateur::Ages = toml::from_str("read = 25\nother = 3")?;
/// assert_eq!((ages.read, ages.other, ages.agent), (Some(25), Some(3), None));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ages {
    /// A result that came again, word for word.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub repeated: Age,
    /// Text of a file whose lines a later read shows again.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub covered: Age,
    /// Text of a file that was edited since.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub edited: Age,
    /// Text of a file.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub read: Age,
    /// The result of another agent.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub agent: Age,
    /// Everything else: commands, searches, pages of the web, acknowledgements.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub other: Age,
    /// The highest age that counts while the cache is cold.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub cold: Age,
}

/// Reads a number of calls, or `"never"`, which removes an age that the extended profile set. It is read as a newtype, so
/// that the schema of profiles can tell it from other numbers.
fn age<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Age, D::Error> {
    deserializer.deserialize_newtype_struct("Age", AgeVisitor)
}

/// Reads an age.
struct AgeVisitor;

impl<'de> Visitor<'de> for AgeVisitor {
    type Value = Age;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of calls, or \"never\"")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Age, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_u64<E: Error>(self, calls: u64) -> Result<Age, E> {
        let wrong = |_| E::invalid_value(Unexpected::Unsigned(calls), &self);
        u32::try_from(calls).map(Some).map_err(wrong)
    }

    fn visit_i64<E: Error>(self, calls: i64) -> Result<Age, E> {
        let wrong = |_| E::invalid_value(Unexpected::Signed(calls), &self);
        u32::try_from(calls).map(Some).map_err(wrong)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Age, E> {
        if word == "never" { Ok(None) } else { Err(E::invalid_value(Unexpected::Str(word), &self)) }
    }
}

impl Ages {
    /// The age at which a result of this class may be cut, if no later result makes it old before.
    pub(super) fn of(&self, class: ToolClass) -> Age {
        match class {
            ToolClass::Read => self.read,
            ToolClass::Agent => self.agent,
            _ => self.other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_of_calls_or_never() {
        let read = |text: &str| toml::from_str::<Ages>(text).map(|ages| ages.read);
        assert_eq!(read("read = 7").unwrap(), Some(7));
        assert_eq!(read("read = \"never\"").unwrap(), None);
        for wrong in ["read = -1", "read = 99999999999", "read = \"soon\"", "read = 1.5"] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("a number of calls, or \"never\""), "{error}");
        }
    }
}
