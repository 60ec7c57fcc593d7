//! The rules that a request can break.

use std::fmt;

use serde::{Serialize, Serializer};

/// A rule of one or more providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// The body must be JSON.
    NotJson,
    /// The body must be an object.
    NotAnObject,
    /// A required member must be there.
    MissingField,
    /// A member must be of the right type.
    WrongType,
    /// The role must be one that the provider knows.
    UnknownRole,
    /// The conversation must start with its user, and calls must follow a user's or a result's turn.
    RoleOrder,
    /// A result must have a call.
    OrphanedResult,
    /// A call must have a result.
    CallWithoutResult,
    /// A result must be in the place where the provider looks for it.
    MisplacedResult,
    /// A call must be in a message of the model, with an id.
    MisplacedCall,
    /// Each call has an id of its own.
    DuplicateCall,
    /// Each call has one result.
    DuplicateResult,
    /// Each item has an id of its own.
    DuplicateItem,
    /// Each tool has a name of its own.
    DuplicateTool,
    /// Messages and blocks must not be empty.
    EmptyContent,
    /// A request must end with something to answer, unless the model is to go on from its own text and can.
    NothingToAnswer,
    /// The text that the model is to go on from must not end in white space.
    TrailingWhitespace,
    /// Thinking must carry its signature.
    UnsignedThinking,
    /// Something must follow thinking.
    DetachedThinking,
    /// Cache marks are limited in number and in place.
    CacheMark,
    /// Ids must have the form that the provider demands.
    InvalidId,
    /// Names of tools must have the form that the provider demands.
    InvalidName,
    /// Escapes in strings must be whole surrogate pairs.
    LoneSurrogate,
    /// Images and documents are limited in size and number.
    MediaLimit,
    /// Requests are limited in size.
    TooLarge,
}

impl Rule {
    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Rule::NotJson => "not-json",
            Rule::NotAnObject => "not-an-object",
            Rule::MissingField => "missing-field",
            Rule::WrongType => "wrong-type",
            Rule::UnknownRole => "unknown-role",
            Rule::RoleOrder => "role-order",
            Rule::OrphanedResult => "orphaned-result",
            Rule::CallWithoutResult => "call-without-result",
            Rule::MisplacedResult => "misplaced-result",
            Rule::MisplacedCall => "misplaced-call",
            Rule::DuplicateCall => "duplicate-call",
            Rule::DuplicateResult => "duplicate-result",
            Rule::DuplicateItem => "duplicate-item",
            Rule::DuplicateTool => "duplicate-tool",
            Rule::EmptyContent => "empty-content",
            Rule::NothingToAnswer => "nothing-to-answer",
            Rule::TrailingWhitespace => "trailing-whitespace",
            Rule::UnsignedThinking => "unsigned-thinking",
            Rule::DetachedThinking => "detached-thinking",
            Rule::CacheMark => "cache-mark",
            Rule::InvalidId => "invalid-id",
            Rule::InvalidName => "invalid-name",
            Rule::LoneSurrogate => "lone-surrogate",
            Rule::MediaLimit => "media-limit",
            Rule::TooLarge => "too-large",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
