//! Recognises that a provider refused a prompt because it does not fit.
//!
//! There is no standard for that: some providers name the error, most say it in a sentence, each differently. It
//! matters because an overflow is solved by sending less, and other refusals are not. All known phrases are in a
//! table, with the numbers that they contain.
//!
//! *Not* an overflow, although it sounds similar:
//!
//! * too many tokens in a minute: sending the same later helps too, and the window is not the problem;
//! * a requested response that is longer than the model's limit: the prompt may fit.
//!
//! If only prompt and response together do not fit, that is an overflow: a shorter prompt helps.
//!
//! Status 413 always is one, unless it mentions tokens in a minute. It may come from a proxy on the way, with a web
//! page as its body, that knows nothing about tokens; but the request is too large, and the solution is the same.
//!
//! Only what the provider itself says about the error counts, not what it may quote from the request: a conversation
//! may be about overflows.

mod phrases;

use std::fmt::Write;

use serde_json::Value;

use phrases::{NAMES, NOT, WORDINGS, Wording};

/// An overflow as a provider reported it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedOverflow {
    /// The tokens counted against the limit: the prompt, and the reserved response where the provider counts it too.
    pub used: Option<u64>,
    /// The limit, in tokens.
    pub limit: Option<u64>,
}

/// Fields with the message of an error.
const SAID: [&str; 9] =
    ["message", "msg", "detail", "details", "error", "raw", "error_description", "status_msg", "reason"];

/// Fields with the name of an error.
const CALLED: [&str; 3] = ["type", "code", "status"];

/// Statuses that no overflow has: wrong key, no money, not allowed, not found, too many requests.
const OTHERWISE: [u16; 5] = [401, 402, 403, 404, 429];

/// The longest distance between a marker and its number.
const REACH: usize = 16;

/// Decides from the status and body of a response whether the prompt did not fit.
///
/// ```
/// use secateur_engine::provider::{ReportedOverflow, read_overflow};
///
/// let body = r#"{"type":"error","error":{"type":"invalid_request_error",
///     "message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
/// assert_eq!(read_overflow(400, body), Some(ReportedOverflow { used: Some(210_000), limit: Some(200_000) }));
/// assert_eq!(read_overflow(429, body), None);
/// ```
pub fn read_overflow(status: u16, body: &str) -> Option<ReportedOverflow> {
    if status < 400 || OTHERWISE.contains(&status) {
        return None;
    }
    let said = ErrorText::read(body);
    if NOT.iter().any(|phrase| said.words.contains(phrase)) {
        return None;
    }
    if let Some(wording) = WORDINGS.iter().find(|wording| said.words.contains(wording.phrase)) {
        return Some(said.numbers(wording));
    }
    let is_named = said.names.iter().any(|name| NAMES.contains(&name.as_str()));
    (status == 413 || is_named).then(ReportedOverflow::default)
}

/// The texts and names of an error, in lower case.
#[derive(Default)]
struct ErrorText {
    words: String,
    names: Vec<String>,
}

impl ErrorText {
    fn read(body: &str) -> Self {
        let mut said = Self::default();
        match serde_json::from_str::<Value>(body) {
            Ok(value) => said.collect("message", &value),
            Err(_) => said.words = body.to_lowercase(),
        }
        said
    }

    /// Collects what is under this key. Lists and objects are searched recursively; the parser limits their depth.
    fn collect(&mut self, key: &str, value: &Value) {
        match value {
            Value::Array(list) => list.iter().for_each(|value| self.collect(key, value)),
            Value::Object(map) => map.iter().for_each(|(key, value)| self.collect(key, value)),
            Value::String(text) if SAID.contains(&key) => {
                self.words.push_str(&text.to_lowercase());
                self.words.push('\n');
            }
            Value::String(text) if CALLED.contains(&key) => self.names.push(text.to_lowercase()),
            // llama.cpp has its numbers in separate fields.
            Value::Number(number) if matches!(key, "n_prompt_tokens" | "n_ctx") => {
                let _ = writeln!(self.words, "{key} = {number}");
            }
            _ => {}
        }
    }

    fn numbers(&self, wording: &Wording) -> ReportedOverflow {
        let first = |markers: &[&str]| markers.iter().find_map(|marker| number_after(&self.words, marker));
        ReportedOverflow { used: first(wording.used), limit: first(wording.limit) }
    }
}

/// The number after a marker: `12345`, `12,345` or a sum, `12345 + 678`.
fn number_after(text: &str, marker: &str) -> Option<u64> {
    let (_, rest) = text.split_once(marker)?;
    let start = rest.find(|char: char| char.is_ascii_digit()).filter(|&start| start <= REACH)?;
    let (number, rest) = read_number(rest.get(start..)?)?;
    match rest.strip_prefix(" + ").and_then(read_number) {
        Some((more, _)) => number.checked_add(more),
        None => Some(number),
    }
}

fn read_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != ',').unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.replace(',', "").parse().ok()?, rest))
}

#[cfg(test)]
mod tests;
