//! Credentials that are told in a sentence: `the password is …`, `API key: …`.
//!
//! After the same words, prose says something about the credential far more often than the credential itself. So the
//! value must look random, and a short one must contain a digit; a made-up password must contain a sign as well.

use std::ops::Range;

use super::assignment::is_credential;
use super::boundary::run_end;
use super::irregularity::{Strength, strength};
use super::name::{NameKind, classify, read_name};
use super::value::{AssignedValue, Quoting, read_at, skip_blanks};

/// Words between a name and what it belongs to: `the password for the database is …`.
const BETWEEN: [&[u8]; 6] = [b"for", b"of", b"on", b"in", b"at", b"from"];

/// The most words of what it belongs to.
const WORDS: usize = 4;

/// The longest of these words.
const LONGEST: usize = 40;

/// What may follow a verb: `is now set to`.
const FILLS: [&[u8]; 6] = [b"now", b"set", b"to", b"currently", b"still", b"be"];

/// Finds a credential that the sentence around a literal tells.
pub(super) fn find_told(text: &[u8], literal: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let end = run_end(text, literal.end, 16, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let closed = run_end(text, end, 3, |byte| b"\"'`*".contains(&byte));
    let sign = run_end(text, closed, 1, |byte| byte == b' ');
    let signed = matches!(text.get(sign), Some(b':' | b'='));
    let start =
        if signed { run_end(text, sign + 1, 3, |byte| byte == b'*') } else { read_verb(text, closed)? };
    let name = read_name(text, literal);
    let said = Range { start: read_owner(text, name.start), end: name.end };
    // A name of one word with a sign is an assignment, which has its own rule.
    if signed && said.start == name.start {
        return None;
    }
    let kind = classify(text.get(said)?)?;
    let value = read_at(text, start)?;
    let secret = text.get(value.range.clone())?;
    (secret.len() >= 8 && is_told(secret, kind, value.written)).then(|| (trim(text, &value), kind.rule()))
}

/// Whether a value is a credential although it stands in a sentence.
fn is_told(secret: &[u8], kind: NameKind, written: Quoting) -> bool {
    let digit = secret.iter().any(u8::is_ascii_digit);
    let sign = secret.iter().any(|byte| b"!@#$%^&*?~".contains(byte));
    let enough = match strength(secret) {
        Strength::None => false,
        Strength::Mixed => kind == NameKind::Password && digit && sign,
        Strength::Short => digit,
        Strength::Long => true,
    };
    enough && is_credential(secret, kind, written)
}

/// The value without the end of the sentence.
fn trim(text: &[u8], value: &AssignedValue) -> Range<usize> {
    let range = value.to_end(text);
    let bytes = text.get(range.clone()).unwrap_or_default();
    let ends = |byte: &&u8| b".,;:?)".contains(byte);
    let ended = if value.written == Quoting::Bare { bytes.iter().rev().take_while(ends).count() } else { 0 };
    range.start..range.end - ended
}

/// Where a name begins with the word before it: `API key`.
fn read_owner(text: &[u8], name: usize) -> usize {
    let head = text.get(name.saturating_sub(LONGEST)..name).unwrap_or_default();
    let Some(head) = head.strip_suffix(b" ") else { return name };
    let length = head.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if length == 0 { name } else { name - 1 - length }
}

/// Where the value begins after ` is `, also after ` for the database is now `.
fn read_verb(text: &[u8], at: usize) -> Option<usize> {
    let (mut word, mut at) = read_word(text, at)?;
    if BETWEEN.contains(&word) {
        for _ in 0..WORDS {
            (word, at) = read_word(text, at)?;
            if is_verb(word) {
                break;
            }
        }
    }
    if !is_verb(word) {
        return None;
    }
    while let Some((fill, end)) = read_word(text, at)
        && FILLS.contains(&fill)
    {
        at = end;
    }
    if text.get(at) == Some(&b':') {
        at += 1;
    }
    (text.get(at) == Some(&b' ')).then(|| skip_blanks(text, at))
}

fn is_verb(word: &[u8]) -> bool {
    matches!(word, b"is" | b"was" | b"to" | b"will" | b"should")
}

/// The word after one space, and where it ends.
fn read_word(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    if text.get(at) != Some(&b' ') {
        return None;
    }
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@'`\"".contains(&byte);
    let end = run_end(text, at + 1, LONGEST, part);
    (end > at + 1).then_some((text.get(at + 1..end)?, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<&str> {
        let at = ["password", "key", "Key", "token"]
            .iter()
            .find_map(|name| Some((text.find(name)?, name.len())))?;
        find_told(text.as_bytes(), at.0..at.0 + at.1).map(|(range, _)| &text[range])
    }

    #[test]
    fn the_value_is_read_without_the_sentence_around_it() {
        let value = ["q7Rt2mZp", "9Lx4Vn8w"].concat();
        for (before, after) in [
            ("the password is ", ", I think"),
            ("the password for the old database is ", "."),
            ("(the token was: ", ")"),
            ("API key = ", ""),
            ("change the password to '", "' now"),
            ("your api key is now set to `", "`."),
        ] {
            assert_eq!(told(&format!("{before}{value}{after}")), Some(value.as_str()), "{before}");
        }
    }

    #[test]
    fn a_sentence_without_a_value_has_none() {
        for text in
            ["the password is", "the password is ", "password", "the password isq7Rt2mZp9Lx4Vn8w", "a key"]
        {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
