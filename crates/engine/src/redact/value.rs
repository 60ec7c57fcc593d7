//! What follows a name: a sign of assignment, and a value.
//!
//! There are many ways to write it: `a=b`, `a: b`, `"a": "b"`, `a := b`, `a => b`, `--a b`, `<a>b</a>`, `a: str =
//! "b"`, `{"name": "a", "value": "b"}`, each possibly escaped once or twice because it is in a JSON string.
//! [`read_value`] finds the value in all of them.

use std::ops::Range;

use super::boundary::run_end;

/// How many bytes of a value are read; enough to tell what it is.
const LONGEST: usize = 256;

/// The most spaces, quotes and backslashes that are skipped in one place.
const FILL: usize = 24;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// In quotes, so it is a text.
    Quoted,
    /// Without quotes, so it may be code.
    Bare,
}

/// A value that was assigned to a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AssignedValue {
    pub(super) range: Range<usize>,
    pub(super) written: Quoting,
}

impl AssignedValue {
    /// All of it, also beyond the bytes that were read.
    pub(super) fn to_end(&self, text: &[u8]) -> Range<usize> {
        let on = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_-.%".contains(byte);
        let cut = self.range.len() >= LONGEST;
        let rest = if cut { text.get(self.range.end..).unwrap_or_default() } else { &[] };
        self.range.start..self.range.end + rest.iter().take_while(on).count()
    }
}

/// The value after the name at `name`.
pub(super) fn read_value(text: &[u8], name: &Range<usize>) -> Option<AssignedValue> {
    let closed = skip(text, name.end, |byte| b"\\\"'`]*?".contains(&byte));
    let quoted = text.get(name.end..closed)?.iter().any(|byte| b"\"'`".contains(byte));
    let sign = skip_blanks(text, closed);
    let start = read_sign(text, sign)
        .or_else(|| read_element(text, sign, name.start))
        .or_else(|| read_pair(text, closed))
        .or_else(|| quoted.then(|| read_comma(text, sign)).flatten())
        .or_else(|| read_flag(text, name.clone(), closed))?;
    read_at(text, start)
}

/// The value that begins at `start`, in quotes or not.
pub(super) fn read_at(text: &[u8], start: usize) -> Option<AssignedValue> {
    let start = skip_blanks(text, start);
    // Letters before a quote belong to the language: f"…", rb'…'.
    let letters = skip(text, start, |byte| b"fbrFBRuL@&".contains(&byte));
    let opened = skip(text, letters, |byte| byte == b'\\');
    if let Some(&quote @ (b'"' | b'\'' | b'`')) = text.get(opened)
        && letters - start <= 2
    {
        let inner = skip(text, opened, |byte| byte == quote);
        let range = inner..inner + quoted_length(text.get(inner..)?, quote);
        return Some(AssignedValue { range, written: Quoting::Quoted });
    }
    let range = start..start + bare_length(text.get(start..)?);
    Some(AssignedValue { range, written: Quoting::Bare })
}

/// `=`, `:`, `:=`, `=>`, `==`, `?=`, also after a type: `: str =`.
fn read_sign(text: &[u8], at: usize) -> Option<usize> {
    let end = skip(text, at, |byte| b"=:>?|~!".contains(&byte));
    let sign = text.get(at..end)?;
    let known: [&[u8]; 11] = [b"=", b":", b":=", b"=>", b"==", b"===", b"?=", b"||=", b"=~", b"!=", b"!=="];
    if !known.contains(&sign) {
        return None;
    }
    let next = skip_blanks(text, end);
    if sign != b":" {
        return Some(next);
    }
    let kind = |byte: u8| byte.is_ascii_alphanumeric() || b"_&'<>[]|?. ".contains(&byte);
    let typed = skip(text, next, kind);
    let assigned = text.get(typed) == Some(&b'=') && !matches!(text.get(typed + 1), Some(b'=' | b'>'));
    Some(if typed > next && assigned { skip_blanks(text, typed + 1) } else { next })
}

/// `<name>value</name>`, `<item key="name">value</item>`
fn read_element(text: &[u8], at: usize, name: usize) -> Option<usize> {
    let line = text.get(name.saturating_sub(64)..name)?;
    let open = line.iter().rev().find(|byte| matches!(byte, b'<' | b'>' | b'\n'));
    (text.get(at) == Some(&b'>') && open == Some(&b'<')).then_some(at + 1)
}

/// `setdefault("name", "value")`: only between two quoted texts.
fn read_comma(text: &[u8], at: usize) -> Option<usize> {
    let next = skip_blanks(text, at + usize::from(text.get(at) == Some(&b',')));
    let opened = skip(text, next, |byte| byte == b'\\');
    (text.get(at) == Some(&b',') && matches!(text.get(opened), Some(b'"' | b'\''))).then_some(next)
}

/// `name: TOKEN` and then `value: x`, as in the environment of containers, in YAML and in JSON.
fn read_pair(text: &[u8], at: usize) -> Option<usize> {
    let fill = |byte: u8| b" \t\r\n,\\\"'n".contains(&byte);
    let word = run_end(text, at, 2 * FILL, fill);
    let rest =
        text.get(word..)?.strip_prefix(b"value").or_else(|| text.get(word..)?.strip_prefix(b"Value"))?;
    let end = skip(text, text.len() - rest.len(), |byte| b"\\\"'".contains(&byte));
    let sign = skip_blanks(text, end);
    matches!(text.get(sign), Some(b':' | b'=')).then(|| skip_blanks(text, sign + 1))
}

