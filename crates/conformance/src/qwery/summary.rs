//! Qwery's cut of a summary that came out too long.
//!
//! Since April 2026 Qwery keeps at most 300 estimated tokens of a summary. It cuts between sentences,
//! never inside one, and keeps list items whole, so that what is left still reads as text.
//!
//! The estimate is the one Qwery prunes by: UTF-16 units divided by 3.6, rounded up, at most 50,000
//! for one piece. White space is what JavaScript takes for it, which differs from Rust's view in two
//! characters: the byte order mark is white space, "next line" (U+0085) is not.

use secateur::is_js_space;

/// What Qwery allows a summary by default.
pub const MAX_SUMMARY_TOKENS: u64 = 300;

const UNITS_PER_TOKEN: f64 = 3.6;
const MAX_TOKENS_PER_PIECE: f64 = 50_000.0;

/// Keeps the leading pieces of `text` whose estimates add up to at most `max_tokens`.
///
/// A piece is a list item (a line that starts with `- ` or `* `) or a sentence; pieces are joined by
/// line feeds, so a paragraph comes out with one sentence to a line. An empty line costs nothing and
/// is kept once something precedes it.
pub fn truncate_summary(text: &str, max_tokens: u64) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut spent = 0;
    for line in text.split('\n') {
        let line = line.trim_end_matches(is_js_space);
        if line.is_empty() && !kept.is_empty() {
            kept.push("");
        }
        for piece in split_line(line) {
            spent += estimate_tokens(piece);
            if spent > max_tokens {
                return kept.join("\n");
            }
            kept.push(piece);
        }
    }
    kept.join("\n")
}

fn split_line(line: &str) -> Vec<&str> {
    if line.is_empty() {
        Vec::new()
    } else if line.starts_with("- ") || line.starts_with("* ") {
        vec![line]
    } else {
        split_sentences(line)
    }
}

/// A sentence ends after a full stop, exclamation or question mark that white space follows.
fn split_sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = line;
    let mut searched = 0;
    while let Some(found) = rest.get(searched..).and_then(|tail| tail.find(['.', '!', '?'])) {
        let end = searched + found + 1;
        let (sentence, tail) = rest.split_at(end);
        let next = tail.trim_start_matches(is_js_space);
        if next.len() == tail.len() {
            searched = end;
        } else {
            sentences.push(sentence);
            rest = next;
            searched = 0;
        }
    }
    sentences.push(rest);
    sentences
}

fn estimate_tokens(piece: &str) -> u64 {
    let units = piece.encode_utf16().count() as f64;
    (units / UNITS_PER_TOKEN).ceil().min(MAX_TOKENS_PER_PIECE) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_come_out_one_to_a_line() {
        assert_eq!(truncate_summary("One. Two!  Three? v1.2 four", 99), "One.\nTwo!\nThree?\nv1.2 four");
        assert_eq!(truncate_summary("- item. still the item", 99), "- item. still the item");
    }

    #[test]
    fn the_first_piece_that_does_not_fit_ends_the_summary() {
        // Four units are two tokens: ceil(4 / 3.6).
        assert_eq!(truncate_summary("One. Two. c", 4), "One.\nTwo.");
        assert_eq!(truncate_summary("One. Two. c", 3), "One.");
        assert_eq!(truncate_summary("One.", 0), "");
    }

    #[test]
    fn empty_lines_are_kept_inside_but_not_before() {
        assert_eq!(truncate_summary("\n \na\n\nb \n", 99), "a\n\nb\n");
        assert_eq!(truncate_summary("a\n\nlong enough to go", 1), "a\n");
    }

    #[test]
    fn white_space_is_javascripts() {
        assert_eq!(truncate_summary("a.\u{feff}b.\u{85}c\u{a0}", 99), "a.\nb.\u{85}c");
        assert_eq!(truncate_summary("😀😀 x", 1), "");
    }
}
