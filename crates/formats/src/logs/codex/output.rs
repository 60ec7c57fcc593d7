//! The output of a Codex tool: its size, and whether the command succeeded.
//!
//! Codex has no field for an exit code. Newer outputs begin with a few lines about the process. Older ones are JSON inside
//! a string, `{"output":…,"metadata":{"exit_code":…}}`, of which only the inner output is the tool's.

use memchr::memmem;
use secateur::{Measures, Sizes};
use xxhash_rust::xxh3::xxh3_64;

use crate::content::{self, ContentPiece};
use crate::json::{OptionalRaw, decode, object, raw_fields};
use crate::sizes;

pub(super) struct CodexReading {
    pub sizes: Sizes,
    /// The exit code of the command is not 0.
    pub failed: bool,
}

raw_fields! {
    /// An output inside a string.
    CodexWrapped { output: "output", metadata: "metadata" }
    CodexMetadata { exit: "exit_code" }
}

/// Reads a raw output: a string, or a list of blocks.
pub(super) fn read(raw: &str, measures: &Measures) -> CodexReading {
    if raw.starts_with("\"{")
        && let Some(reading) = unwrap(raw, measures)
    {
        return reading;
    }
    let mut sizes = content::sizes(raw, measures);
    let failed = match *content::pieces(raw) {
        [ContentPiece::Text(literal), ..] => {
            if let Some(own) = own_output(literal).filter(|_| measures.source) {
                sizes.source = xxh3_64(own.as_bytes());
            }
            is_failure(literal)
        }
        _ => false,
    };
    CodexReading { sizes, failed }
}

/// The output behind the lines about the process. Those differ each time, so they would hide that two outputs are equal.
fn own_output(literal: &str) -> Option<&str> {
    const MARK: &str = r"\nOutput:\n";
    let header = header(literal);
    let is_process = ["Wall time: ", "Exit code: "]
        .into_iter()
        .any(|label| memmem::find(header, label.as_bytes()).is_some());
    literal.get(header.len()..)?.strip_prefix(MARK).filter(|_| is_process)
}

/// The lines before the output.
fn header(literal: &str) -> &[u8] {
    const LONGEST: usize = 600;
    let start = literal.as_bytes().get(..LONGEST).unwrap_or(literal.as_bytes());
    let end = memmem::find(start, br"\nOutput:").unwrap_or(start.len());
    start.get(..end).unwrap_or_default()
}

fn unwrap(raw: &str, measures: &Measures) -> Option<CodexReading> {
    let inner = decode(raw);
    let wrapped = object::<CodexWrapped<'_>>(&inner).ok()??;
    let output = wrapped.output.if_string()?;
    let metadata = wrapped.metadata?.object::<CodexMetadata<'_>>()?;
    let sizes = Sizes { bytes: raw.len() as u64, ..sizes::of_json(output.text(), measures) };
    Some(CodexReading { sizes, failed: metadata.exit.count() != 0 })
}

/// Whether the lines before the output name an exit code other than 0. JSON escapes nothing in them but line ends, so the
/// literal need not be decoded.
fn is_failure(literal: &str) -> bool {
    let header = header(literal);
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
    fn an_output_that_comes_twice_is_known_as_one() {
        let source = |raw: &str| read(raw, &Measures { source: true, ..Measures::default() }).sizes.source;
        let one = source(
            r#""Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nfn main()""#,
        );
        let two = source(
            r#""Chunk ID: b\nWall time: 12.5 seconds\nProcess exited with code 0\nOutput:\nfn main()""#,
        );
        assert_eq!(one, two);
        assert_ne!(one, source(r#""Wall time: 1 seconds\nOutput:\nfn other()""#));
        assert_ne!(source(r#""a\nOutput:\nx""#), source(r#""b\nOutput:\nx""#));
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
