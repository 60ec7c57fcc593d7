//! Whether a value looks random, or like a name.
//!
//! Shannon entropy cannot tell: `configuration_manager` has 3.4 bits a byte, 32 random hexadecimal digits have 3.6.
//! So entropy only rejects repetition, and the actual test is: how much more likely is it that these bytes are random
//! than that they are a name? Every step from one byte to the next is evidence, in bits:
//!
//! * two letters, by how often they follow each other in names ([`super::bigram`]);
//! * from a letter to a digit and back, which is common in random text and rare in names;
//! * a capital after a small letter, a little, because names have capitals inside too;
//! * a character that joins names is evidence against randomness.
//!
//! The sum must reach [`EVIDENCE`]. Of 20,000 random values of 16 bytes, half reach 18 (hexadecimal) to 30 (base32,
//! base36), and 0.2 % (base36) to 2.4 % (hexadecimal) stay below 8; of 32 bytes, at most one in ten thousand does. Of
//! 580 names of 16 to 60 bytes in the sources of this workspace, 99 % are below -8, and none reaches 8.

use super::bigram::evidence;

/// The least entropy of a random value, in bits a byte. Of values of 16 random hexadecimal digits, 0.14 % have less.
const ENTROPY: f64 = 2.5;

/// The least evidence for randomness, in bits.
const EVIDENCE: i32 = 8;

/// The least evidence in a value of fewer than 16 bytes, which has fewer steps.
const EVIDENCE_SHORT: i32 = 5;

/// The same for a value of letters only.
const EVIDENCE_LETTERS: i32 = 12;

/// How many bytes of a value are judged: the beginning is representative.
const WEIGHED: usize = 256;

/// How much a value looks like a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// A word, a name, a number, or too short.
    None,
    /// Words with digits and other characters in them, like made-up passwords.
    Mixed,
    /// Looks random, but is short.
    Short,
    /// Looks random, and is long.
    Long,
}

/// What was counted in a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traits {
    lower: usize,
    upper: usize,
    digits: usize,
    /// Bytes that are neither letters nor digits nor joiners of names.
    signs: usize,
    /// The evidence for randomness, in bits.
    evidence: i32,
}

/// Whether a value is long and irregular enough to be a key.
pub(super) fn is_irregular(value: &[u8]) -> bool {
    strength(value) == Strength::Long
}

/// Whether the evidence favours randomness: for pieces of what is known to be a key.
pub(super) fn leans_to_chance(piece: &[u8]) -> bool {
    Traits::of(piece).evidence > 0
}

/// How much a value looks like a credential.
pub(super) fn strength(value: &[u8]) -> Strength {
    let value = value.get(..WEIGHED).unwrap_or(value);
    let traits = Traits::of(value);
    if value.len() < 8 || traits.lower + traits.upper == 0 || entropy(value) < ENTROPY {
        return Strength::None;
    }
    if value.len() >= 16 && traits.evidence >= EVIDENCE {
        return Strength::Long;
    }
    // A few letters alone may be an abbreviation.
    let least = if traits.digits + traits.signs > 0 { EVIDENCE_SHORT } else { EVIDENCE_LETTERS };
    let varied = traits.digits + traits.signs > 0 || (traits.lower > 0 && traits.upper > 0);
    if value.len() < 16 && traits.evidence >= least && varied {
        return Strength::Short;
    }
    let kinds = [traits.lower, traits.upper, traits.digits, traits.signs];
    let mixed = kinds.into_iter().filter(|count| *count > 0).count() >= 3 && traits.digits + traits.signs > 0;
    if mixed && value.len() <= 40 { Strength::Mixed } else { Strength::None }
}

/// Shannon entropy in bits a byte.
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "values are short")]
    let total = value.len().max(1) as f64;
    let bits = |count: u32| {
        let share = f64::from(count) / total;
        -share * share.log2()
    };
    counts.into_iter().filter(|count| *count > 0).map(bits).sum()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Lower,
    Upper,
    Digit,
    Sign,
}

fn class(byte: u8) -> ByteClass {
    match byte {
        b'a'..=b'z' => ByteClass::Lower,
        b'A'..=b'Z' => ByteClass::Upper,
        b'0'..=b'9' => ByteClass::Digit,
        _ => ByteClass::Sign,
    }
}

impl Traits {
    fn of(value: &[u8]) -> Self {
        let mut traits = Self::default();
        let mut last = (b'_', ByteClass::Sign);
        let mut capitals = 0;
        // The six letters of hexadecimal digits form words about as often as not.
        let hex = value.iter().all(u8::is_ascii_hexdigit);
        for &byte in value {
            let class = class(byte);
            match class {
                ByteClass::Lower => traits.lower += 1,
                ByteClass::Upper => traits.upper += 1,
                ByteClass::Digit => traits.digits += 1,
                ByteClass::Sign => traits.signs += usize::from(!b"_-./+=:".contains(&byte)),
            }
            traits.evidence += match (last.1, class) {
                (ByteClass::Lower, ByteClass::Upper) => 1,
                (ByteClass::Lower | ByteClass::Upper, ByteClass::Lower | ByteClass::Upper) if hex => 0,
                // Several capitals before a word, as in `HTMLElement`, are rare in names.
                (ByteClass::Upper, ByteClass::Lower) => evidence(last.0, byte) + i32::from(capitals > 1),
                (ByteClass::Lower | ByteClass::Upper, ByteClass::Lower | ByteClass::Upper) => {
                    evidence(last.0, byte)
                }
                (ByteClass::Lower | ByteClass::Upper, ByteClass::Digit) => 2,
                (ByteClass::Digit, ByteClass::Lower | ByteClass::Upper) => 3,
                (_, ByteClass::Sign) if b"_-./: ".contains(&byte) => -2,
                _ => 0,
            };
            capitals = if class == ByteClass::Upper { capitals + 1 } else { 0 };
            last = (byte, class);
        }
        traits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_irregular() {
        for value in [
            "a8f5f167f44f4964e6c998dee827110c",
            "wJb9rXQtnFzM1-K7MDpNG-bPxRfiCYq3LmZ2",
            "q7Rt2mZp9Lx4Vn8w",
            "KXJ7Q2MZPL4RTV9W",
            "zxkqjwvbnmtrplkdfghj",
        ] {
            assert_eq!(strength(value.as_bytes()), Strength::Long, "{value}");
        }
        assert_eq!(strength(b"q7Rt2mZp9"), Strength::Short);
    }

    #[test]
    fn names_and_words_are_not() {
        for value in [
            "configuration_manager",
            "getElementByIdAndThenDoSomething",
            "my-super-secret-jwt-key-2024",
            "HTTPServerConnectionFactory",
            "application/x-www-form-urlencoded",
            "2024-01-01T00:00:00",
            "src/components/Login2.tsx",
            "1234567890123456",
            "aaaaaaaaaaaaaaaa1b",
            "token_count_v2",
            "sha256",
        ] {
            assert!(strength(value.as_bytes()) <= Strength::Mixed, "{value}");
        }
    }

    #[test]
    fn made_up_passwords_are_mixed() {
        for value in ["Summer2024!", "P@ssw0rd", "Welcome#1234"] {
            assert!(strength(value.as_bytes()) >= Strength::Mixed, "{value}");
        }
    }
}
