//! Values from several sources, merged.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::error::ConfigError;
use super::mask;

/// Merged values and the origin of each.
#[derive(Default)]
pub(super) struct LayeredValues {
    table: Table,
    origins: BTreeMap<String, String>,
}

impl LayeredValues {
    /// Overrides values, table by table.
    pub(super) fn lay(&mut self, top: &Table, origin: &str) {
        overlay(&mut self.table, top, "", origin, &mut self.origins);
    }

    /// The value of a top-level key.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.table.get(key)
    }

    /// The origin of the value at a path: its own, or that of a value in it, or that of the table it is in.
    pub(super) fn origin(&self, path: &str) -> &str {
        let mut path = path;
        loop {
            let inside =
                || self.origins.iter().find(|(key, _)| is_inside(key, path)).map(|(_, origin)| origin);
            if let Some(origin) = self.origins.get(path).or_else(inside) {
                return origin;
            }
            match path.rsplit_once(['.', '[']) {
                Some((outer, _)) => path = outer,
                None => return "default",
            }
        }
    }

    /// The origin of exactly this value; `default` if it was not set.
    pub(super) fn exact_origin(&self, path: &str) -> &str {
        self.origins.get(path).map_or("default", String::as_str)
    }

    /// An error about the value of a key.
    pub(super) fn refuse(&self, key: &str, value: Option<&Value>, allowed: impl Into<String>) -> ConfigError {
        let value = value.and_then(|value| mask::in_error(key, value)).unwrap_or_default();
        ConfigError::key(self.origin(key), key, &value, allowed)
    }

    /// Deserialises the value at `key`. An error names the inner key that is wrong.
    pub(super) fn read<T: DeserializeOwned>(&self, key: &str, value: &Value) -> Result<T, ConfigError> {
        value.clone().try_into().map_err(|error: toml::de::Error| {
            let message = error.message();
            let mut inner = place(&error);
            // For an unknown or missing key, the path ends at its table; the message names the key itself.
            let named = ["unknown field `", "missing field `"]
                .iter()
                .find_map(|start| message.strip_prefix(start)?.split('`').next());
            if let Some(named) = named.filter(|named| inner.last().is_none_or(|last| last != named)) {
                inner.push(named.to_owned());
            }
            let wrong = inner.iter().try_fold(value, |value, part| value.get(part.as_str()));
            let path = inner.iter().fold(key.to_owned(), |path, part| format!("{path}.{part}"));
            self.refuse(&path, wrong, mask::message(message))
        })
    }
}

/// The path of an error within a value, which the library only prints at the end of its message.
fn place(error: &toml::de::Error) -> Vec<String> {
    let text = error.to_string();
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    let path = last.strip_prefix("in `").and_then(|rest| rest.strip_suffix('`'));
    path.map(|path| path.split('.').map(str::to_owned).collect()).unwrap_or_default()
}

fn is_inside(key: &str, path: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

fn overlay(base: &mut Table, top: &Table, path: &str, origin: &str, origins: &mut BTreeMap<String, String>) {
    for (key, value) in top {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let Value::Table(inner) = value {
            let slot = base.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
            if !slot.is_table() {
                *slot = Value::Table(Table::new());
            }
            origins.remove(&path);
            if let Value::Table(below) = slot {
                overlay(below, inner, &path, origin, origins);
            }
            continue;
        }
        base.insert(key.clone(), value.clone());
        origins.retain(|other, _| !is_inside(other, &path));
        origins.insert(path, origin.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(texts: &[(&str, &str)]) -> LayeredValues {
        let mut values = LayeredValues::default();
        for (origin, text) in texts {
            values.lay(&text.parse().unwrap(), origin);
        }
        values
    }

    #[test]
    fn tables_are_laid_key_by_key_and_the_rest_as_a_whole() {
        let values = laid(&[("one", "a = {b = 1, c = 2}\nd = [1, 2]"), ("two", "a = {c = 3}\nd = [4]")]);
        assert_eq!(values.get("a").unwrap().to_string(), "{ b = 1, c = 3 }");
        assert_eq!(values.get("d").unwrap().to_string(), "[4]");
        assert_eq!((values.origin("a.b"), values.origin("a.c"), values.origin("d")), ("one", "two", "two"));
    }

    #[test]
    fn a_table_and_a_plain_value_replace_each_other() {
        let values = laid(&[("one", "a = {b = 1}"), ("two", "a = false")]);
        assert_eq!((values.get("a").unwrap().to_string(), values.origin("a.b")), ("false".to_owned(), "two"));
        let values = laid(&[("one", "a = false"), ("two", "a = {b = 1}")]);
        assert_eq!((values.origin("a"), values.exact_origin("a")), ("two", "default"));
    }

    #[test]
    fn an_error_is_blamed_on_the_nearest_known_place() {
        let values = laid(&[("one", "hooks = []\na = {b = 1}")]);
        assert_eq!(values.origin("hooks[3].name"), "one");
        assert_eq!(values.origin("a.z"), "one");
        assert_eq!(values.origin("z"), "default");
    }
}
