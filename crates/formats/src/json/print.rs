//! What another language would print for a value, and how long that would be.
//!
//! Several systems estimate the size of a tool call by printing its input again: `JSON.stringify` in
//! JavaScript, `json.dumps` in Python. Neither prints what it read. Whitespace goes or comes, `1.0` becomes
//! `1`, `\/` loses its backslash, keys that look like array indices move to the front, of a repeated key the
//! last value wins. To decide as such a system decides, its number must be met exactly.
//!
//! ```
//! use secateur_formats::json::{Printer, print, printed_len};
//!
//! let raw = r#"{ "path": "src\/lib.rs", "limit": 1e2 }"#;
//! assert_eq!(print(raw, Printer::JavaScript), r#"{"path":"src/lib.rs","limit":100}"#);
//! assert_eq!(print(raw, Printer::Python), r#"{"path": "src/lib.rs", "limit": 100.0}"#);
//! assert_eq!(printed_len(raw, Printer::Python), 38);
//! ```
//!
//! The length does not come from printing. A string's is its raw length, counted at the speed of memory,
//! corrected for the few escapes that print differently. A container is laid out once as a row of tokens
//! that know where their value ends; then members can be reordered or dropped by walking that row, with an
//! explicit stack. Text and length come out of the same walk and differ in the sink alone.

use std::borrow::Cow;
use std::ops::Range;

use sink::{Length, Sink, Text};

use super::walk::{Token, tokens};
use super::{number, string};

mod sink;

/// A way to print. Those of languages are meant with their usual arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Printer {
    /// `JSON.stringify(JSON.parse(raw))`. Lengths are UTF-16 units.
    JavaScript,
    /// `json.dumps(json.loads(raw), ensure_ascii=False)`. Lengths are code points.
    Python,
    /// The shortest: no whitespace, no needless escapes, numbers unchanged. Lengths are code points.
    Compact,
}

/// What the printer prints for a raw JSON value. Where Python would print half of a surrogate pair, there is
/// U+FFFD. A text that is no JSON is returned as it is.
pub fn print(raw: &str, printer: Printer) -> String {
    let mut out = Text(String::with_capacity(raw.len()));
    print_into(&mut out, raw, printer);
    out.0
}

/// The length of what the printer prints for a raw JSON value, in the printer's own measure. A text that is
/// no JSON has its own length.
pub fn printed_len(raw: &str, printer: Printer) -> u64 {
    let mut out = Length(0);
    print_into(&mut out, raw, printer);
    out.0
}

fn print_into(out: &mut impl Sink, raw: &str, printer: Printer) {
    if string::body(raw).is_some() {
        return out.literal(raw, printer);
    }
    match Tape::of(raw) {
        Some(tape) => tape.print_into(out, printer),
        None => out.foreign(raw, printer),
    }
}

/// The tokens of one whole value, each with the position behind the value it begins.
struct Tape<'a>(Vec<(Token<'a>, usize)>);

/// A container whose members are being printed.
struct OpenContainer<'a> {
    members: MembersLeft<'a>,
    close: &'static str,
    separator: &'static str,
}

/// What is left to print of a container: positions on the tape.
enum MembersLeft<'a> {
    Array(Range<usize>),
    Object(std::vec::IntoIter<Member<'a>>),
}

struct Member<'a> {
    /// The same for every spelling of the same key.
    name: Cow<'a, str>,
    /// The key as it is spelled.
    key: &'a str,
    /// Where it is printed: array indices by size, then the others as they come.
    order: (bool, usize),
    /// The position of the value; of a repeated key, the last one's.
    value: usize,
}

