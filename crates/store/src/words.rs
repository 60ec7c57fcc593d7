//! The words of a text, for searching.
//!
//! Both databases have text search, but each splits texts differently. To give the same results in both, texts are
//! split here, and the databases only compare words.
//!
//! A word is a run of letters, digits and underscores; case does not matter. `src/big_file.rs` has the words `src`,
//! `big_file` and `rs`. Parts of identifiers are words too: `big` and `file`, and likewise for `bigFile`. Scripts
//! without spaces are split character by character.

use std::borrow::Cow;
use std::collections::HashSet;

/// The most bytes of a word that are compared.
const LONGEST: usize = 64;

/// The most bytes of words that are stored for one text; PostgreSQL allows four times that. Each word is stored once,
/// so this covers a text of several megabytes.
const MOST: usize = 256 << 10;

/// The most words of a query that count.
const QUESTION: usize = 32;

/// The distinct words of a text, separated by spaces, each behind the mark of its tenant.
pub(crate) fn vocabulary(mark: &str, text: &str) -> String {
    let mut known: HashSet<String> = HashSet::new();
    let mut vocabulary = String::new();
    for (_, word) in words(text) {
        for word in pieces(word) {
            let word = normal(word);
            if vocabulary.len() + mark.len() + word.len() >= MOST {
                return vocabulary;
            }
            if !known.contains(word.as_ref()) {
                vocabulary.push_str(if vocabulary.is_empty() { "" } else { " " });
                vocabulary.push_str(mark);
                vocabulary.push_str(&word);
                known.insert(word.into_owned());
            }
        }
    }
    vocabulary
}

/// The distinct words of a query. A text must contain all of them.
pub(crate) fn asked(question: &str) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    for (_, word) in words(question) {
        let word = normal(word);
        if !asked.iter().any(|known| *known == word) {
            asked.push(word.into_owned());
        }
        if asked.len() == QUESTION {
            break;
        }
    }
    asked
}

/// Finds the words of a query in a text: the byte position of each occurrence, and the index of the query word.
///
/// ```
/// let positions: Vec<_> = secateur_store::word_positions("The Pump of pump_house", "pump of").collect();
/// assert_eq!(positions, [(4, 0), (9, 1), (12, 0)]);
/// ```
pub fn word_positions(text: &str, question: &str) -> impl Iterator<Item = (usize, usize)> {
    let asked = asked(question);
    words(text).filter_map(move |(at, word)| {
        let found = pieces(word).find_map(|piece| asked.iter().position(|asked| *asked == normal(piece)));
        Some((at, found?))
    })
}

/// The words of a text with their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let next = move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(is_part)?;
        let word = text.get(start..)?;
        let first = word.chars().next()?;
        let length = match stands_alone(first) {
            true => first.len_utf8(),
            false => word.find(|sign| !is_part(sign) || stands_alone(sign)).unwrap_or(word.len()),
        };
        at = start + length;
        Some((start, word.get(..length)?))
    };
    std::iter::from_fn(next).filter(|(_, word)| word.bytes().any(|byte| byte != b'_'))
}

/// A word and its parts.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    let piece = move || {
        rest = rest.trim_start_matches('_');
        let mut before = '_';
        let is_joint = |sign: char| {
            let is_joint = sign == '_' || sign.is_uppercase() && !before.is_uppercase() && before != '_';
            before = sign;
            is_joint
        };
        let (piece, others) = rest.split_at(rest.find(is_joint).unwrap_or(rest.len()));
        rest = others;
        (!piece.is_empty()).then_some(piece)
    };
    std::iter::once(word).chain(std::iter::from_fn(piece).filter(move |piece| piece.len() < word.len()))
}

/// A word as it is compared.
fn normal(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    let mut normal = match word.bytes().all(is_plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(word.to_lowercase()),
    };
    if normal.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&end| normal.is_char_boundary(end)).unwrap_or(0);
        normal = Cow::Owned(normal.get(..end).unwrap_or_default().to_owned());
    }
    normal
}

fn is_part(sign: char) -> bool {
    sign == '_' || sign.is_alphanumeric()
}

/// Whether a character belongs to a script without spaces: Chinese and Japanese.
fn stands_alone(sign: char) -> bool {
    matches!(sign, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn identifiers_are_whole_words_and_their_parts() {
        assert_eq!(vocabulary("", "src/big_file.rs:12"), "src big_file big file rs 12");
        assert_eq!(
            vocabulary("", "fn readAll(HTTPServer, __init__)"),
            "fn readall read all httpserver __init__ init"
        );
        assert_eq!(asked("Foo_Bar, foo_bar; src/lib.rs"), ["foo_bar", "src", "lib", "rs"]);
    }

    #[test]
    fn other_scripts_have_words_too() {
        assert_eq!(vocabulary("", "Größe СЛОВО 修剪枝"), "größe слово 修 剪 枝");
        assert_eq!(asked("枝剪"), ["枝", "剪"]);
    }

    #[test]
    fn what_is_no_word_asks_for_nothing() {
        assert_eq!(asked(" \"' OR 1=1; -- * ^ ( ) : & | ! <-> ___ \0"), ["or", "1"]);
        assert_eq!(asked("… _ \0 *"), [""; 0]);
        assert_eq!(vocabulary("", ""), "");
    }

    #[test]
    fn texts_and_questions_have_bounds() {
        let many: String = (0..100_000).map(|n| format!("{n} ")).collect();
        assert!((MOST - 64..MOST).contains(&vocabulary("", &many).len()));
        assert_eq!(asked(&many).len(), QUESTION);
        let long = "é".repeat(1_000);
        assert_eq!(vocabulary("", &long).len(), LONGEST);
        assert_eq!(asked(&long), [vocabulary("", &long)]);
    }

    proptest! {
        #[test]
        fn a_text_has_all_words_that_it_asks_for(text in "(\\PC|[a-zA-Z_ ]){0,60}") {
            let vocabulary = vocabulary("", &text);
            let words: HashSet<&str> = vocabulary.split(' ').collect();
            for word in asked(&text) {
                prop_assert!(words.contains(word.as_str()), "{word:?} of {text:?}");
            }
            for (at, _) in word_positions(&text, &text) {
                prop_assert!(text.is_char_boundary(at));
            }
        }
    }
}
