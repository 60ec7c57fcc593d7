//! Names that must be repeated exactly: commits, ids, tickets, URLs, ports, paths.
//!
//! Summarisers get these wrong first: a digit changes, a hash is shortened. They are found by their shape, in
//! messages of the user and the model and in commands. The user's words count most.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::bounded_list::{LedgerEntry, key};
use super::clean_text::weight;

/// A name that must be repeated exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Identifier {
    pub(super) text: String,
    /// How often it was mentioned, weighted by speaker.
    pub(super) mentions: u32,
}

impl Identifier {
    /// How many are shown: enough for the few that matter in a piece of work.
    pub(super) const SHOWN: usize = 24;
    /// The longest that is kept. A cut identifier would be worse than none.
    const LONGEST: usize = 200;
}

impl LedgerEntry for Identifier {
    /// More than are shown, so that a name is still known when it is mentioned again.
    const MOST: usize = 40;
    const WEIGHT: usize = 4_000;

    fn key(&self) -> Option<u64> {
        Some(key(&self.text))
    }

    fn weight(&self) -> usize {
        weight(&self.text)
    }

    fn absorb(&mut self, later: Self) {
        self.mentions = self.mentions.saturating_add(later.mentions);
    }

    fn worth(&self) -> u32 {
        self.mentions
    }
}

/// Who mentioned a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user, who means what is named.
    User,
    /// The model, or a command that it ran.
    Model,
}

/// All shapes in one expression. It uses only ASCII word boundaries, which makes it fast on any text.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const NAMES: &str = r"[A-Za-z0-9_.@+-]+";
    let shapes = [
        r#"https?://[^\s<>"'`|\\^{}\[\]$]+"#.to_owned(),
        r"(?-u:\b)[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?-u:\b)".to_owned(),
        r"(?-u:\b)(?:0x)?[0-9a-f]{7,64}(?-u:\b)".to_owned(),
        r"(?-u:\b)[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}(?:-[0-9]{1,7})?(?-u:\b)".to_owned(),
        format!(r"(?:{NAMES}/{NAMES})?#[0-9]{{1,7}}(?-u:\b)"),
        r"(?-u:\b)(?:localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}):[0-9]{2,5}(?-u:\b)".to_owned(),
        r"(?-u:\b)[Pp]ort[ =:]{1,2}[0-9]{2,5}(?-u:\b)".to_owned(),
        format!(r"(?:~|(?-u:\b)[A-Z]:|/{NAMES})(?:[/\\]{NAMES})+"),
    ];
    Regex::new(&shapes.join("|")).ok()
});

/// Letters before a hyphen and a number that name a standard, not a ticket.
const STANDARDS: [&str; 16] = [
    "UTF", "SHA", "ISO", "GPT", "AES", "MD", "HTTP", "IPV", "RSA", "X86", "UCS", "US", "EN", "V", "P",
    "CLAUDE",
];

/// The names in a text, in the order of their mention.
pub(super) fn find(whole: &str, speaker: Speaker) -> impl Iterator<Item = Identifier> {
    let found = SHAPES.as_ref().into_iter().flat_map(move |shapes| shapes.find_iter(whole));
    found.filter_map(move |found| {
        let text = found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '*', '_']);
        let mentions = match speaker {
            Speaker::User => 3,
            Speaker::Model => 1,
        };
        // A path without white space before it is the rest of a relative path.
        let before = whole.get(..found.start()).and_then(|before| before.chars().next_back());
        let is_rest = found.as_str().starts_with('/') && before.is_some_and(|letter| !is_edge(letter));
        let is_kept = text.len() <= Identifier::LONGEST && !is_rest && is_telling(text, speaker);
        is_kept.then(|| Identifier { text: text.to_owned(), mentions })
    })
}

/// What may precede an absolute path.
fn is_edge(letter: char) -> bool {
    letter.is_whitespace() || "\"'`([{<=:,;|".contains(letter)
}

/// Whether something with the shape of a name is one.
fn is_telling(text: &str, speaker: Speaker) -> bool {
    let has = |test: fn(&u8) -> bool| text.bytes().any(|byte| test(&byte));
    if let Some((_, address)) = text.split_once("://") {
        if [".svg", ".png", ".gif", ".jpg"].iter().any(|end| text.ends_with(end)) {
            return false;
        }
        // A host alone is a brand more often than a URL.
        return speaker == Speaker::User || address.trim_end_matches('/').contains(['/', ':']);
    }
    // The model mentions paths all the time; the important ones are in the list of files.
    if text.starts_with(['/', '~']) || text.get(1..2) == Some(":") {
        return speaker == Speaker::User;
    }
    // Models number their points like this.
    if text.starts_with('#') {
        return speaker == Speaker::User;
    }
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase);
    }
    !text.split('-').next().is_some_and(|letters| STANDARDS.contains(&letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, speaker: Speaker) -> Vec<String> {
        find(text, speaker).map(|identifier| identifier.text).collect()
    }

    #[test]
    fn names_are_found_by_their_shape() {
        let text = "Commit 3fa9c1d fixes PROJ-42 (see https://example.org/a?b=1#c). The run \
                    123e4567-e89b-12d3-a456-426614174000 listens on localhost:8080, port 5432; \
                    look at /srv/app/main.py, at ~/notes/a.md and at owner/repo#17.";
        assert_eq!(
            found(text, Speaker::User),
            [
                "3fa9c1d",
                "PROJ-42",
                "https://example.org/a?b=1#c",
                "123e4567-e89b-12d3-a456-426614174000",
                "localhost:8080",
                "port 5432",
                "/srv/app/main.py",
                "~/notes/a.md",
                "owner/repo#17"
            ]
        );
        assert!(!found(text, Speaker::Model).iter().any(|name| name.contains("/srv")));
    }

    #[test]
    fn words_numbers_and_standards_are_no_identifiers() {
        assert!(
            found(
                "UTF-8 and SHA-256, defaced, 1234567890, and/or, 3/4, src/a/b.rs, https://example.org/a.png",
                Speaker::User
            )
            .is_empty()
        );
    }
}
