//! Text from outside, made harmless and short enough to keep.
//!
//! What a ledger keeps is later shown to a model beside our own headings, and stored as JSON. So text is cleaned
//! once, on arrival: no terminal colours, no control characters, no line ends but `\n`, nothing invisible that could
//! make one text look like another. Lengths are [weights](weight), the bytes that a text takes as JSON, so that
//! limits apply to what is stored.

/// What marks an omission.
pub(super) const GAP: &str = "…";

/// The visible text, with `\n` for every line end.
pub(super) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => pass_escape(&mut letters),
            '\r' => {
                if letters.peek() != Some(&'\n') {
                    cleaned.push('\n');
                }
            }
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => cleaned.push('\n'),
            '\t' => cleaned.push('\t'),
            _ if letter.is_control() || is_invisible(letter) => {}
            _ => cleaned.push(letter),
        }
    }
    cleaned
}

/// Skips a terminal escape sequence: one with parameters, a title, or one letter.
fn pass_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.next() {
        Some('[') => {
            letters.find(|letter| ('@'..='~').contains(letter));
        }
        // A title ends with a bell, or with an escape character and a backslash.
        Some(']') => {
            let end = letters.find(|&letter| letter == '\u{7}' || letter == '\u{1b}');
            end.filter(|&end| end == '\u{1b}').and_then(|_| letters.next_if_eq(&'\\'));
        }
        _ => {}
    }
}

/// Characters that change how others look, or that carry invisible text.
fn is_invisible(letter: char) -> bool {
    let marks = matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}');
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    marks || turns || matches!(letter, '\u{e0000}'..='\u{e007f}')
}

/// The text on one line: every run of white space becomes one space.
pub(super) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The bytes that a clean text takes as JSON, without its quotes.
pub(super) fn weight(text: &str) -> usize {
    text.bytes().map(byte_weight).sum()
}

fn byte_weight(byte: u8) -> usize {
    1 + usize::from(matches!(byte, b'"' | b'\\' | b'\n' | b'\t'))
}

/// Tells of each byte in turn whether it makes a text heavier than this.
fn exceeds(most: usize) -> impl FnMut(u8) -> bool {
    let mut left = most;
    move |byte| {
        let own = byte_weight(byte);
        let full = own > left;
        left = left.saturating_sub(own);
        full
    }
}

/// The beginning of a text, of at most this weight.
fn beginning(text: &str, most: usize) -> &str {
    let end = text.bytes().position(exceeds(most));
    end.map_or(text, |end| text.get(..text.floor_char_boundary(end)).unwrap_or_default())
}

/// The end of a text, of at most this weight.
fn ending(text: &str, most: usize) -> &str {
    let start = text.bytes().rposition(exceeds(most));
    start.map_or(text, |at| text.get(text.ceil_char_boundary(at + 1)..).unwrap_or_default())
}

/// A text cut to this weight: its beginning.
pub(super) fn cut(text: &str, most: usize) -> String {
    if weight(text) <= most {
        return text.to_owned();
    }
    let kept = beginning(text, most.saturating_sub(GAP.len()));
    if kept.len() + GAP.len() > most { String::new() } else { format!("{kept}{GAP}") }
}

/// A text cut to this weight: its end, where a path has the name of the file.
pub(super) fn cut_front(text: &str, most: usize) -> String {
    if weight(text) <= most {
        return text.to_owned();
    }
    let kept = ending(text, most.saturating_sub(GAP.len()));
    if kept.len() + GAP.len() > most { String::new() } else { format!("{GAP}{kept}") }
}

/// A text cut to this weight in its middle. People put their request at the beginning or at the end of what they
/// paste.
pub(super) fn cut_middle(text: &str, most: usize) -> String {
    /// Space for the note about the gap.
    const NOTE: usize = 64;
    if weight(text) <= most {
        return text.to_owned();
    }
    let Some(room) = most.checked_sub(NOTE) else { return cut(text, most) };
    let head = beginning(text, room / 3 * 2);
    let tail = ending(text, room / 3);
    let missing = text.chars().count().saturating_sub(head.chars().count() + tail.chars().count());
    format!("{head}\n{GAP} {missing} characters left out {GAP}\n{tail}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_titles_and_invisible_characters_are_gone() {
        assert_eq!(
            clean("\u{1b}[1;31merror\u{1b}[0m: \u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y"),
            "error: xy"
        );
        assert_eq!(clean("a\r\nb\rc\u{2028}d\0\u{202e}\u{e0041}e"), "a\nb\nc\nde");
        assert_eq!(one_line(" a\n\tb "), "a b");
    }

    #[test]
    fn a_long_text_keeps_both_ends_and_says_what_is_missing() {
        let text = format!("begin {} end", "x".repeat(5000));
        let cut = cut_middle(&text, 300);
        assert!(cut.starts_with("begin ") && cut.ends_with(" end") && cut.contains("characters left out"));
    }

    proptest! {
        #[test]
        fn nothing_is_heavier_than_it_may_be(text in "[a\"\\\\\n\té😀]{0,300}", most in 0..400_usize) {
            prop_assert_eq!(weight(&text), serde_json::to_string(&text).unwrap().len() - 2);
            for cut in [cut(&text, most), cut_front(&text, most), cut_middle(&text, most)] {
                prop_assert!(weight(&cut) <= most);
                prop_assert!(weight(&text) > most || cut == text);
            }
        }

        #[test]
        fn cleaning_twice_changes_nothing(text in any::<String>()) {
            let cleaned = clean(&text);
            prop_assert_eq!(clean(&cleaned), &*cleaned);
            prop_assert_eq!(weight(&cleaned), serde_json::to_string(&cleaned).unwrap().len() - 2);
        }
    }
}
