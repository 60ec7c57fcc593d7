//! Why there is no response.

use std::time::Duration;

use thiserror::Error;

use super::Finish;

/// Transient statuses: the same request may succeed later.
const PASSING: [u16; 5] = [500, 502, 503, 504, 529];

/// Why a model gave no response.
///
/// A `message` is the provider's, at most 400 characters, without control characters and without our key.
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
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// The provider refuses the request: wrong key, unknown model, or an invalid request.
    #[error("the provider refused the request with status {status}: {message}")]
    Refused {
        /// The status of the response, or the usual one for this kind of error.
        status: u16,
        /// The provider's message.
        message: String,
    },
    /// The key is missing, so nothing was sent.
    #[error("not sent: the environment variable {variable} contains no key; set it, or remove key_env")]
    NoKey {
        /// The variable.
        variable: String,
    },
    /// The provider itself failed.
    #[error("the provider failed with status {status}: {message}")]
    Server {
        /// The status of the response, or the usual one for this kind of error.
        status: u16,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// The provider could not be reached, or disconnected before it responded.
    #[error("the provider cannot be reached: {reason}")]
    Network {
        /// The system's error.
        reason: String,
    },
    /// The response took too long in total, including retries.
    #[error("no complete response within {after:?}")]
    Timeout {
        /// The time limit.
        after: Duration,
    },
    /// No byte arrived for too long.
    #[error("the provider was silent for {after:?}")]
    Silent {
        /// The longest pause.
        after: Duration,
    },
    /// The response ended before the model had finished.
    #[error("the response broke off after {received} bytes of text")]
    CutOff {
        /// The bytes of text received, which are not a response.
        received: usize,
    },
    /// The response is not what this wire specifies.
    #[error("the response cannot be read: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The model called a tool although it was given none.
    #[error("the model called a tool although it has none")]
    CalledTool,
    /// The response has no text.
    #[error("the response is blank (finish: {finish:?}); a model that thinks may need a larger output limit")]
    Empty {
        /// Why it ended.
        finish: Finish,
    },
    /// The response is longer than allowed.
    #[error("the response is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes: of the text, of one event, or of everything sent.
        limit: usize,
    },
}

impl ModelError {
    /// Whether the same request may succeed later. A [client](super::ModelClient) repeats exactly these.
    ///
    /// A response that broke off is not among them: it was paid for, so the caller decides whether to pay again.
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

    /// How long the provider asks to wait, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

fn describe(used: Option<u64>, limit: Option<u64>) -> String {
    match (used, limit) {
        (Some(used), Some(limit)) => format!("{used} tokens, {limit} allowed"),
        (Some(used), None) => format!("{used} tokens"),
        (None, Some(limit)) => format!("at most {limit} tokens"),
        (None, None) => "the provider reported no numbers".to_owned(),
    }
}
