//! The providers that an agent's JSON files name, with their addresses. Comments and commas before a bracket are
//! allowed, as the agents allow them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

/// Where the addresses are in a file.
pub(crate) struct UrlKeys {
    /// The table of providers.
    pub(crate) providers: &'static str,
    /// The address in the table of one provider.
    pub(crate) address: &'static str,
}

/// The addresses by the providers' names; what a later file says wins.
pub(crate) fn addresses(files: &[PathBuf], shape: &UrlKeys) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let page: Value = serde_json::from_str(&plain(&text)).unwrap_or_default();
        let Some(providers) = page.get(shape.providers).and_then(Value::as_object) else { continue };
        for (name, provider) in providers {
            if let Some(url) = provider.pointer(shape.address).and_then(Value::as_str) {
                found.insert(name.clone(), url.to_owned());
            }
        }
    }
    found
}

/// The text without comments, and without commas that nothing follows.
pub(crate) fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut points = text.chars().peekable();
    while let Some(point) = points.next() {
        match (point, points.peek()) {
            ('"', _) => {
                kept.push(point);
                while let Some(inner) = points.next() {
                    kept.push(inner);
                    match inner {
                        '"' => break,
                        '\\' => kept.extend(points.next()),
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => while points.next_if(|next| *next != '\n').is_some() {},
            ('/', Some('*')) => {
                points.next();
                while let Some(inner) = points.next() {
                    if inner == '*' && points.next_if_eq(&'/').is_some() {
                        break;
                    }
                }
            }
            ('}' | ']', _) => {
                let end = kept.trim_end().trim_end_matches(',').len();
                kept.truncate(end);
                kept.push(point);
            }
            _ => kept.push(point),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_passed_over() {
        let text = "{ // mine\n \"a\": \"http://h//x\", /* \" */ \"b\": [1, 2, ], \"c\": \"\\\" // no\",\n}";
        let value: Value = serde_json::from_str(&plain(text)).unwrap();
        assert_eq!(value, serde_json::json!({ "a": "http://h//x", "b": [1, 2], "c": "\" // no" }));
    }
}
