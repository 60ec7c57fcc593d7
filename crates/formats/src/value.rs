//! Other languages' notions of a parsed JSON value: what is true, what is white space.
//!
//! Stored messages and settings were written for programs that read them with JavaScript's or Python's
//! rules. Where a system is reproduced over parsed values, those rules are these.

use serde_json::Value;

/// Whether JavaScript takes a value for true.
pub(crate) fn is_truthy_js(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Whether Python takes a value for true: unlike in JavaScript, empty containers are false.
pub(crate) fn is_truthy_py(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => is_truthy_js(value),
    }
}

/// An object of the fields that exist, in this order: what is undefined never reaches JSON.
pub(crate) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// A part that says what a text says.
pub(crate) fn text_part(text: &str) -> Value {
    object([("type", Some("text".into())), ("text", Some(text.into()))])
}

/// The member `type`; empty if it is missing or no text.
pub(crate) fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A member, if it is there.
pub(crate) fn field(value: &Value, key: &str) -> Option<Value> {
    value.get(key).cloned()
}
