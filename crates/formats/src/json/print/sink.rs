//! The two ends of printing: a text, or its length alone.
//!
//! Brackets, words and numbers are the same for both. Strings are where they part: the text copies a literal
//! from escape to escape, the length counts it whole and takes off what the few escapes that print shorter
//! save. A property test holds the two together.

use super::Printer;
use crate::json::count::{self, TextSize};
use crate::json::string::{self, Escape, EscapeMeaning};

/// Where printed pieces go.
pub(super) trait Sink {
    /// A bracket, a word, a number.
    fn ascii(&mut self, text: &str);

    /// A text that is no JSON and stays as it is.
    fn foreign(&mut self, text: &str, printer: Printer);

    /// A string literal, to be printed as the printer spells it.
    fn literal(&mut self, raw: &str, printer: Printer);
}

/// Keeps the pieces.
pub(super) struct Text(pub(super) String);

impl Sink for Text {
    fn ascii(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn foreign(&mut self, text: &str, _: Printer) {
        self.0.push_str(text);
    }

    fn literal(&mut self, raw: &str, printer: Printer) {
        let mut rest = raw;
        while let Some((before, escape)) = string::split_at_escape(rest) {
            let spelled = rest.get(before.len()..).unwrap_or_default();
            let (escape_text, after) = spelled.split_at_checked(escape.len).unwrap_or((spelled, ""));
            self.0.push_str(before);
            match escape.meaning {
                EscapeMeaning::Same => self.0.push_str(escape_text),
                EscapeMeaning::Slash => self.0.push('/'),
                EscapeMeaning::Pair(letter) => self.0.push(letter),
                EscapeMeaning::Unit(unit) => push_unit(&mut self.0, unit, printer),
            }
            rest = after;
        }
        self.0.push_str(rest);
    }
}

/// Counts the pieces.
pub(super) struct Length(pub(super) u64);

impl Sink for Length {
    fn ascii(&mut self, text: &str) {
        self.0 += text.len() as u64;
    }

    fn foreign(&mut self, text: &str, printer: Printer) {
        self.0 += measure(&TextSize::of(text.as_bytes()), printer);
    }

    fn literal(&mut self, raw: &str, printer: Printer) {
        let bytes = raw.as_bytes();
        let (mut saved, mut past) = (0, 0);
        let (size, _) = count::tally(bytes, |at| {
            let escape = Escape::at(bytes, at);
            if at < past {
                return;
            }
            past = at + escape.len;
            saved += match (escape.meaning, printer) {
                (EscapeMeaning::Same, _) => 0,
                (EscapeMeaning::Slash, _) => 1,
                (EscapeMeaning::Pair(_), Printer::JavaScript) => 10,
                (EscapeMeaning::Pair(_), Printer::Python | Printer::Compact) => 11,
                (EscapeMeaning::Unit(unit), _) => 6 - unit_len(unit, printer),
            };
        });
        self.0 += measure(&size, printer).saturating_sub(saved);
    }
}

/// A length in the printer's own measure.
fn measure(size: &TextSize, printer: Printer) -> u64 {
    match printer {
        Printer::JavaScript => size.units(),
        Printer::Python | Printer::Compact => size.points,
    }
}

/// Appends a unit that was given as `\uXXXX` and is no half of a pair, as the printer spells it.
fn push_unit(text: &mut String, unit: u16, printer: Printer) {
    let coded;
    text.push_str(match (unit, printer) {
        (0x08, _) => "\\b",
        (0x09, _) => "\\t",
        (0x0A, _) => "\\n",
        (0x0C, _) => "\\f",
        (0x0D, _) => "\\r",
        (0x22, _) => "\\\"",
        (0x5C, _) => "\\\\",
        (0..0x20, _) | (0xD800..=0xDFFF, Printer::JavaScript) => {
            coded = format!("\\u{unit:04x}");
            &coded
        }
        _ => return text.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER)),
    });
}

/// The length of what [`push_unit`] appends, in either measure.
fn unit_len(unit: u16, printer: Printer) -> u64 {
    match (unit, printer) {
        (0x08 | 0x09 | 0x0A | 0x0C | 0x0D | 0x22 | 0x5C, _) => 2,
        (0..0x20, _) | (0xD800..=0xDFFF, Printer::JavaScript) => 6,
        _ => 1,
    }
}
