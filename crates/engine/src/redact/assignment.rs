//! A name that announces a credential, and a value that looks like one.
//!
//! This finds credentials without a shape of their own, and could most easily mistake code for them. So both sides
//! must agree: the [name](super::name) decides how [irregular](super::irregularity) the value must be, and anything
//! that is clearly something else is skipped: paths, URLs, dotted names, UUIDs, numbers, patterns, placeholders, and
//! code.

use std::ops::Range;

use super::boundary::run_end;
use super::header::decodes_to_pair;
use super::irregularity::{Strength, strength};
use super::name::{NameKind, classify, read_name};
use super::placeholder::{contains, is_placeholder};
use super::value::{AssignedValue, Quoting, read_value};

/// Finds a credential that is assigned to the name around a literal.
pub(super) fn find_assigned(text: &[u8], literal: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    // The quotes of `"auth"` are not part of the name.
    let opened = usize::from(text.get(literal.start) == Some(&b'"'));
    let literal = literal.start + opened..literal.end - opened;
    if !may_be_assigned(text, literal.end) {
        return None;
    }
    let name = read_name(text, literal);
    let mut value = read_value(text, &name)?;
    strip_scheme(text, &mut value);
    let bytes = text.get(value.range.clone())?;
    if bytes.len() < 8 {
        return None;
    }
    let called = text.get(name)?;
    let kind = classify(called)?;
    if is_aws_secret(called, bytes) {
        return Some((value.range, "aws-secret-key"));
    }
    if is_uuid(bytes) && called.to_ascii_lowercase().starts_with(b"heroku") {
        return Some((value.range, "heroku-key"));
    }
    if called.ends_with(b"auth") && decodes_to_pair(bytes) && !is_placeholder(bytes) {
        return Some((value.range, "docker-auth"));
    }
    is_credential(bytes, kind, value.written).then(|| (value.to_end(text), kind.rule()))
}

/// A quick check of what follows the name. Most names are followed by something else, and without it most of the time
/// would be spent here.
fn may_be_assigned(text: &[u8], at: usize) -> bool {
    let end = run_end(text, at, 64, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    text.get(end).is_some_and(|next| b"=:>?|~!, \t\r\n\\\"'`]*".contains(next))
}

/// Whether a value is what a name of this kind announces.
pub(super) fn is_credential(value: &[u8], kind: NameKind, written: Quoting) -> bool {
    let enough = match (kind, strength(value)) {
        (_, Strength::None) | (NameKind::Token | NameKind::Key, Strength::Mixed) => false,
        (NameKind::Vague, strength) => strength == Strength::Long && value.len() >= 20 && !is_digest(value),
        (NameKind::Secret, Strength::Mixed) => {
            written == Quoting::Quoted && value.iter().any(u8::is_ascii_digit)
        }
        _ => true,
    };
    // Expensive checks come last.
    let code = || written == Quoting::Bare && (is_code(value) || is_number(value));
    enough && !code() && !is_other(value) && !is_placeholder(value)
}

/// `token: "Bearer …"`
fn strip_scheme(text: &[u8], value: &mut AssignedValue) {
    let bytes = text.get(value.range.clone()).unwrap_or_default();
    for scheme in [&b"Bearer "[..], b"bearer ", b"Basic ", b"Token ", b"token ", b"Bot "] {
        if bytes.starts_with(scheme) {
            value.range.start += scheme.len();
            return;
        }
    }
}

/// Forty characters of base64, which may begin with a slash like a path.
fn is_aws_secret(name: &[u8], value: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    contains(&name, b"secret")
        && (contains(&name, b"aws") || contains(&name, b"access"))
        && value.len() == 40
        && value.iter().all(base64)
        && strength(value) == Strength::Long
        && !is_placeholder(value)
}

/// Values with a regular form of their own that are not credentials.
fn is_other(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_whitespace)
        || value.iter().all(|byte| byte.is_ascii_digit() || b".,:-_/+TZ ".contains(byte))
        || contains(value, b"://")
        || is_uuid(value)
        || is_path(value)
        || is_pattern(value)
        || is_dotted(value)
        || is_address(value)
        || value.starts_with(b"sha256:")
        || value.starts_with(b"arn:")
        || value.starts_with(b"data:")
}

