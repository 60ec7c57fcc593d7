//! Values in place of a credential that are not one.
//!
//! `$TOKEN`, `${TOKEN}`, `<your-key>`, `sk-xxxxxxxx`, `AKIA…EXAMPLE`: a summary may and should repeat them, because
//! they say where a credential comes from.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words that people write in place of a credential. They count at the beginning of a word in the value; the first
/// four are too long to occur by chance, so they count anywhere.
const WORDS: [&str; 21] = [
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "your",
    "change-me",
    "change_me",
    "replace",
    "dummy",
    "sample",
    "fake",
    "mock",
    "todo",
    "notreal",
    "not-real",
    "not_real",
    "insert",
    "hidden",
    "masked",
    "undefined",
    "null",
];
const CLEAR: usize = 4;

/// Parts that only variables, templates and elisions have.
const SIGNS: [&str; 15] =
    ["${", "$(", "{{", "}}", "#{", "<%", "%(", "\\(", "%s", "%v", "...", "…", "***", "••", "[...]"];

/// The most bytes of a value that are read.
const LOOKED_AT: usize = 256;

static PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS.iter().chain(&SIGNS)).ok()
});

/// Whether a value only stands for a credential.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = value.get(..LOOKED_AT).unwrap_or(value);
    is_reference(value) || has_run(value) || has_part(value)
}

/// A variable or something in brackets: `$X`, `%X%`, `<x>`, `{x}`, `[x]`.
fn is_reference(value: &[u8]) -> bool {
    let framed =
        |open: u8, close: u8| value.len() > 2 && value.first() == Some(&open) && value.last() == Some(&close);
    let variable = value
        .strip_prefix(b"$")
        .and_then(<[u8]>::first)
        .is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'_' | b'{' | b'(' | b'$' | b':'));
    // The rest decides: a password may begin with a dollar, a variable has nothing but characters of a name.
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"$_{}():.-[]\"'".contains(byte));
    (variable && plain)
        || framed(b'%', b'%')
        || framed(b'{', b'}')
        || framed(b'[', b']')
        || value.first() == Some(&b'<')
}

/// Six or eight equal or ascending bytes that make up a good part of the whole; or hardly any different bytes at all.
/// A long key may contain such a run: small numbers in it are encoded as many equal letters.
fn has_run(value: &[u8]) -> bool {
    let least = |count: usize, share: usize| count.max(value.len() / share);
    let (mut equal, mut rising) = (1, 1);
    for pair in value.windows(2) {
        let &[first, second] = pair else { continue };
        equal = if first == second { equal + 1 } else { 1 };
        let rises = second == first.wrapping_add(1) || (first == b'9' && second == b'0');
        rising = if rises { rising + 1 } else { 1 };
        let filler = matches!(second, b'x' | b'X' | b'*') && equal >= least(4, 16);
        if equal >= least(6, 5) || rising >= least(8, 8) || filler {
            return true;
        }
    }
    let mut seen = [false; 256];
    for byte in value {
        if let Some(slot) = seen.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
    value.len() >= 8 && seen.into_iter().filter(|seen| *seen).count() <= 4
}

/// A sign of a template or an elision, or one of the words at the beginning of a word.
fn has_part(value: &[u8]) -> bool {
    let Some(parts) = PARTS.as_ref() else { return false };
    parts.find_overlapping_iter(value).any(|hit| {
        let index = hit.pattern().as_usize();
        if index < CLEAR || index >= WORDS.len() {
            return true;
        }
        let before = hit.start().checked_sub(1).and_then(|at| value.get(at));
        let written = value.get(hit.range()).unwrap_or_default();
        before.is_none_or(|byte| !byte.is_ascii_alphanumeric()) && is_one_case(written)
    })
}

/// `your`, `Your` or `YOUR`, but not `yOuR`, which looks random.
fn is_one_case(word: &[u8]) -> bool {
    let rest = word.get(1..).unwrap_or_default();
    rest.iter().all(|byte| !byte.is_ascii_uppercase()) || word.iter().all(|byte| !byte.is_ascii_lowercase())
}

pub(super) fn contains(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_credential_is_a_placeholder() {
        for value in [
            "$ANTHROPIC_API_KEY",
            "${TOKEN}",
            "$(cat token)",
            "{{ token }}",
            "<your-api-key>",
            "xxxxxxxx",
            "%TOKEN%",
            "sk-your-key-here",
            "AKIAIOSFODNN7EXAMPLE",
            "abc...xyz",
            "********",
            "sk-1234567890abcdef",
            "$env:TOKEN",
            "changeme",
            "CHANGE_ME_PLEASE",
            "${{ secrets.TOKEN }}",
            "[REDACTED]",
            "#{token}",
            "0000000000000000",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn what_looks_like_chance_is_none() {
        for value in ["q7Rt2mZp9Lx4", "Pa$$w0rd!9z", "a8f5f167f44f4964e6c998dee827110c", "bYouRz82Kq"] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }
}
