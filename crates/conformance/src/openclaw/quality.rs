//! OpenClaw's check of a summary, as of June 2026.
//!
//! A summary must have five sections, repeat the identifiers of the latest messages literally, and say something about
//! what the user asked last. If it does not, it is asked for again. One without sections is put into a frame that has
//! them.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use secateur::is_js_space;
use secateur_formats::json::utf16_len;
use serde_json::{Value, json};

use super::keywords::{is_stop_word, keywords};
use crate::case::Case;

/// The sections that a summary must have, in this order.
const SECTIONS: [&str; 5] =
    ["## Decisions", "## Open TODOs", "## Constraints/Rules", "## Pending user asks", "## Exact identifiers"];
/// The most identifiers that are looked for.
const MOST_IDENTIFIERS: usize = 12;
/// The most missing identifiers that are named.
const MOST_NAMED: usize = 3;
/// The most words of a request that are looked for.
const MOST_WORDS: usize = 12;
/// From this number of words on, two must be found.
const WORDS_FOR_TWO: usize = 3;

/// Hashes, addresses, paths, hosts and files with a number behind a colon, and long numbers.
static IDENTIFIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[A-Fa-f0-9]{8,}",
        r"|https?://[^\s\x{FEFF}]+",
        r"|/[0-9A-Za-z_.-]{2,}(?:/[0-9A-Za-z_.-]+)+",
        r"|[A-Za-z]:\\[0-9A-Za-z_\\.-]+",
        r"|[A-Za-z0-9._-]+\.[A-Za-z0-9._/-]+:[0-9]{1,5}",
        r"|(?-u:\b)[0-9]{6,}(?-u:\b)",
    ))
    .ok()
});

/// The identifiers in a text, each once, in the order in which they come.
pub fn identifiers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let matches = IDENTIFIER.as_ref().into_iter().flat_map(|pattern| pattern.find_iter(text));
    for identifier in matches.map(|found| spelled(found.as_str())) {
        if utf16_len(&identifier) >= 4 && !found.contains(&identifier) {
            found.push(identifier);
        }
    }
    found.truncate(MOST_IDENTIFIERS);
    found
}

/// An identifier without the punctuation around it; hashes in capitals.
fn spelled(found: &str) -> String {
    let bare = found
        .trim_matches(is_js_space)
        .trim_start_matches(['(', '"', '\'', '`', '[', '{', '<'])
        .trim_end_matches([')', ']', '"', '\'', '`', ',', ';', ':', '.', '!', '?', '<', '>']);
    if is_hash(bare) { bare.to_ascii_uppercase() } else { bare.to_owned() }
}

fn is_hash(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn lines(summary: &str) -> impl Iterator<Item = &str> {
    summary.split('\n').map(|line| line.trim_matches(is_js_space)).filter(|line| !line.is_empty())
}

/// Whether a summary has all sections, in their order.
pub fn has_sections(summary: &str) -> bool {
    let mut lines = lines(summary);
    SECTIONS.iter().all(|section| lines.any(|line| line == *section))
}

/// A summary with all sections: the text itself, or a frame around it.
pub fn framed(summary: &str) -> String {
    let summary = summary.trim_matches(is_js_space);
    if has_sections(summary) {
        return summary.to_owned();
    }
    let decided = if summary.is_empty() { "No prior history." } else { summary };
    let contents = [decided, "None.", "None.", "None.", "None captured."];
    let sections = SECTIONS.iter().zip(contents).map(|(section, content)| format!("{section}\n{content}"));
    sections.collect::<Vec<_>>().join("\n\n")
}

/// Whether identifiers must be repeated literally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifierPolicy {
    /// They must.
    Strict,
    /// They need not.
    Loose,
}

