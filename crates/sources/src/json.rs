//! JSON as text: checked, never rebuilt.
//!
//! What an agent wrote is copied byte for byte. It only has to be known whether it is complete, and which members an
//! object has. The check passes over the text once, builds nothing and does not recurse, so nesting depth is no
//! problem.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// Checks that `text` is one JSON value.
pub(crate) fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<IgnoredAny>(text).map(|_| ())
}

/// Adds `members` in front of the members of the object `text`, except those that it already has.
pub(crate) fn with_members(text: &str, members: &[(&str, &str)]) -> Result<String, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let missing = reader.deserialize_map(Missing(members))?;
    reader.end()?;
    let whole = text.trim();
    let own = whole.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(whole);
    let mut object = ObjectWriter::default();
    for (name, value) in missing {
        object.text(name, value);
    }
    if !own.trim().is_empty() {
        object.raw(own);
    }
    Ok(object.close())
}

/// `text` as a JSON string.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes an object.
#[derive(Default)]
pub(crate) struct ObjectWriter {
    text: String,
}

impl ObjectWriter {
    /// Adds a member whose value is a string.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.json(name, &string(value));
    }

    /// Adds a member whose value is JSON already.
    pub(crate) fn json(&mut self, name: &str, value: &str) {
        self.raw("");
        self.text.push_str(&string(name));
        self.text.push(':');
        self.text.push_str(value);
    }

    /// Adds the members of `other` as an object, if there are any.
    pub(crate) fn object(&mut self, name: &str, other: Self) {
        if !other.text.is_empty() {
            self.json(name, &other.close());
        }
    }

    fn raw(&mut self, members: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push_str(members);
    }

    /// The object as text.
    pub(crate) fn close(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

/// Finds out which members an object lacks.
struct Missing<'a>(&'a [(&'a str, &'a str)]);

impl<'de, 'a> Visitor<'de> for Missing<'a> {
    type Value = Vec<(&'a str, &'a str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut missing = self.0.to_vec();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            missing.retain(|(name, _)| *name != key);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_go_in_front_and_the_rest_keeps_its_spelling() {
        let text = " { \"n\" : 1.50e0 ,\"t\":\"\\u00e9\" } ";
        assert_eq!(
            with_members(text, &[("id", "a\"b"), ("n", "own")]).unwrap(),
            "{\"id\":\"a\\\"b\", \"n\" : 1.50e0 ,\"t\":\"\\u00e9\" }"
        );
        assert_eq!(with_members("{ }", &[("id", "a")]).unwrap(), r#"{"id":"a"}"#);
        assert_eq!(with_members(r#"{"i\u0064":1}"#, &[("id", "a")]).unwrap(), r#"{"i\u0064":1}"#);
        assert_eq!(with_members("{}", &[]).unwrap(), "{}");
    }

    #[test]
    fn what_is_no_whole_object_is_refused() {
        for text in ["", "[]", "null", "{", r#"{"a":1"#, r#"{"a":1}x"#, r#"{"a":1}{"b":2}"#, "{\"a\":\"\n\"}"]
        {
            assert!(with_members(text, &[]).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500_000), "]".repeat(500_000));
        assert_eq!(with_members(&deep, &[]).unwrap(), deep);
        assert!(check(&deep).is_ok());
    }
}
