//! Compares data with the types that a page's `data.js` declares, so that Rust and the scripts cannot drift apart.
//!
//! Only what those files use is understood: `@typedef {object}` with `@property`, arrays, tuples, unions, records,
//! string literals and the primitive types.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::text_of;

/// The properties of each type, with their types.
type Types<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>;

/// Whether data are of a type that a module declares, such as `ReportData` of `report/data.js`. The error says where
/// they differ.
pub fn check(module: &str, name: &str, data: &Value) -> Result<(), String> {
    let types = declared(text_of(module));
    if !types.contains_key(name) {
        return Err(format!("{module} declares no type {name}"));
    }
    matches(&types, name, data).map_err(|place| format!("{name}{place}"))
}

fn declared(text: &str) -> Types<'_> {
    let mut types = Types::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix("* @typedef {object} ") {
            current = Some(name.trim());
            types.entry(name.trim()).or_default();
        } else if let Some(property) = line.trim().strip_prefix("* @property {") {
            let parts = property.split_once("} ").zip(current);
            let Some(((kind, rest), owner)) = parts else { continue };
            let name = rest.split_whitespace().next().unwrap_or_default();
            types.entry(owner).or_default().insert(name, kind);
        }
    }
    types
}

/// The error is the path to what differs, and how.
fn matches(types: &Types<'_>, kind: &str, value: &Value) -> Result<(), String> {
    let kind = kind.trim();
    let options = split(kind, '|');
    if options.len() > 1 {
        let fits = options.iter().any(|option| matches(types, option, value).is_ok());
        return if fits { Ok(()) } else { differs(kind, value) };
    }
    if let Some(item) = kind.strip_suffix("[]") {
        let item = item.strip_prefix('(').and_then(|item| item.strip_suffix(')')).unwrap_or(item);
        let Some(values) = value.as_array() else { return differs(kind, value) };
        return each(values.iter().enumerate(), |value| matches(types, item, value));
    }
    if let Some(items) = kind.strip_prefix('[').and_then(|items| items.strip_suffix(']')) {
        let (items, values) = (split(items, ','), value.as_array().map_or(&[][..], Vec::as_slice));
        let is_same = items.len() == values.len();
        let mut pairs = items.iter().zip(values);
        let fits = is_same && pairs.all(|(item, value)| matches(types, item, value).is_ok());
        return if fits { Ok(()) } else { differs(kind, value) };
    }
    if let Some(item) = kind.strip_prefix("Record<string,").and_then(|item| item.strip_suffix('>')) {
        let Some(fields) = value.as_object() else { return differs(kind, value) };
        return each(fields.iter(), |value| matches(types, item, value));
    }
    if let Some(properties) = types.get(kind) {
        let Some(fields) = value.as_object() else { return differs(kind, value) };
        if let Some(unknown) = fields.keys().find(|field| !properties.contains_key(&***field)) {
            return Err(format!(".{unknown} is not declared"));
        }
        return properties.iter().try_for_each(|(name, kind)| match fields.get(*name) {
            Some(value) => matches(types, kind, value).map_err(|place| format!(".{name}{place}")),
            None => Err(format!(".{name} is missing")),
        });
    }
    let fits = match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        literal => value.as_str().is_some_and(|text| literal.trim_matches('\'') == text),
    };
    if fits { Ok(()) } else { differs(kind, value) }
}

fn differs(kind: &str, value: &Value) -> Result<(), String> {
    let text: String = value.to_string().chars().take(80).collect();
    Err(format!(" is not {kind}: {text}"))
}

fn each<'v, K: std::fmt::Display>(
    values: impl Iterator<Item = (K, &'v Value)>,
    check: impl Fn(&'v Value) -> Result<(), String>,
) -> Result<(), String> {
    for (key, value) in values {
        check(value).map_err(|place| format!("[{key}]{place}"))?;
    }
    Ok(())
}

/// Splits a type at a sign that does not stand in brackets.
fn split(kind: &str, sign: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, point) in kind.char_indices() {
        match point {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ if point == sign && depth == 0 => {
                parts.push(&kind[start..at]);
                start = at + point.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&kind[start..]);
    parts
}
