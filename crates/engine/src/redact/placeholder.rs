//! Values that stand for a credential without being one.
//!
//! `$TOKEN`, `${TOKEN}`, `<your-key>`, `sk-xxxxxxxx`, `AKIA…EXAMPLE`: a summary may and should repeat them, because they
//! say where a credential comes from.

/// Words that people write where a credential would be. They count where they begin a word of the value.
const WORDS: [&str; 21] = [
    "your",
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "replace",
    "redacted",
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

/// Words that count wherever they are: too long to come about by chance.
const CLEAR: [&str; 4] = ["example", "placeholder", "redacted", "changeme"];

/// Whether a value only stands for a credential.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    is_reference(value) || is_elided(value) || has_run(value) || names_placeholder(value)
}

/// A variable or template: `$X`, `${X}`, `$(x)`, `{{ x }}`, `%X%`, `<x>`, `#{x}`, `@x@`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let framed =
        |open: u8, close: u8| value.len() > 2 && value.first() == Some(&open) && value.last() == Some(&close);
    let variable = value
        .strip_prefix(b"$")
        .and_then(<[u8]>::first)
        .is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'_' | b'{' | b'(' | b'$' | b':'));
    // What follows decides: a password may begin with a dollar, a variable has nothing but letters of a name.
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"$_{}():.-[]\"'".contains(byte));
    let template = [&b"${"[..], b"$(", b"{{", b"}}", b"#{", b"<%", b"%(", b"\\(", b"%s", b"%v"];
    (variable && plain)
        || framed(b'%', b'%')
        || framed(b'<', b'>')
        || framed(b'{', b'}')
        || framed(b'[', b']')
        || value.first() == Some(&b'<')
        || template.into_iter().any(|part| contains(value, part))
}

/// Something was left out on purpose: dots, stars, bullets.
fn is_elided(value: &[u8]) -> bool {
    ["...", "…", "***", "••", "___", "[...]"].into_iter().any(|part| contains(value, part.as_bytes()))
}

/// Six equal bytes, eight bytes that count up, or hardly any different bytes at all.
fn has_run(value: &[u8]) -> bool {
    let (mut equal, mut rising) = (1, 1);
    for pair in value.windows(2) {
        let &[first, second] = pair else { continue };
        equal = if first == second { equal + 1 } else { 1 };
        let rises = second == first.wrapping_add(1) || (first == b'9' && second == b'0');
        rising = if rises { rising + 1 } else { 1 };
        let filler = equal >= 4 && matches!(second, b'x' | b'X' | b'*' | b'.');
        if equal >= 6 || rising >= 8 || filler {
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

fn names_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    if CLEAR.into_iter().any(|word| contains(&lower, word.as_bytes())) {
        return true;
    }
    WORDS.into_iter().any(|word| {
        let word = word.as_bytes();
        lower.windows(word.len()).enumerate().any(|(at, window)| {
            window == word && {
                let before = at.checked_sub(1).and_then(|index| value.get(index));
                let written = value.get(at..at + word.len()).unwrap_or_default();
                before.is_none_or(|byte| !byte.is_ascii_alphanumeric()) && is_one_case(written)
            }
        })
    })
}

/// `your`, `Your` or `YOUR`, but not `yOuR`, which is chance.
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