/// `/usr/lib`, `./a`, `~/a`, `C:\a`, `a/b/c.rs`: parts between slashes that could be names.
fn is_path(value: &[u8]) -> bool {
    let rooted = [&b"./"[..], b"../", b"~/", b"@/"].into_iter().any(|root| value.starts_with(root))
        || (value.get(1) == Some(&b':') && matches!(value.get(2), Some(b'\\' | b'/')));
    if rooted {
        return true;
    }
    if !value.contains(&b'/') {
        return false;
    }
    let mut longest = Strength::None;
    let mut named = 0;
    let mut parts = 0;
    for part in value.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        parts += 1;
        longest = longest.max(strength(part));
        named += usize::from(part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(byte)));
    }
    // Base64 has slashes too. Its parts are irregular as a whole, and it contains a plus or ends with `=`.
    let base64 = strength(value) == Strength::Long && (longest >= Strength::Short || value.ends_with(b"="));
    named == parts && !base64
}

/// Regular expressions and formats: `[A-Za-z0-9]{36}`, `\w+`.
fn is_pattern(value: &[u8]) -> bool {
    [&b"A-Z"[..], b"a-z", b"0-9", b"\\w", b"\\d", b"\\s", b"(?", b".*", b"[^", b"\\b"]
        .into_iter()
        .any(|part| contains(value, part))
}

/// Dotted names, `process.env.TOKEN`, versions and hosts: every part is a name, and most do not look random.
fn is_dotted(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.');
    value.contains(&b'.')
        && parts.all(|part| {
            part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-$?!".contains(byte))
                && strength(part) < Strength::Short
        })
}

/// `name@host.example`
fn is_address(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'@');
    let (Some(name), Some(host), None) = (parts.next(), parts.next(), parts.next()) else { return false };
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-+".contains(byte);
    !name.is_empty() && host.contains(&b'.') && name.iter().chain(host).all(plain)
}

pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A hash in hexadecimal: of git, or a checksum.
fn is_digest(value: &[u8]) -> bool {
    matches!(value.len(), 32 | 40 | 64) && value.iter().all(u8::is_ascii_hexdigit)
}

/// Numbers as programs write them: `131072u32`, `0xC000_006B`, `1500ms`.
fn is_number(value: &[u8]) -> bool {
    let units: [&[u8]; 21] = [
        b"", b"u8", b"u16", b"u32", b"u64", b"u128", b"usize", b"i8", b"i16", b"i32", b"i64", b"i128",
        b"isize", b"f32", b"f64", b"ms", b"px", b"kb", b"mb", b"gb", b"n",
    ];
    let (value, hex) = match value.strip_prefix(b"0x") {
        Some(rest) => (rest, true),
        None => (value, false),
    };
    units.into_iter().any(|unit| {
        let digits = value.strip_suffix(unit).unwrap_or_default();
        // A longer run of hexadecimal digits is a key, with or without its prefix.
        let few = digits.len() <= if hex { 19 } else { 40 };
        few && !digits.is_empty()
            && digits.iter().all(|byte| {
                byte.is_ascii_digit() || b"_.,".contains(byte) || (hex && byte.is_ascii_hexdigit())
            })
    })
}

/// An unquoted value may be code: calls, indexes, module paths, operators, names.
fn is_code(value: &[u8]) -> bool {
    let brackets = value.iter().any(|byte| b"()[]{}".contains(byte));
    let operators = [&b"::"[..], b"->", b"=>", b"&&", b"||"];
    let sigil = value.first().is_some_and(|first| b"&*@!#-+|,;:=/(".contains(first))
        && strength(value) < Strength::Long;
    brackets || sigil || operators.into_iter().any(|operator| contains(value, operator))
}

#[cfg(test)]
#[path = "assignment/tests.rs"]
mod tests;
