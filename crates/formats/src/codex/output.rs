//! What a Codex tool answered: how long its text is, and whether the command succeeded.
//!
//! Codex has no field for an exit code. Newer outputs begin with a few lines about the process, older ones are JSON
//! that was put into a string, `{"output":…,"metadata":{"exit_code":…}}`; of those only the inner output is what the
//! tool said.

use memchr::memmem;
use secateur::{Measures, Sizes};

use crate::content::{self, Piece};
use crate::json::fields::{object, raw_fields};
use crate::json::{Raw, decode};
use crate::sizes;

/// What an output tells about itself.
pub(super) struct Reading {
    pub sizes: Sizes,
    /// The command ended with another exit code than 0.
    pub failed: bool,
}

raw_fields!(
    /// An output inside a string.
    Wrapped { output: "output", metadata: "metadata" }
);
raw_fields!(
    /// What a wrapped output says about its command.
    Metadata { exit: "exit_code" }
);

/// Reads a raw output: a string, or a list of blocks.
pub(super) fn read(raw: &str, measures: &Measures) -> Reading {
    if raw.starts_with("\"{")
        && let Some(reading) = unwrap(raw, measures)
    {
        return reading;
    }
    let failed = match *content::pieces(raw) {
        [Piece::Text(literal), ..] => is_failure(literal),
        _ => false,
    };
    Reading { sizes: content::sizes(raw, measures), failed }
}

fn unwrap(raw: &str, measures: &Measures) -> Option<Reading> {
    let inner = decode(raw);
    let wrapped = object::<Wrapped<'_>>(&inner).ok()??;
    let output = wrapped.output.filter(|output| output.is_string())?;
    let metadata = object::<Metadata<'_>>(wrapped.metadata?.text()).ok()??;
    let sizes = Sizes { bytes: raw.len() as u64, ..sizes::of_string(output.text(), measures) };
    Some(Reading { sizes, failed: metadata.exit.and_then(Raw::as_i64).is_some_and(|exit| exit != 0) })
}

/// Whether the lines before the output proper tell of an exit code other than 0. They contain nothing that JSON
/// escapes but line ends, so the literal need not be decoded.
fn is_failure(literal: &str) -> bool {
    const HEADER: usize = 600;
    let start = literal.as_bytes().get(..HEADER).unwrap_or(literal.as_bytes());
    let end = memmem::find(start, br"\nOutput:").unwrap_or(start.len());
    let header = start.get(..end).unwrap_or_default();
    let code = ["Process exited with code ", "Exit code: "].into_iter().find_map(|label| {
        let at = memmem::find(header, label.as_bytes())? + label.len();
        header.get(at..)
    });
    code.is_some_and(|code| {
        let digits = code.strip_prefix(b"-").unwrap_or(code);
        digits.iter().take_while(|digit| digit.is_ascii_digit()).any(|&digit| digit != b'0')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(raw: &str) -> bool {
        read(raw, &Measures::default()).failed
    }

    #[test]
    fn an_exit_code_is_found_in_the_lines_before_the_output() {
        assert!(failed(r#""Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno""#));
        assert!(failed(r#""Exit code: 127\nWall time: 0 seconds\nOutput:\n""#));
        assert!(failed(r#""Process exited with code -1""#));
        assert!(failed(r#"[{"type":"input_text","text":"Process exited with code 10\nOutput:\n"}]"#));
        assert!(!failed(r#""Process exited with code 0\nOutput:\nProcess exited with code 1""#));
        assert!(!failed(r#""Wall time: 1\nOutput:\nExit code: 1""#));
        assert!(!failed("null"));
    }

    #[test]
    fn json_inside_a_string_counts_with_its_output_only() {
        let raw = r#""{\"output\":\"two\\nlines\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}""#;
        let reading = read(raw, &Measures::default());
        assert!(reading.failed);
        assert_eq!((reading.sizes.points, reading.sizes.bytes), (9, raw.len() as u64));
        // Other JSON is text like any other.
        let reading = read(r#""{\"output\":\"x\"}""#, &Measures::default());
        assert_eq!((reading.failed, reading.sizes.points), (false, 14));
    }
}
