//! A recorded case: what went in, and what the real system made of it.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// One line of a file of cases.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) system: String,
    #[serde(rename = "fn")]
    pub(crate) function: String,
    pub(crate) input: Value,
    pub(crate) output: Value,
}

impl Case {
    /// Parses a line and expands the recipes in its input.
    pub(crate) fn parse(line: &str) -> Result<Self> {
        let mut case: Case = serde_json::from_str(line).context("not a recorded case")?;
        expand(&mut case.input);
        Ok(case)
    }

    /// A member of the input; null if it is missing.
    pub(crate) fn get(&self, key: &str) -> &Value {
        self.input.get(key).unwrap_or(&Value::Null)
    }

    /// A list in the input; empty if it is missing.
    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.get(key).as_array().map_or(&[], Vec::as_slice)
    }
}

/// Replaces every recipe `{repeat, n, head?, tail?}` by the text that it describes.
fn expand(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(expand),
        Value::Object(map) => match recipe(map) {
            Some(text) => *value = Value::String(text),
            None => map.values_mut().for_each(expand),
        },
        _ => {}
    }
}

fn recipe(map: &Map<String, Value>) -> Option<String> {
    if !map.keys().all(|key| matches!(key.as_str(), "repeat" | "n" | "head" | "tail")) {
        return None;
    }
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    let count = map.get("n").and_then(Value::as_u64)?;
    let body = text("repeat")?.repeat(usize::try_from(count).ok()?);
    Some(format!("{}{body}{}", text("head").unwrap_or_default(), text("tail").unwrap_or_default()))
}

/// Whether what came out agrees with the recording.
pub(crate) fn agrees(expected: &Value, actual: &Value) -> bool {
    same(expected, actual)
}

/// Whether two values are the same: long texts by their hash, numbers by their value.
fn same(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(recorded), Value::String(text)) => same_text(recorded, text),
        // A text of which only the length is known: its wording is not compared.
        (Value::Object(_), Value::Object(own)) if own.contains_key("$units") => {
            expected.pointer("/$digest/utf16_len") == own.get("$units")
        }
        (Value::Object(expected), Value::Object(actual)) => {
            expected.len() == actual.len()
                && expected.iter().all(|(key, value)| actual.get(key).is_some_and(|own| same(value, own)))
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(one, other)| same(one, other))
        }
        (Value::Number(expected), Value::Number(actual)) => {
            expected == actual || expected.as_f64() == actual.as_f64()
        }
        _ => expected == actual,
    }
}

/// Whether a text is the one that was recorded by its hash, or with its lone surrogates replaced.
fn same_text(recorded: &Map<String, Value>, text: &str) -> bool {
    if let Some(lossy) = recorded.get("lossy") {
        return lossy == text;
    }
    let Some(fingerprint) = recorded.get("$digest") else { return false };
    let hash: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let recorded_hash = fingerprint.get("sha256_utf8_lossy").or_else(|| fingerprint.get("sha256_utf8"));
    let units = text.encode_utf16().count() as u64;
    fingerprint.get("utf16_len").and_then(Value::as_u64) == Some(units)
        && recorded_hash.is_some_and(|own| *own == hash)
}
