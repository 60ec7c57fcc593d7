//! How JavaScript and Python see a parsed JSON value.
//!
//! The founding systems read stored messages and settings with the rules of their languages, so the functions that
//! reproduce them need the same rules.

use serde_json::Value;

/// Whether a value is truthy in JavaScript.
pub(crate) fn is_truthy_js(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Whether a value is truthy in Python: unlike in JavaScript, empty containers are not.
pub(crate) fn is_truthy_py(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => is_truthy_js(value),
    }
}

/// An object of the fields that are there, in this order: JSON omits what is undefined in JavaScript.
pub(crate) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// A text part.
pub(crate) fn text_part(text: &str) -> Value {
    object([("type", Some("text".into())), ("text", Some(text.into()))])
}

/// The member `type`; empty if it is missing or not a string.
pub(crate) fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A member, if it is there.
pub(crate) fn field(value: &Value, key: &str) -> Option<Value> {
    value.get(key).cloned()
}
