//! The token that requests must have.

use std::fmt;
use std::path::{Path, PathBuf};

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
    fn a_token_is_read_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        assert!(AccessToken::read(&path).unwrap_err().to_string().contains("cannot read the token"));
        std::fs::write(&path, "  a-token-of-some-length\n").unwrap();
        assert!(AccessToken::read(&path).unwrap().is("a-token-of-some-length"));
    }
}
