//! Words and lines: the two sizes in which texts are compared.
//!
//! A name is told by its whole, so names are compared as whole words, and only if they are long enough to be telling.
//! Lines are compared without their indentation, which tools change, and without what tools write before them.

/// The shortest word that tells something.
const WORD: usize = 6;

/// The shortest line that tells something.
const LINE: usize = 12;

/// The identifiers of a text that are long enough, as whole words.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + bytes.get(at..)?.iter().position(|&byte| is_word(byte))?;
            let rest = bytes.get(start..)?;
            at = start + rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
            if at - start >= WORD && !rest.first().is_some_and(u8::is_ascii_digit) {
                return text.get(start..at);
            }
        }
    })
}

/// Names of several words with hyphens between them, as files are called, and whether each stands in a path: after a
/// slash or before an extension.
pub(super) fn hyphened(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let hyphen = at + bytes.get(at..)?.iter().position(|&byte| byte == b'-')?;
            let is_part = |byte: &u8| is_word(*byte) || *byte == b'-';
            let before = bytes.get(at..hyphen)?.iter().rev().take_while(|byte| is_word(**byte)).count();
            let length = bytes.get(hyphen..)?.iter().take_while(|byte| is_part(byte)).count();
            let start = hyphen - before;
            at = hyphen + length;
            let name = text.get(start..at)?.trim_end_matches('-');
            if before == 0
                || name.len() < WORD
                || start + name.len() <= hyphen
                || bytes.get(start)?.is_ascii_digit()
            {
                continue;
            }
            let is_after_slash = start > 0 && matches!(bytes.get(start - 1), Some(b'/' | b'\\'));
            let is_before_extension =
                bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic);
            return Some((name, is_after_slash || is_before_extension));
        }
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The lines of a text that tell something, trimmed.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(telling)
}

/// A line without its indentation, if it tells something.
pub(super) fn telling(line: &str) -> Option<&str> {
    let line = line.trim();
    (line.len() >= LINE && line.bytes().any(|byte| byte.is_ascii_alphanumeric())).then_some(line)
}

/// The lines of a result, each as it is and without what tools write before lines: a number, the file with the number,
/// the sign of a diff.
pub(super) fn shown_lines<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    for line in lines(text) {
        each(line);
        if let Some(bare) = numbered(line).and_then(telling) {
            each(bare);
        }
        if let Some(bare) = line.strip_prefix(['+', '-']).and_then(telling) {
            each(bare);
        }
    }
}

/// What follows a line's number: `12→`, `12:`, `12|`, `12-`, `12` and a tab, or `path:12:`.
fn numbered(line: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let after = |text: &'_ str| -> Option<usize> {
        let count = digits(text);
        let sign = text
            .get(count..)?
            .chars()
            .next()
            .filter(|sign| ['→', ':', '|', '-', '\t', '#'].contains(sign))?;
        (count > 0).then_some(count + sign.len_utf8())
    };
    if let Some(start) = after(line) {
        return line.get(start..);
    }
    let (path, rest) = line.split_once([':', '-'])?;
    let start = after(rest).filter(|_| !path.contains(char::is_whitespace))?;
    rest.get(start..)
}
