//! Why a user's pattern cannot be used.

use thiserror::Error;

/// Why a user's pattern cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The name does not fit into a marker.
    #[error(
        "the name {name:?} of a pattern does not fit into a marker; use 1 to 48 small letters, digits and hyphens"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The pattern is not a regular expression, or too large.
    #[error("the pattern {name} is not a usable regular expression: {source}")]
    Pattern {
        /// The name of the pattern.
        name: String,
        /// What is wrong with it.
        source: Box<regex::Error>,
    },
    /// The pattern matches the empty text.
    #[error("the pattern {name} matches the empty text; it must match at least one character")]
    Empty {
        /// The name of the pattern.
        name: String,
    },
    /// There are too many patterns.
    #[error("there are more than {limit} patterns; join some of them with |")]
    TooMany {
        /// The most patterns.
        limit: usize,
    },
}
