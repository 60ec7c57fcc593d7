//! Secrets, and removing them from texts of others.

use std::fmt;

/// The longest message of a provider that is passed on, in characters.
const LONGEST: usize = 400;

/// Shorter secrets are not searched for: they would match by accident.
const SHORTEST: usize = 6;

/// A secret. It can be sent, and nothing else: it has no `Display`, and its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Trims white space around it.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Whether there is nothing in it.
    pub fn is_blank(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, to be sent.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Makes text from outside safe to show.
#[derive(Clone, Default)]
pub(super) struct SecretFilter {
    secrets: Vec<String>,
}

impl SecretFilter {
    /// A filter for these secrets. Of one that begins with a scheme (`Bearer sk-…`), the rest is a secret too.
    pub(super) fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let with_rest = |secret: &'s str| {
            let rest = secret.trim().split_once(char::is_whitespace).map(|(_, rest)| rest.trim());
            [Some(secret), rest].into_iter().flatten()
        };
        let secrets = secrets.into_iter().flat_map(with_rest);
        let mut secrets: Vec<_> =
            secrets.filter(|secret| secret.len() >= SHORTEST).map(str::to_owned).collect();
        // The longest first, so that a secret that contains another is removed as a whole.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// The text without secrets and control characters, on one line, at most 400 characters of it.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret) {
                text = text.replace(secret, "[secret]");
            }
        }
        let visible = |char: &char| !char.is_control() && !is_direction(*char);
        let words = text.split_whitespace().map(|word| word.chars().filter(visible).collect());
        let line = words.filter(|word: &String| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LONGEST).and_then(|(end, _)| line.get(..end)) {
            Some(start) => format!("{}…", start.trim_end()),
            None => line,
        }
    }
}

/// Characters that reorder a line on a screen, so that a text can look like another.
fn is_direction(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show() {
        assert_eq!(format!("{:?}", Secret::new("sk-abcdef")), "[secret]");
        let censor = SecretFilter::new(["sk-abc", "sk-abcdef"]);
        assert_eq!(censor.clean("no key sk-abcdef, no sk-abc"), "no key [secret], no [secret]");
    }

    #[test]
    fn a_token_does_not_show_without_its_scheme_either() {
        let censor = SecretFilter::new(["Bearer sk-abcdef", "Basic x"]);
        assert_eq!(censor.clean("Bearer sk-abcdef: no sk-abcdef, x"), "[secret]: no [secret], x");
    }

    #[test]
    fn a_short_secret_is_not_looked_for() {
        assert_eq!(SecretFilter::new(["", "a"]).clean("a banana"), "a banana");
    }

    #[test]
    fn control_characters_are_removed_and_lines_joined() {
        let censor = SecretFilter::new([]);
        assert_eq!(censor.clean("\u{1b}[31mred\u{7}\n\n  and\t\u{202e}blue\0"), "[31mred and blue");
        assert_eq!(censor.clean("\u{1} \u{2}"), "");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let censor = SecretFilter::new([]);
        assert_eq!(censor.clean(&"ä".repeat(400)).chars().count(), 400);
        let cut = censor.clean(&"ä".repeat(401));
        assert_eq!((cut.chars().count(), cut.ends_with("ä…")), (401, true));
        let cut = censor.clean(&"ab ".repeat(200));
        assert_eq!((cut.chars().count(), cut.ends_with('…')), (401, true));
    }
}
