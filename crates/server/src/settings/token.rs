//! The tokens that requests must have one of, and whose they are.

use std::fmt;
use std::path::{Path, PathBuf};

use secateur_store::LOCAL_TENANT;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Shorter tokens can be guessed.
const SHORTEST: usize = 16;

/// Longer ones do not fit into a header.
const LONGEST: usize = 4096;

/// The token that requests must have. Only its hash is kept, so that it cannot be printed by accident; hashes are compared
/// in constant time, so that guessing does not reveal a part of it.
///
/// ```
/// use secateur_server::AccessToken;
///
/// let token = AccessToken::new("correct-horse-battery")?;
/// assert!(token.is("correct-horse-battery"));
/// assert!(!token.is("correct-horse-batterz"));
/// assert!(AccessToken::new("short").is_err());
/// # Ok::<(), secateur_server::BadToken>(())
/// ```
#[derive(Clone)]
pub struct AccessToken([u8; 32]);

/// A token and whose it is. Several tokens may have the same tenant: one for each of its machines, or an old one and its
/// successor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantToken {
    /// The token.
    pub token: AccessToken,
    /// The tenant whose sessions its requests see and add to.
    pub tenant: String,
    /// Whether it also sees the sessions of all other tenants, and the metrics.
    pub is_operator: bool,
}

impl TenantToken {
    /// The token of the machine's own user, who is the operator.
    pub fn of_owner(token: AccessToken) -> Self {
        Self { token, tenant: LOCAL_TENANT.to_owned(), is_operator: true }
    }
}

/// A text that cannot be a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadToken {
    /// Its file cannot be read.
    #[error("cannot read the token in {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is too short, too long, or has characters that are not allowed.
    #[error(
        "a token has {SHORTEST} to {LONGEST} letters, digits, or characters of -._~+/=, but this one {reason}; \
         `openssl rand -hex 32` makes one"
    )]
    Unfit {
        /// What is wrong with it.
        reason: String,
    },
}

impl AccessToken {
    /// Makes a token from its text.
    pub fn new(word: &str) -> Result<Self, BadToken> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let reason = match word.len() {
            0 => "is empty".to_owned(),
            short if short < SHORTEST => format!("has {short}"),
            long if long > LONGEST => format!("has {long}"),
            _ if !word.bytes().all(is_fit) => "has other characters".to_owned(),
            _ => return Ok(Self(Sha256::digest(word).into())),
        };
        Err(BadToken::Unfit { reason })
    }

    /// Makes a token from the SHA-256 of its text; none unless it is written as 64 hexadecimal digits.
    pub fn from_hash(digits: &str) -> Option<Self> {
        let mut hash = [0; 32];
        if digits.len() != 64 || !digits.is_ascii() {
            return None;
        }
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(hash))
    }

    /// Reads a token from a file, without the white space around it.
    pub fn read(path: &Path) -> Result<Self, BadToken> {
        let unreadable = |source| BadToken::Unreadable { path: path.to_owned(), source };
        Self::new(std::fs::read_to_string(path).map_err(unreadable)?.trim())
    }

    /// Whether this is its text.
    pub fn is(&self, word: &str) -> bool {
        let other: [u8; 32] = Sha256::digest(word).into();
        self.0.ct_eq(&other).into()
    }
}

impl PartialEq for AccessToken {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for AccessToken {}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_token_is_refused_and_shown_nowhere() {
        for word in
            ["", "hunter2-hunter2", "with a blank inside", "line\nfeed-and-more-of-it", &"x".repeat(4097)]
        {
            let error = AccessToken::new(word).unwrap_err().to_string();
            assert!(error.contains("openssl rand"), "{error}");
            assert!(word.is_empty() || !error.contains(word), "{error}");
        }
        let token = AccessToken::new("a-token-of-some-length").unwrap();
        assert_eq!(format!("{token:?}"), "AccessToken(…)");
    }

    #[test]
    fn a_hash_stands_for_its_token() {
        let digits: String =
            Sha256::digest("a-token-of-some-length").iter().map(|b| format!("{b:02x}")).collect();
        assert!(AccessToken::from_hash(&digits).unwrap().is("a-token-of-some-length"));
        assert!(!AccessToken::from_hash(&digits).unwrap().is("another-token-of-length"));
        for bad in ["", "00", &"g".repeat(64), &"é".repeat(32), &digits[1..]] {
            assert!(AccessToken::from_hash(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_token_is_read_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        assert!(AccessToken::read(&path).unwrap_err().to_string().contains("cannot read the token"));
        std::fs::write(&path, "  a-token-of-some-length\n").unwrap();
        assert!(AccessToken::read(&path).unwrap().is("a-token-of-some-length"));
    }
}
