//! Keys of wallets: Bitcoin's, Solana's and Ethereum's.
//!
//! The first two prove themselves, by a checksum and by a public half that belongs to the private one. A key of
//! Ethereum is a number like any other, so it counts only where it is called a private key.

use std::ops::Range;

use ring::digest::{SHA256, digest};
use ring::signature::Ed25519KeyPair;

use super::base58::decode_base58;
use super::boundary::{is_word, run_end};
use super::irregularity::is_irregular;
use super::placeholder::{contains, is_placeholder};

/// What is said before a key of Ethereum.
pub(super) const ETHEREUM_LITERALS: [&str; 7] =
    ["rivate key", "rivate Key", "RIVATE KEY", "rivate_key", "rivateKey", "RIVATE_KEY", "Wallet("];

/// What a list of numbers begins with.
pub(super) const LIST_LITERALS: [&str; 13] =
    ["[0", "[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9", "[ ", "[\n", "[\\"];

/// How far a key of Ethereum may be from what is said before it.
const GAP: usize = 48;

/// The most keys of a list, and the most bytes between two of them.
const KEYS: usize = 64;
const LIST_GAP: usize = 16;

/// Words before a number that is something else.
const OTHER: [&str; 9] =
    ["hash", "tx", "transaction", "public", "address", "block", "digest", "sha", "fingerprint"];

/// Whether a run is a key of Bitcoin or a key pair of Solana; the name of its rule.
pub(super) fn classify_run(run: &[u8]) -> Option<&'static str> {
    match run.len() {
        51 | 52 if run.first().is_some_and(|first| b"5KL9c".contains(first)) => {
            is_bitcoin_key(&decode_base58(run)?).then_some("bitcoin-key")
        }
        86..=88 => is_key_pair(&decode_base58(run)?).then_some("solana-key"),
        _ => None,
    }
}

/// A version, 32 bytes, perhaps a sign of compression, and the beginning of the hash of the hash of all that.
fn is_bitcoin_key(bytes: &[u8]) -> bool {
    let Some((key, check)) = bytes.split_last_chunk::<4>() else { return false };
    let formed = match key {
        [0x80 | 0xef, rest @ ..] => rest.len() == 32 || (rest.len() == 33 && rest.last() == Some(&1)),
        _ => false,
    };
    formed && digest(&SHA256, digest(&SHA256, key).as_ref()).as_ref().starts_with(check)
}

/// Whether the second 32 bytes are the public key of the first.
fn is_key_pair(bytes: &[u8]) -> bool {
    bytes.len() == 64
        && bytes
            .split_at_checked(32)
            .is_some_and(|(seed, public)| Ed25519KeyPair::from_seed_and_public_key(seed, public).is_ok())
}

/// A key pair of Solana as a list of 64 numbers, at its bracket.
pub(super) fn find_key_pair(text: &[u8], at: usize) -> Option<Range<usize>> {
    let mut bytes = Vec::new();
    let mut end = at;
    while bytes.len() < 64 {
        // The bracket or a comma.
        if !matches!((text.get(end), bytes.is_empty()), (Some(b'['), true) | (Some(b','), false)) {
            return None;
        }
        let start = skip_gap(text, end + 1);
        end = run_end(text, start, 4, |byte| byte.is_ascii_digit());
        let digits = std::str::from_utf8(text.get(start..end)?).ok()?;
        bytes.push(digits.parse().ok()?);
        end = skip_gap(text, end);
    }
    (text.get(end) == Some(&b']') && is_key_pair(&bytes)).then_some(at..end + 1)
}

/// Skips white space, also escaped.
fn skip_gap(text: &[u8], at: usize) -> usize {
    run_end(text, at, 24, |byte| byte.is_ascii_whitespace() || b"\\nrt".contains(&byte))
}

/// The keys of Ethereum after the words that end at `at`: one, or a list.
pub(super) fn find_ethereum_keys(text: &[u8], at: usize, mut found: impl FnMut(Range<usize>)) {
    let (mut from, mut reach) = (at, GAP);
    for _ in 0..KEYS {
        let window = text.get(from..text.len().min(from + reach)).unwrap_or_default();
        let Some(gap) = window.windows(2).position(|pair| pair == b"0x") else { return };
        let before = window.get(..gap).unwrap_or_default().to_ascii_lowercase();
        let start = from + gap;
        let end = run_end(text, start + 2, 65, |byte| byte.is_ascii_hexdigit());
        let whole = end == start + 66 && !text.get(end).is_some_and(|next| is_word(*next));
        let listed =
            from == at || !before.iter().any(|byte| byte.is_ascii_alphabetic() && !b"nrt".contains(byte));
        let other = OTHER.iter().any(|word| contains(&before, word.as_bytes()));
        let digits = text.get(start + 2..end).unwrap_or_default();
        if !whole || !listed || other || !is_irregular(digits) || is_placeholder(digits) {
            return;
        }
        found(start..end);
        (from, reach) = (end, LIST_GAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_other_numbers_is_no_key_pair() {
        let list = |count: usize| format!("[{}]", vec!["7"; count].join(", "));
        for text in [list(64), list(63), list(65), "[1, 2".to_owned(), "[".to_owned(), "[999]".to_owned()] {
            assert_eq!(find_key_pair(text.as_bytes(), 0), None, "{text}");
        }
    }
}
