//! From which age on a result may go, by what it is.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::class::Class;

/// An age in model calls; none is an age that nothing reaches.
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
    /// A result that came a second time, word for word.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub repeated: Age,
    /// Text of a file of which a later read shows the same lines.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub covered: Age,
    /// Text of a file that was edited since.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub edited: Age,
    /// Text of a file.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub read: Age,
    /// What another agent answered.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub agent: Age,
    /// Everything else: commands, searches, pages of the web, acknowledgements.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub other: Age,
    /// The highest age that counts while the cache is cold.
    #[serde(deserialize_with = "age", skip_serializing_if = "Option::is_none")]
    pub cold: Age,
}

/// A number of calls, or `"never"`, which takes back the age of a profile below.
fn age<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Age, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Calls(u32),
        Word(String),
    }
    match Written::deserialize(deserializer)? {
        Written::Calls(calls) => Ok(Some(calls)),
        Written::Word(word) if word == "never" => Ok(None),
        Written::Word(word) => {
            Err(D::Error::custom(format!("`{word}` is no age: a number of calls, or `never`")))
        }
    }
}

impl Ages {
    /// The age at which a result of this class may go, if nothing overtakes it.
    pub(super) fn of(&self, class: Class) -> Age {
        match class {
            Class::Read => self.read,
            Class::Agent => self.agent,
            _ => self.other,
        }
    }
}
