//! The excerpt of a cut result: its definitions and headings, so that the model knows what it could recall.
//!
//! What is missed most of a file that was cut is the names in it. Definitions and headings can be recognised by how a
//! line begins, without knowing the language, and a few hundred characters of them cost little.

use std::fmt::Write as _;

/// Results of fewer characters have no excerpt.
const LEAST: u64 = 1_000;

/// The longest excerpt, in UTF-16 units.
const MOST: usize = 400;

/// The most that is taken of one line, in UTF-16 units.
const LINE: usize = 80;

/// How a line with a definition or heading begins.
const STARTS: [&str; 26] = [
    "fn ",
    "pub ",
    "func ",
    "def ",
    "class ",
    "struct ",
    "enum ",
    "interface ",
    "type ",
    "export ",
    "const ",
    "impl ",
    "trait ",
    "function ",
    "async ",
    "public ",
    "private ",
    "var ",
    "let ",
    "# ",
    "## ",
    "### ",
    "test(",
    "test (",
    "describe(",
    "describe (",
];

/// The definitions and headings of a text, one per line; empty for a short text.
///
/// ```
/// let text = format!("     1\tuse std::fmt;\n     2\tpub fn main() {{\n{}", "     3\t    work();\n".repeat(60));
/// assert_eq!(secateur::excerpt(&text), "pub fn main() {");
/// assert_eq!(secateur::excerpt("pub fn main() {}"), "");
/// ```
pub fn excerpt(text: &str) -> String {
    let mut excerpt = String::new();
    if (text.len() as u64) < LEAST || (units(text) as u64) < LEAST {
        return excerpt;
    }
    let mut length = 0;
    for line in text.lines() {
        let line = named(line);
        if !STARTS.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let line = beginning(line, LINE);
        let joint = usize::from(length > 0);
        let room = MOST.saturating_sub(length + joint);
        let line = beginning(line, room);
        if line.is_empty() {
            break;
        }
        // Writing to a string does not fail.
        _ = write!(excerpt, "{}{line}", if joint == 1 { "\n" } else { "" });
        length += joint + units(line);
    }
    excerpt
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// A line without white space around it and without the line number that tools put before it.
fn named(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    if rest.len() == line.len() {
        return line;
    }
    let rest = rest.strip_prefix(['\t', ':', '|', '→', '-']).or_else(|| rest.strip_prefix("  "));
    rest.map_or(line, str::trim)
}

/// As much of a line as fits.
fn beginning(line: &str, most: usize) -> &str {
    let mut length = 0;
    let end = line.char_indices().find(|(_, sign)| {
        length += sign.len_utf16();
        length > most
    });
    end.map_or(line, |(at, _)| line.get(..at).unwrap_or_default()).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(lines: &str) -> String {
        format!("{lines}\n{}", "nothing to see here\n".repeat(60))
    }

    #[test]
    fn line_numbers_of_all_tools_are_passed_over() {
        for numbered in ["12\tdef a():", " 12→def a():", "12: def a():", "00012| def a():", "  12  def a():"]
        {
            assert_eq!(excerpt(&long(numbered)), "def a():", "{numbered}");
        }
        assert_eq!(excerpt(&long("12 def a():")), "");
    }

    #[test]
    fn lines_and_the_whole_are_bounded() {
        let text = long(&format!("class {}\n", "x".repeat(500)).repeat(20));
        let excerpt = excerpt(&text);
        assert!(excerpt.lines().all(|line| line.len() <= LINE), "{excerpt}");
        assert!((300..=MOST).contains(&units(&excerpt)));
        assert_eq!(super::excerpt(&long(&format!("# {}", "𝄞".repeat(100)))), format!("# {}", "𝄞".repeat(39)));
    }
}
