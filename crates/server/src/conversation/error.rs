//! Why a conversation cannot be managed as usual.

use secateur_engine::EngineError;
use secateur_formats::json::SyntaxError;
use secateur_store::StoreError;

use super::spans::{MAX_DEPTH, UnreadableBody};
use crate::outcome::PassReason;

/// Why a request is not managed as usual.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConversationError {
    /// The body has no conversation that can be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableBody),
    /// The provider holds the history.
    #[error("the provider holds the history")]
    KeptByProvider,
    /// The provider was asked to manage the context.
    #[error("the provider is asked to manage the context")]
    ManagedByProvider,
    /// The engine or its store failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The session took in messages of other clients while this request was decided.
    #[error("session {session} changed while the request was decided")]
    Outdated { session: String },
    /// Other requests changed the session each time.
    #[error("session {session} kept changing while the request was decided")]
    Contended { session: String },
    /// A branch cannot begin where its first messages end, because the session does not have them.
    #[error("session {session} does not have message {message}, where a branch begins")]
    NoBranchPoint { session: String, message: usize },
    /// The provider refused thinking that can be neither dropped nor left out.
    #[error("session {session} has thinking that the provider refuses and wants back")]
    BoundThinking { session: String },
    /// The provider would reject the shortened request.
    #[error("the provider would reject the shortened request: {rule}")]
    Lint {
        /// The rule that would be broken, and where.
        rule: String,
    },
}

/// A body that is nested too deeply. It is the only one that is refused instead of passed through.
#[derive(Debug, thiserror::Error)]
#[error("the body nests more than {MAX_DEPTH} levels deep")]
pub(crate) struct TooDeep;

impl ConversationError {
    /// Whether the body is nested too deeply.
    pub(super) fn is_too_deep(&self) -> bool {
        matches!(self, Self::Unreadable(UnreadableBody::Syntax(SyntaxError::TooDeep { .. })))
    }

    /// Whether another request changed the session first, so that another try may succeed.
    pub(super) fn is_collision(&self) -> bool {
        match self {
            Self::Outdated { .. } => true,
            Self::Engine(error) => error.is_collision(),
            _ => false,
        }
    }

    /// Whether the store does not have the session: it was replaced by another store, or an older one.
    pub(super) fn is_session_lost(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Store(StoreError::NoSession { .. })))
    }

    /// Whether the branch cannot be used, although the conversation may continue in a new one: the store failed, what it
    /// has cannot be read, or the place at which the request leaves the branch is gone.
    pub(super) fn leaves_branch(&self) -> bool {
        let is_broken = matches!(
            self,
            Self::NoBranchPoint { .. } | Self::Engine(EngineError::Store(_) | EngineError::Unreadable { .. })
        );
        is_broken && !self.is_collision() && !self.is_session_lost()
    }

    /// The same for headers and metrics.
    pub(super) fn pass_reason(&self) -> PassReason {
        match self {
            Self::Unreadable(_) => PassReason::NotUnderstood,
            Self::KeptByProvider => PassReason::KeptByProvider,
            Self::ManagedByProvider => PassReason::ManagedByProvider,
            Self::Engine(EngineError::Store(_)) | Self::Outdated { .. } => PassReason::Store,
            Self::Engine(EngineError::NoRoom(_)) => PassReason::NoRoom,
            Self::Engine(_) | Self::Contended { .. } | Self::NoBranchPoint { .. } => PassReason::Internal,
            Self::BoundThinking { .. } => PassReason::Thinking,
            Self::Lint { .. } => PassReason::Lint,
        }
    }
}
