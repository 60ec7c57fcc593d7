//! Finds base URLs in an agent's file, whatever its syntax.
//!
//! Agents use JSON, JSON with comments, JSON5, TOML, YAML or lists of variables. A base URL looks alike in all of them:
//! a key with one of a few endings, a colon or an equals sign, and a URL. Searching the text for that also works if the
//! file has a syntax error elsewhere.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The endings of keys that hold a base URL, in lower case, without `_` and `-`.
const KEYS: [&str; 3] = ["baseurl", "apibase", "apibaseurl"];

/// How many bytes of a file are read at most.
const MAX_BYTES: u64 = 1 << 20;

/// A base URL and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    /// The key in lower case, without `_` and `-`.
    pub(crate) key: String,
    pub(crate) url: String,
}

/// The base URLs in a file; none if it cannot be read.
pub(crate) fn in_file(path: &Path) -> Vec<BaseUrl> {
    // Reading a pipe could block.
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        return Vec::new();
    }
    in_text(&String::from_utf8_lossy(&bytes))
}

/// The base URLs in a text, in order.
fn in_text(text: &str) -> Vec<BaseUrl> {
    let lines = text.lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with("//") && !line.starts_with('#')
    });
    lines.flat_map(in_line).collect()
}

fn in_line(line: &str) -> Vec<BaseUrl> {
    let mut found = Vec::new();
    for (position, _) in line.match_indices("http") {
        let (before, rest) = line.split_at(position);
        if !(rest.starts_with("http://") || rest.starts_with("https://")) {
            continue;
        }
        let Some(key) = key(before) else { continue };
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'`,;<>{}".contains(c);
        found.push(BaseUrl { key, url: rest.split(ends).next().unwrap_or_default().to_owned() });
    }
    found
}

/// The key at the end of the text before a URL, if it is one for a base URL.
fn key(before: &str) -> Option<String> {
    let quotes: &[char] = &['"', '\'', '`'];
    let before = before.trim_end().trim_end_matches(quotes).trim_end();
    let before = before.strip_suffix(':').or_else(|| before.strip_suffix('='))?;
    let key = before.trim_end().trim_end_matches(quotes);
    let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == '-';
    let key: String = key.chars().rev().take_while(is_part).collect();
    let key: String = key.chars().rev().filter(char::is_ascii_alphanumeric).collect();
    let key = key.to_ascii_lowercase();
    KEYS.iter().any(|end| key.ends_with(end)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_found_in_every_syntax() {
        let found =
            |text: &str| in_text(text).into_iter().map(|entry| entry.url).collect::<Vec<_>>().join(" ");
        assert_eq!(
            found(r#"{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:7878"}}"#),
            "http://127.0.0.1:7878"
        );
        assert_eq!(found("base_url = \"http://h/v1\" # mine"), "http://h/v1");
        assert_eq!(found("  baseURL: 'https://h/v1', // a comment"), "https://h/v1");
        assert_eq!(found("openai-api-base: http://h/v1"), "http://h/v1");
        assert_eq!(found("export GOOGLE_GEMINI_BASE_URL=http://h"), "http://h");
        assert_eq!(found(r#""a":{"baseUrl":"http://a"},"b":{"baseUrl":"http://b"}"#), "http://a http://b");
    }

    #[test]
    fn keys_are_normalised() {
        let keys: Vec<_> = in_text("openai-api-base: http://a\nGOOGLE_GEMINI_BASE_URL=http://b");
        assert_eq!(
            keys.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(),
            ["openaiapibase", "googlegeminibaseurl"]
        );
    }

    #[test]
    fn other_urls_and_comments_are_skipped() {
        for text in [
            "\"$schema\": \"https://opencode.ai/config.json\"",
            "// baseURL: \"http://h\"",
            "# base_url = \"http://h\"",
        ] {
            assert_eq!(in_text(text), [], "{text}");
        }
    }
}
