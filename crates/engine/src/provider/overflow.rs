//! Whether a provider says that the prompt does not fit.
//!
//! There is no standard for that. Some providers give the error a name, most say it in a sentence, and each in
//! another one. What they say matters: an overflow is answered by sending less, any other refusal is not. So
//! everything that is known about their wording is here, as a table, with the numbers where a sentence has some.
//!
//! What is *not* an overflow, although it sounds like one:
//!
//! * too many tokens in a minute: less now or the same later would both do, and the window is not the matter;
//! * an answer asked for that is longer than the model's longest: the prompt may fit well.
//!
//! If prompt and answer only together do not fit, that is an overflow: less prompt helps.
//!
//! Status 413 is one whoever it comes from, unless it speaks of tokens in a minute. It may be a proxy on the way, with
//! a web page for an error, that has never heard of tokens. But it has said that the request is too large, and the
//! remedy is the same.
//!
//! Only words that the provider says about the error are looked at, not what it may quote of the request: a
//! conversation may well be about overflows.

mod phrases;

use std::fmt::Write;

use serde_json::Value;

use phrases::{NAMES, NOT, WORDINGS, Wording};

/// A prompt that does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedOverflow {
    /// What the provider counted against the limit, in tokens: the prompt, and the room for the answer where it
    /// counts that too.
    pub used: Option<u64>,
    /// The limit, in tokens.
    pub limit: Option<u64>,
}

/// What a provider says about an error is in fields of these names.
const SAID: [&str; 9] =
    ["message", "msg", "detail", "details", "error", "raw", "error_description", "status_msg", "reason"];

/// What it calls the error is in fields of these names.
const CALLED: [&str; 3] = ["type", "code", "status"];

/// Statuses that no overflow has: wrong key, no money, not allowed, not found, too many requests.
const OTHERWISE: [u16; 5] = [401, 402, 403, 404, 429];

/// How far behind its marker a number may be.
const REACH: usize = 16;

/// Tells from the status and the body of an answer whether the prompt did not fit.
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

/// What a provider says about an error, in lower case.
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

    /// Takes in what is under this key. Lists and objects are gone into; what they nest is bounded by the parser.
    fn collect(&mut self, key: &str, value: &Value) {
        match value {
            Value::Array(list) => list.iter().for_each(|value| self.collect(key, value)),
            Value::Object(map) => map.iter().for_each(|(key, value)| self.collect(key, value)),
            Value::String(text) if SAID.contains(&key) => {
                self.words.push_str(&text.to_lowercase());
                self.words.push('\n');
            }
            Value::String(text) if CALLED.contains(&key) => self.names.push(text.to_lowercase()),
            // llama.cpp gives its numbers in fields of their own.
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

/// The number behind a marker: `12345`, `12,345` or a sum, `12345 + 678`.
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
