//! Names and lines: the two sizes in which texts are compared.
//!
//! Names are compared as whole words, and only if they are long enough to mean something specific.
//! Lines are compared without their indentation, which tools change, and without what tools write before them.

/// The shortest name that is specific.
const NAME: usize = 6;

/// The shortest line that is specific.
const LINE: usize = 12;

/// All names in a text: its words, and those that are made of several words with hyphens.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).chain(hyphened(text).map(|(name, _)| name))
}

/// The names that a tool input uses: words, and names with hyphens where they stand in a path. Elsewhere hyphens are
/// options of commands, or English.
pub(super) fn used_names(text: &str) -> impl Iterator<Item = &str> {
    words(text).chain(hyphened(text).filter_map(|(name, is_path)| is_path.then_some(name)))
}

/// The identifiers of a text that are long enough.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + bytes.get(at..)?.iter().position(|&byte| is_word(byte))?;
            let rest = bytes.get(start..)?;
            at = start + rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
            if at - start >= NAME && !rest.first().is_some_and(u8::is_ascii_digit) {
                return text.get(start..at);
            }
        }
    })
}

/// Names of several words with hyphens between them, as files are called, and whether each stands in a path: after a
/// slash or before an extension.
fn hyphened(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let hyphen = at + bytes.get(at..)?.iter().position(|&byte| byte == b'-')?;
            let before = bytes.get(at..hyphen)?.iter().rev().take_while(|&&byte| is_word(byte)).count();
            let after =
                bytes.get(hyphen..)?.iter().take_while(|&&byte| is_word(byte) || byte == b'-').count();
            let start = hyphen - before;
            at = if before == 0 { hyphen + 1 } else { hyphen + after };
            let name = text.get(start..at)?.trim_end_matches('-');
            let is_name = before > 0 && name.len() > before && name.len() >= NAME;
            if !is_name || name.starts_with(|first: char| first.is_ascii_digit()) {
                continue;
            }
            let is_after_slash = matches!(text.get(..start)?.as_bytes(), [.., b'/' | b'\\']);
            let is_before_extension =
                matches!(bytes.get(at..)?, [b'.', next, ..] if next.is_ascii_alphabetic());
            return Some((name, is_after_slash || is_before_extension));
        }
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The lines of a text that are specific, trimmed.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(specific)
}

/// A line without its indentation, if it is specific.
pub(super) fn specific(line: &str) -> Option<&str> {
    let line = line.trim();
    (line.len() >= LINE && line.bytes().any(|byte| byte.is_ascii_alphanumeric())).then_some(line)
}

/// The lines of a result, each as it is and without what tools write before lines: a number, the file with the number,
/// the sign of a diff.
pub(super) fn shown_lines(text: &str) -> impl Iterator<Item = &str> {
    lines(text).flat_map(|line| {
        let bare = numbered(line).or_else(|| line.strip_prefix(['+', '-'])).and_then(specific);
        std::iter::once(line).chain(bare)
    })
}

/// What follows a line's number: `12→`, `12:`, `12|`, `12-`, `12` and a tab, or `path:12:`.
fn numbered(line: &str) -> Option<&str> {
    let after = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let sign =
            text.get(digits..)?.chars().next().filter(|sign| ['→', ':', '|', '-', '\t'].contains(sign))?;
        (digits > 0).then_some(digits + sign.len_utf8())
    };
    if let Some(start) = after(line) {
        return line.get(start..);
    }
    let (path, rest) = line.split_once([':', '-'])?;
    let start = after(rest).filter(|_| !path.contains(char::is_whitespace))?;
    rest.get(start..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_long_enough() {
        let found: Vec<_> = words("let x9 = self.count_of(12345678, 9abcdefg) + Überlauf_ab;").collect();
        assert_eq!(found, ["count_of", "berlauf_ab"]);
    }

    #[test]
    fn names_with_hyphens_are_used_in_paths() {
        let text =
            "cat --dry-run demo/link-demo.tsx well-known src/new-york -- 2026-01-02 tail- \\a-long-name";
        let all: Vec<_> = hyphened(text).collect();
        let expected = [
            ("dry-run", false),
            ("link-demo", true),
            ("well-known", false),
            ("new-york", true),
            ("a-long-name", true),
        ];
        assert_eq!(all, expected);
        assert_eq!(used_names("x/link-demo.tsx a-b-c-d").collect::<Vec<_>>(), ["link-demo"]);
    }

    #[test]
    fn lines_are_shown_with_and_without_what_tools_add() {
        let bare = "let total = 1;";
        let shown = [
            "let total = 1;",
            "  12→    let total = 1;",
            "src/a.rs:7:let total = 1;",
            "+ let total = 1;",
            "7\tlet total = 1;",
        ];
        for line in shown {
            assert!(shown_lines(line).any(|shown| shown == bare), "{line}");
        }
        assert_eq!(shown_lines("}\n  ----------------\n  short").count(), 0);
    }
}
