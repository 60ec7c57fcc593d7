//! Encodings of credentials, for what is planted.

use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair};

use super::random::Random;

const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

pub(crate) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Every byte as `%xx`.
pub(crate) fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// As some writers of JSON escape it.
pub(crate) fn escape_slashes(text: &str) -> String {
    text.replace('/', "\\/")
}

pub(crate) fn base58(bytes: &[u8]) -> String {
    let mut digits: Vec<u32> = Vec::new();
    for &byte in bytes {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = std::iter::repeat_n(0, zeros).chain(digits.into_iter().rev());
    digits.map(|digit| char::from(BASE58[digit as usize])).collect()
}

pub(crate) fn bytes(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| u8::try_from(random.below(256)).unwrap()).collect()
}

/// A Bitcoin key in the wallet import format.
pub(crate) fn wallet_import(random: &mut Random) -> String {
    let mut key = vec![if random.below(2) == 0 { 0x80 } else { 0xef }];
    key.extend(bytes(random, 32));
    if random.below(2) == 0 {
        key.push(1);
    }
    let check = digest(&SHA256, digest(&SHA256, &key).as_ref());
    key.extend(&check.as_ref()[..4]);
    base58(&key)
}

/// A key pair as Solana's programs store it: the seed, then the public key.
pub(crate) fn key_pair(random: &mut Random) -> Vec<u8> {
    let mut seed = bytes(random, 32);
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
    seed.extend(pair.public_key().as_ref());
    seed
}
