//! Why there is no answer.

use std::time::Duration;

use thiserror::Error;

use super::Finish;

/// Answers that say "later": the same request may well go through in a while.
const PASSING: [u16; 5] = [500, 502, 503, 504, 529];

/// Why a model gave no answer.
///
/// A `message` is the provider's, at most 400 characters of it, without control characters and without our key.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// The prompt does not fit into the model's window.
    #[error("the prompt does not fit: {}; send less", describe(*used, *limit))]
    Overflow {
        /// What the provider counted against the limit.
        used: Option<u64>,
        /// The limit.
        limit: Option<u64>,
    },
    /// Too many requests, or too many tokens, in too short a time.
    #[error("the provider limits the rate of requests: {message}")]
    RateLimited {
        /// How long it wants us to wait.
        retry_after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// The provider does not want this request: a wrong key, an unknown model, a fault in the request.
    #[error("the provider refused the request with status {status}: {message}")]
    Refused {
        /// The status of the answer, or the one that its kind of error usually has.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The key that the provider wants is not there, so it was not asked.
    #[error(
        "it was not asked: the variable {variable} of the environment holds no key; set it, or name no key_env"
    )]
    NoKey {
        /// The variable.
        variable: String,
    },
    /// The provider is in trouble itself.
    #[error("the provider failed with status {status}: {message}")]
    Server {
        /// The status of the answer, or the one that its kind of error usually has.
        status: u16,
        /// How long it wants us to wait.
        retry_after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// The provider could not be reached, or was gone before it said anything.
    #[error("the provider cannot be reached: {reason}")]
    Network {
        /// What the system said.
        reason: String,
    },
    /// The answer took too long as a whole, with everything that was tried.
    #[error("there was no whole answer within {after:?}")]
    Timeout {
        /// The longest time for an answer.
        after: Duration,
    },
    /// Not a byte came for too long.
    #[error("the provider was silent for {after:?}")]
    Silent {
        /// The longest silence.
        after: Duration,
    },
    /// The answer ended before the model said that it was done.
    #[error("the answer broke off after {received} bytes of text")]
    CutOff {
        /// How much text there was. It is no answer.
        received: usize,
    },
    /// What came is not what this wire's answers look like.
    #[error("the answer cannot be read: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The model called a tool although it was given none.
    #[error("the model called a tool; it has none and was to answer with text")]
    CalledTool,
    /// The answer has no text.
    #[error(
        "the answer is blank (it ended as {finish:?}); a model that thinks may need more tokens for its answer"
    )]
    Empty {
        /// Why it ended.
        finish: Finish,
    },
    /// The answer is longer than allowed.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The most bytes: of its text, of one event, or of everything that was sent.
        limit: usize,
    },
}

impl ModelError {
    /// Whether the same request may go through a little later. A [client](super::ModelClient) asks again for exactly
    /// these.
    ///
    /// What broke off is not among them: it was paid for, and who asked may know something better than to pay again.
    ///
    /// ```
    /// use secateur_engine::provider::ModelError;
    ///
    /// assert!(ModelError::Network { reason: "connection refused".into() }.is_worth_retrying());
    /// assert!(!ModelError::CalledTool.is_worth_retrying());
    /// ```
    pub fn is_worth_retrying(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Network { .. } => true,
            Self::Server { status, .. } => PASSING.contains(status),
            _ => false,
        }
    }

    /// How long the provider wants us to wait before we ask again, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

fn describe(used: Option<u64>, limit: Option<u64>) -> String {
    match (used, limit) {
        (Some(used), Some(limit)) => format!("{used} tokens, {limit} are allowed"),
        (Some(used), None) => format!("{used} tokens are too many"),
        (None, Some(limit)) => format!("{limit} tokens are allowed"),
        (None, None) => "the provider gave no numbers".to_owned(),
    }
}
