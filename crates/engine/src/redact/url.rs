//! Credentials in URLs: the password before the host, and signatures and keys in the query.

use std::ops::Range;

use super::boundary::run_end;
use super::irregularity::{Strength, strength};
use super::placeholder::is_placeholder;

/// The longest name, password or host that is read.
const LONGEST: usize = 512;

/// Passwords that only describe what would be there.
const NAMES: [&str; 12] = [
    "password", "passwd", "pass", "pwd", "pw", "secret", "token", "user", "username", "test", "admin", "key",
];

/// The password in `scheme://user:password@host`, or a token in place of the user, at a `://`.
pub(super) fn find_password(text: &[u8], sign: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let named = sign.start.checked_sub(1).and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let end = run_end(text, sign.end, LONGEST, |byte| !ends_authority(byte));
    let authority = text.get(sign.end..end)?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let hosted =
        authority.get(at + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"[${<".contains(byte));
    if !named || !hosted {
        return None;
    }
    let (user, password) = match authority.get(..at)?.iter().position(|byte| *byte == b':') {
        Some(colon) => (authority.get(..colon)?, colon + 1..at),
        None => (authority.get(..0)?, 0..at),
    };
    let secret = authority.get(password.clone())?;
    let range = sign.end + password.start..sign.end + password.end;
    if password.start == 0 {
        return (strength(secret) == Strength::Long && secret.len() >= 20).then_some((range, "url-token"));
    }
    let lower = secret.to_ascii_lowercase();
    let says_nothing =
        secret == user || NAMES.iter().any(|name| name.as_bytes() == lower) || secret.len() < 3;
    // `host:8080@` that only looks like one.
    let port = secret.iter().all(u8::is_ascii_digit) && secret.len() <= 5;
    (!says_nothing && !port && !is_placeholder(secret)).then_some((range, "url-password"))
}

fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte.is_ascii_control() || b"/?#\"'`<>\\|,".contains(&byte)
}

/// The value of a parameter such as `sig=`: `name` is the range of the name and its sign.
pub(super) fn find_parameter(text: &[u8], name: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(name.start.saturating_sub(16)..name.start)?;
    let apart = before.last().is_some_and(|byte| b"?&;".contains(byte))
        || [&b"u0026"[..], b"%26", b"%3F", b"X-Amz-", b"X-Goog-"]
            .into_iter()
            .any(|sign| before.ends_with(sign));
    if !apart {
        return None;
    }
    let value = |byte: u8| byte.is_ascii_alphanumeric() || b"%+/_=.~-".contains(&byte);
    let range = name.end..run_end(text, name.end, 2 * LONGEST, value);
    let secret = text.get(range.clone())?;
    (strength(secret) == Strength::Long && !is_placeholder(secret)).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let at = text.find("://").unwrap();
        find_password(text.as_bytes(), at..at + 3).map(|(range, _)| &text[range])
    }

    #[test]
    fn only_the_password_is_found() {
        for (text, password) in [
            ("postgres://app:hunter2@db:5432/x", "hunter2"),
            ("redis://:s3cr-et@cache", "s3cr-et"),
            ("amqp://u:p@ss@w0rd@host/v", "p@ss@w0rd"),
            ("https://user:abc%40def@host.example", "abc%40def"),
        ] {
            assert_eq!(found(text), Some(password), "{text}");
        }
    }

    #[test]
    fn an_address_without_a_password_has_none() {
        for text in [
            "https://host:8080/@scope/x",
            "ssh://git@host/x",
            "postgres://user:password@host",
            "a://b:${PW}@c",
            "https://host/?q=a:b@c",
            "postgres://postgres:postgres@localhost",
            "https://<user>:<pass>@host",
            "http://user:$PASS@host",
            "://u:hunter2@host",
            "http://[::1]:80/",
            "mongodb+srv://user:****@host",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
