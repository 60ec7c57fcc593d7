//! The providers in an agent's JSON files, with their addresses. Comments and trailing commas are allowed, as the agents
//! allow them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

/// Where a file holds the addresses.
pub(crate) struct UrlKeys {
    /// The key of the object with all providers.
    pub(crate) providers: &'static str,
    /// The JSON pointer to the address in the object of one provider.
    pub(crate) address: &'static str,
}

/// A provider in an agent's files.
pub(crate) struct ConfiguredProvider {
    pub(crate) file: PathBuf,
    pub(crate) url: String,
    /// The name of its API, if the file has one.
    pub(crate) api: Option<String>,
}

/// The addresses by provider name. Later files override earlier ones.
pub(crate) fn addresses(files: &[PathBuf], shape: &UrlKeys) -> BTreeMap<String, String> {
    providers(files, shape).into_iter().map(|(name, provider)| (name, provider.url)).collect()
}

/// The providers with an address, by name. Later files override earlier ones.
pub(crate) fn providers(files: &[PathBuf], shape: &UrlKeys) -> BTreeMap<String, ConfiguredProvider> {
    let mut found = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let config: Value = serde_json::from_str(&plain_json(&text)).unwrap_or_default();
        let Some(providers) = config.get(shape.providers).and_then(Value::as_object) else { continue };
        for (name, provider) in providers {
            if let Some(url) = provider.pointer(shape.address).and_then(Value::as_str) {
                let api = provider.get("api").and_then(Value::as_str).map(str::to_owned);
                let provider = ConfiguredProvider { file: file.clone(), url: url.to_owned(), api };
                found.insert(name.clone(), provider);
            }
        }
    }
    found
}

/// The text without comments and trailing commas.
pub(crate) fn plain_json(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"', _) => {
                kept.push(c);
                while let Some(inner) = chars.next() {
                    kept.push(inner);
                    match inner {
                        '"' => break,
                        '\\' => kept.extend(chars.next()),
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => while chars.next_if(|next| *next != '\n').is_some() {},
            ('/', Some('*')) => {
                chars.next();
                while let Some(inner) = chars.next() {
                    if inner == '*' && chars.next_if_eq(&'/').is_some() {
                        break;
                    }
                }
            }
            ('}' | ']', _) => {
                let end = kept.trim_end().trim_end_matches(',').len();
                kept.truncate(end);
                kept.push(c);
            }
            _ => kept.push(c),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_removed() {
        let text = "{ // mine\n \"a\": \"http://h//x\", /* \" */ \"b\": [1, 2, ], \"c\": \"\\\" // no\",\n}";
        let value: Value = serde_json::from_str(&plain_json(text)).unwrap();
        assert_eq!(value, serde_json::json!({ "a": "http://h//x", "b": [1, 2], "c": "\" // no" }));
    }
}