/// What is wrong with a summary, in OpenClaw's words.
pub fn faults(
    summary: &str,
    identifiers: &[String],
    latest_ask: Option<&str>,
    policy: IdentifierPolicy,
) -> Vec<String> {
    let present: HashSet<&str> = lines(summary).collect();
    let missing = SECTIONS.iter().filter(|section| !present.contains(**section));
    let mut faults: Vec<String> = missing.map(|section| format!("missing_section:{section}")).collect();
    if policy == IdentifierPolicy::Strict {
        let missing = identifiers.iter().filter(|identifier| !repeats(summary, identifier));
        let named: Vec<&str> = missing.take(MOST_NAMED).map(String::as_str).collect();
        if !named.is_empty() {
            faults.push(format!("missing_identifiers:{}", named.join(",")));
        }
    }
    if !reflects(summary, latest_ask.unwrap_or_default()) {
        faults.push("latest_user_ask_not_reflected".to_owned());
    }
    faults
}

fn repeats(summary: &str, identifier: &str) -> bool {
    if is_hash(identifier) {
        summary.to_uppercase().contains(&identifier.to_ascii_uppercase())
    } else {
        summary.contains(identifier)
    }
}

/// Whether a summary has enough of the words of a request.
fn reflects(summary: &str, ask: &str) -> bool {
    let mut asked = words(ask);
    asked.truncate(MOST_WORDS);
    let weighty: Vec<&String> =
        asked.iter().filter(|word| utf16_len(word) > 1 && !is_stop_word(word)).collect();
    let wanted = if weighty.is_empty() { asked.iter().collect() } else { weighty };
    if wanted.is_empty() {
        return true;
    }
    let told: HashSet<String> = words(summary).into_iter().collect();
    let found = wanted.iter().filter(|word| told.contains(**word)).count();
    found >= if wanted.len() >= WORDS_FOR_TWO { 2 } else { 1 }
}

/// The words of a text that say what it is about; all of them if none does.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let found = keywords(&text);
    if !found.is_empty() {
        return found;
    }
    let mut all: Vec<String> = Vec::new();
    for word in text.split(|point: char| !point.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !all.iter().any(|known| known == word) {
            all.push(word.to_owned());
        }
    }
    all
}

/// Runs a recorded check.
pub(super) fn run(case: &Case) -> Value {
    let text = |key: &str| case.get(key).as_str();
    let summary = text("summary").unwrap_or_default();
    let identifiers = identifiers(text("source").unwrap_or_default());
    let policy = match text("identifierPolicy") {
        None | Some("strict") => IdentifierPolicy::Strict,
        Some(_) => IdentifierPolicy::Loose,
    };
    let faults = faults(summary, &identifiers, text("latestAsk"), policy);
    json!({
        "identifiers": identifiers,
        "audit": { "ok": faults.is_empty(), "reasons": faults },
        "sections": has_sections(summary),
        "fallback": framed(summary),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_lose_the_punctuation_around_them() {
        let text =
            "see (/usr/bin/env), https://a.b/c. and 0xdeadbeef; C:\\x\\y.txt, foo.rs:12 1234567 12345 /a";
        let expected = ["/usr/bin/env", "https://a.b/c", "DEADBEEF", "C:\\x\\y.txt", "foo.rs:12", "1234567"];
        assert_eq!(identifiers(text), expected);
    }

    #[test]
    fn a_summary_is_framed_unless_it_has_all_sections() {
        let whole = framed("done");
        assert!(whole.starts_with("## Decisions\ndone\n\n## Open TODOs\nNone.") && has_sections(&whole));
        assert_eq!(framed(&format!("\n{whole}  ")), whole);
        assert!(framed("").contains("No prior history."));
        let reversed: String = SECTIONS.iter().rev().map(|section| format!("{section}\n")).collect();
        assert!(!has_sections(&reversed), "the order counts");
    }

    #[test]
    fn what_is_missing_is_named() {
        let summary = framed("the parser was fixed");
        let strict = |ask: &str, identifier: &str| {
            faults(&summary, &[identifier.to_owned()], Some(ask), IdentifierPolicy::Strict)
        };
        assert_eq!(strict("look at the parser", "DEADBEEF"), ["missing_identifiers:DEADBEEF"]);
        assert_eq!(strict("deploy", "parser"), ["latest_user_ask_not_reflected"]);
        assert!(strict("", "parser").is_empty());
        let loose = faults("", &["x".to_owned()], None, IdentifierPolicy::Loose);
        assert_eq!(loose.len(), SECTIONS.len());
    }
}
