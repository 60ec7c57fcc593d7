//! Why a pattern of the user cannot be used.

use thiserror::Error;

/// Why a pattern of the user cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The name would not fit into a marker.
    #[error(
        "the pattern's name {name:?} cannot stand in a marker; use 1 to 48 small letters, digits and hyphens"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The pattern is not a regular expression, or too large a one.
    #[error("the pattern {name} is not a regular expression that can be used: {source}")]
    Pattern {
        /// The name of the pattern.
        name: String,
        /// What is wrong with it.
        source: Box<regex::Error>,
    },
    /// The pattern would replace places where nothing is.
    #[error("the pattern {name} matches the empty text; make it ask for at least one character")]
    Empty {
        /// The name of the pattern.
        name: String,
    },
    /// More patterns than are tried on every text.
    #[error("there are more than {limit} patterns; join some of them with |")]
    TooMany {
        /// The most there may be.
        limit: usize,
    },
}