/// `--name value`, and `set name value` of shells.
fn read_flag(text: &[u8], name: Range<usize>, closed: usize) -> Option<usize> {
    let before = text.get(name.start.saturating_sub(16)..name.start)?;
    let is_flag = text.get(name.clone())?.starts_with(b"--");
    let is_set = [&b"set -gx "[..], b"set -Ux ", b"set -x ", b"setx ", b"setenv ", b"ENV "].into_iter();
    let next = skip_blanks(text, closed);
    let apart = next > closed && text.get(next).is_some_and(|byte| *byte != b'-');
    (apart && (is_flag || is_set.into_iter().any(|set| before.ends_with(set)))).then_some(next)
}

/// Up to the closing quote, or to the end of the line or text.
fn quoted_length(text: &[u8], quote: u8) -> usize {
    let end = |byte: &u8| *byte == quote || matches!(byte, b'\n' | b'\r');
    let length = text.iter().take(LONGEST).position(end).unwrap_or(text.len().min(LONGEST));
    let value = text.get(..length).unwrap_or_default();
    // The backslashes before the closing quote belong to the quote.
    length - value.iter().rev().take_while(|byte| **byte == b'\\').count()
}

/// Up to white space, a quote, an escape, or a character that begins something else.
fn bare_length(text: &[u8]) -> usize {
    let text = text.get(..text.len().min(LONGEST)).unwrap_or_default();
    let mut length = text.len();
    for (at, &byte) in text.iter().enumerate() {
        let next = text.get(at + 1).copied();
        let stops = match byte {
            b'"' | b'\'' | b'`' | b'<' | b'>' => true,
            b'\\' => next.is_none_or(|next| b"\\nrt\"'ux0".contains(&next)),
            b',' | b';' => {
                next.is_none_or(|next| next.is_ascii_whitespace() || b"\"'\\}])".contains(&next))
                    || begins_pair(text.get(at + 1..).unwrap_or_default())
            }
            b'&' => begins_pair(text.get(at + 1..).unwrap_or_default()) || next == Some(b'&'),
            b'|' => next.is_none_or(|next| next == b' ' || next == b'|'),
            _ => byte.is_ascii_whitespace() || byte.is_ascii_control(),
        };
        if stops {
            length = at;
            break;
        }
    }
    let mut value = text.get(..length).unwrap_or_default();
    // The end of bold text.
    value = value.strip_suffix(b"**").unwrap_or(value);
    while let Some((&last, rest)) = value.split_last() {
        let open = match last {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b',' | b';' | b'.' | b':' if rest.len() >= 8 => last,
            _ => break,
        };
        if open != last && rest.contains(&open) {
            break;
        }
        value = rest;
    }
    value.len()
}

/// Whether `name=` follows.
fn begins_pair(text: &[u8]) -> bool {
    let length = run_end(text, 0, 32, |byte| byte.is_ascii_alphanumeric() || b"_-. ;".contains(&byte));
    length > 0 && matches!(text.get(length), Some(b'=' | b':'))
}

/// Skips at most [`FILL`] bytes of a kind.
fn skip(text: &[u8], at: usize, kind: impl Fn(u8) -> bool) -> usize {
    run_end(text, at, FILL, kind)
}

pub(super) fn skip_blanks(text: &[u8], at: usize) -> usize {
    skip(text, at, |byte| byte == b' ' || byte == b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(text: &str) -> Option<(&str, Quoting)> {
        let start = text.find("TOKEN").unwrap();
        let flag = if text[..start].ends_with("--") { 2 } else { 0 };
        let value = read_value(text.as_bytes(), &(start - flag..start + 5))?;
        Some((&text[value.range], value.written))
    }

    #[test]
    fn a_value_is_found_however_it_is_written() {
        for (text, written) in [
            ("TOKEN=abc", Quoting::Bare),
            ("export TOKEN='abc'", Quoting::Quoted),
            (r#"{"TOKEN": "abc"}"#, Quoting::Quoted),
            (r#"{\"TOKEN\": \"abc\"}"#, Quoting::Quoted),
            (r#"{\\\"TOKEN\\\":\\\"abc\\\"}"#, Quoting::Quoted),
            (r"TOKEN=abc\nOTHER=x", Quoting::Bare),
            ("TOKEN: abc # comment", Quoting::Bare),
            ("TOKEN := \"abc\"", Quoting::Quoted),
            ("'TOKEN' => 'abc',", Quoting::Quoted),
            ("cmd --TOKEN abc --other", Quoting::Bare),
            ("cmd --TOKEN=abc", Quoting::Bare),
            ("<TOKEN>abc</TOKEN>", Quoting::Bare),
            ("TOKEN: str = \"abc\"", Quoting::Quoted),
            ("let TOKEN: &str = \"abc\";", Quoting::Quoted),
            ("environ[\"TOKEN\"] = 'abc'", Quoting::Quoted),
            ("environ.setdefault('TOKEN', 'abc')", Quoting::Quoted),
            ("- name: TOKEN\n  value: abc\n", Quoting::Bare),
            (r#"{"name": "TOKEN", "value": "abc"}"#, Quoting::Quoted),
            ("set -gx TOKEN abc", Quoting::Bare),
            ("?TOKEN=abc&other=x", Quoting::Bare),
            ("call(TOKEN=abc)", Quoting::Bare),
            ("a;TOKEN=abc;other=1", Quoting::Bare),
            ("**TOKEN**: `abc`", Quoting::Quoted),
        ] {
            assert_eq!(value_of(text), Some(("abc", written)), "{text}");
        }
    }

    #[test]
    fn a_name_without_a_value_has_none() {
        for text in ["the TOKEN is", "TOKEN", "TOKEN, other", "TOKEN::new()", "[TOKEN]", "--TOKEN --other"] {
            assert_eq!(value_of(text), None, "{text}");
        }
    }
}
