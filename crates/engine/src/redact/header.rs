//! Credentials in headers: `Authorization`, a scheme with its token anywhere, and cookies.

use std::ops::Range;

use super::assignment::{is_credential, is_uuid};
use super::boundary::run_end;
use super::encoding::base64_digit;
use super::irregularity::{Strength, strength};
use super::name::NameKind;
use super::placeholder::is_placeholder;
use super::value::{Quoting, skip_blanks};

/// The most bytes of a header that are read.
const LONGEST: usize = 4096;

/// The most cookies of a header that are read.
const COOKIES: usize = 64;

/// Words in the names of session cookies.
const SESSIONS: [&str; 14] = [
    "sess",
    "sid",
    "auth",
    "token",
    "jwt",
    "csrf",
    "xsrf",
    "remember",
    "login",
    "secret",
    "ticket",
    "credential",
    "bearer",
    "identity",
];

/// The credential after the name `Authorization`, which ends at `at`.
pub(super) fn find_authorization(text: &[u8], at: usize) -> Option<(Range<usize>, &'static str)> {
    let sign = run_end(text, at, 8, |byte| b"\\\"'`] *".contains(&byte));
    if !matches!(text.get(sign), Some(b':' | b'=' | b',')) {
        return None;
    }
    let start = run_end(text, sign, 8, |byte| b"=:,>\\\"'` \tfb".contains(&byte));
    let scheme = run_end(text, start, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let value = if text.get(scheme) == Some(&b' ') { skip_blanks(text, scheme) } else { start };
    let range = value..token_end(text, value);
    let secret = text.get(range.clone())?;
    // Any bare value is a credential here, unless it is a word or a name.
    let known = strength(secret) >= Strength::Short || is_uuid(secret) || decodes_to_pair(secret);
    let plain = is_credential(secret, NameKind::Secret, Quoting::Quoted);
    (secret.len() >= 8 && (known || plain) && !is_placeholder(secret)).then_some((range, "authorization"))
}

/// The token after `Bearer ` or `Basic `, anywhere. `at` is where the token would begin.
pub(super) fn find_scheme_token(text: &[u8], at: usize) -> Option<(Range<usize>, &'static str)> {
    let start = skip_blanks(text, at);
    let range = start..token_end(text, start);
    let secret = text.get(range.clone())?;
    let proven = strength(secret) >= Strength::Short || decodes_to_pair(secret);
    let dotted = secret.len() < 16 && secret.contains(&b'.');
    (proven && !dotted && !is_placeholder(secret)).then_some((range, "authorization"))
}

fn token_end(text: &[u8], start: usize) -> usize {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"._~+/=-:!%|$@{}<".contains(&byte);
    let end = run_end(text, start, LONGEST, token);
    let value = text.get(start..end).unwrap_or_default();
    end - value.iter().rev().take_while(|byte| b".:}".contains(byte)).count()
}

/// The values of cookies after `Cookie` or `Set-Cookie`, which ends at `at`.
pub(super) fn find_cookies(text: &[u8], at: usize, mut found: impl FnMut(Range<usize>)) {
    let rest = text.get(at..text.len().min(at + LONGEST)).unwrap_or_default();
    let sign = run_end(rest, 0, 8, |byte| b"\\\"'`] *".contains(&byte));
    if !matches!(rest.get(sign), Some(b':' | b'=')) {
        return;
    }
    let mut start = run_end(rest, sign + 1, 8, |byte| b" \\\"'`".contains(&byte));
    for _ in 0..COOKIES {
        let line = rest.get(start..).unwrap_or_default();
        let stop = |byte: &u8| b";\"'`\\\n\r ".contains(byte);
        let pair = line.get(..line.iter().position(stop).unwrap_or(line.len())).unwrap_or_default();
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { break };
        let (name, value) =
            (pair.get(..equals).unwrap_or_default(), pair.get(equals + 1..).unwrap_or_default());
        let end = at + start + pair.len();
        if is_session(name, value) {
            found(end - value.len()..end);
        }
        start += pair.len();
        if rest.get(start) != Some(&b';') {
            break;
        }
        start = run_end(rest, start, 3, |byte| b"; ".contains(&byte));
    }
}

/// Whether a cookie contains a session: by its name, or because its value looks random.
fn is_session(name: &[u8], value: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let named = SESSIONS.iter().any(|word| lower.windows(word.len()).any(|window| window == word.as_bytes()));
    let strength = strength(value);
    let enough = strength == Strength::Long || (named && (strength >= Strength::Mixed || is_uuid(value)));
    enough && !is_placeholder(value)
}

/// Whether it is base64 of `user:password`, as in `Basic` and in Docker's configuration.
pub(super) fn decodes_to_pair(value: &[u8]) -> bool {
    let (mut bits, mut count, mut colon) = (0_u32, 0, false);
    let body = value.iter().rev().skip_while(|byte| **byte == b'=').count();
    if !(8..=LONGEST).contains(&body) {
        return false;
    }
    for byte in value.iter().take(body) {
        let Some(six) = base64_digit(*byte) else { return false };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            let decoded = (bits >> count) & 0xff;
            if !(0x20..0x7f).contains(&decoded) {
                return false;
            }
            colon |= decoded == u32::from(b':');
            bits &= (1 << count) - 1;
        }
    }
    colon
}

#[cfg(test)]
#[path = "header/tests.rs"]
mod tests;