impl<'a> Tape<'a> {
    fn of(raw: &'a str) -> Option<Self> {
        let mut walk = tokens(raw);
        let mut tape: Vec<(Token<'a>, usize)> = Vec::new();
        let mut open = Vec::new();
        for (_, token) in walk.by_ref() {
            match token {
                Token::ObjectStart | Token::ArrayStart => open.push(tape.len()),
                Token::ObjectEnd | Token::ArrayEnd => {
                    let end = tape.len() + 1;
                    tape.get_mut(open.pop()?)?.1 = end;
                }
                _ => {}
            }
            tape.push((token, tape.len() + 1));
        }
        walk.is_complete().then_some(Self(tape))
    }

    fn print_into(&self, out: &mut impl Sink, printer: Printer) {
        let (comma, colon) = match printer {
            Printer::JavaScript | Printer::Compact => (",", ":"),
            Printer::Python => (", ", ": "),
        };
        let mut stack = Vec::new();
        stack.extend(self.print_value(0, out, printer));
        while let Some(frame) = stack.last_mut() {
            let Some((key, value)) = frame.members.next(self) else {
                out.ascii(frame.close);
                stack.pop();
                continue;
            };
            out.ascii(frame.separator);
            frame.separator = comma;
            if let Some(key) = key {
                out.literal(key, printer);
                out.ascii(colon);
            }
            stack.extend(self.print_value(value, out, printer));
        }
    }

    /// Prints a simple value, or begins a container and returns what is left of it.
    fn print_value(&self, at: usize, out: &mut impl Sink, printer: Printer) -> Option<OpenContainer<'a>> {
        let &(token, end) = self.0.get(at)?;
        match (token, printer) {
            (Token::String(raw), _) => out.literal(raw, printer),
            (Token::Number(raw), Printer::JavaScript) => out.ascii(&number::javascript(raw)),
            (Token::Number(raw), Printer::Python) => out.ascii(&number::python(raw)),
            _ => out.ascii(token.raw()),
        }
        let (members, close) = match token {
            Token::ObjectStart => (MembersLeft::Object(self.members(at, printer).into_iter()), "}"),
            Token::ArrayStart => (MembersLeft::Array(at + 1..end.saturating_sub(1)), "]"),
            _ => return None,
        };
        Some(OpenContainer { members, close, separator: "" })
    }

    /// The members of the object that begins at `start`, in the printer's order and each key once. Keys are
    /// compared by what JavaScript prints for them: unlike their decoded text, that keeps lone halves of
    /// surrogate pairs apart.
    fn members(&self, start: usize, printer: Printer) -> Vec<Member<'a>> {
        let mut members = Vec::new();
        let mut at = start + 1;
        while let Some(&(Token::Key(key), value)) = self.0.get(at) {
            let name = if key.contains('\\') {
                Cow::Owned(print(key, Printer::JavaScript))
            } else {
                Cow::Borrowed(key)
            };
            let order = match (printer, array_index(&name)) {
                (Printer::JavaScript, Some(index)) => (false, index as usize),
                _ => (true, at),
            };
            members.push(Member { name, key, value, order });
            at = self.0.get(value).map_or(value, |&(_, end)| end);
        }
        // Sorting is stable. Of a repeated name, both languages keep the place of the first and the value of the last.
        members.sort_by(|one, other| one.name.cmp(&other.name));
        members.dedup_by(|later, first| {
            let same = later.name == first.name;
            if same {
                first.value = later.value;
            }
            same
        });
        members.sort_by_key(|member| member.order);
        members
    }
}

impl<'a> MembersLeft<'a> {
    fn next(&mut self, tape: &Tape<'a>) -> Option<(Option<&'a str>, usize)> {
        match self {
            Self::Array(left) => {
                let at = left.start;
                let &(_, behind) = tape.0.get(at).filter(|_| at < left.end)?;
                left.start = behind;
                Some((None, at))
            }
            Self::Object(left) => left.next().map(|member| (Some(member.key), member.value)),
        }
    }
}

/// The array index a key spells, if JavaScript takes it for one: no sign, no leading zero, below 2³² − 1.
fn array_index(name: &str) -> Option<u32> {
    let digits = string::body(name)?;
    let canonical = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|&index| canonical && index < u32::MAX)
}

#[cfg(test)]
mod tests;
