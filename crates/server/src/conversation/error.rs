//! Why less is done to a request than might have been.

use secateur_engine::EngineError;
use secateur_formats::json::SyntaxError;
use secateur_store::StoreError;

use super::spans::{MOST_LEVELS, Opaque};

/// Why a request is passed on with less done to it than might have been.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Hindrance {
    /// It is no conversation that could be read.
    #[error(transparent)]
    Opaque(#[from] Opaque),
    /// The conversation lies at the provider.
    #[error("the conversation is kept by the provider")]
    Remote,
    /// The provider keeps it small by itself.
    #[error("the provider is asked to keep the conversation small by itself")]
    Managed,
    /// The engine or its store did not do as it was asked.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What was decided would have been refused by the provider.
    #[error("the provider would refuse what was decided: {rule}")]
    Lint {
        /// The rule that would be broken, and where.
        rule: String,
    },
}

/// A request that is made to do harm. It is the only one that is not passed on.
#[derive(Debug, thiserror::Error)]
#[error("the body nests more than {MOST_LEVELS} levels deep")]
pub(crate) struct TooDeep;

impl Hindrance {
    /// Whether the request is not even passed on.
    pub(super) fn is_hostile(&self) -> bool {
        matches!(self, Hindrance::Opaque(Opaque::Syntax(SyntaxError::TooDeep { .. })))
    }

    /// Whether somebody else was faster: it may be tried again.
    pub(super) fn is_collision(&self) -> bool {
        matches!(self, Hindrance::Engine(error) if error.is_collision())
    }

    /// Whether the store does not have the session that is in memory: it was replaced by another one, or an older one.
    pub(super) fn is_orphaned(&self) -> bool {
        matches!(self, Hindrance::Engine(EngineError::Store(StoreError::NoSession { .. })))
    }

    /// One word for a counter.
    pub(super) fn cause(&self) -> &'static str {
        match self {
            Hindrance::Opaque(_) => "not-understood",
            Hindrance::Remote => "kept-by-provider",
            Hindrance::Managed => "managed-by-provider",
            Hindrance::Engine(EngineError::Store(_)) => "store",
            Hindrance::Engine(EngineError::NoRoom(_)) => "no-room",
            Hindrance::Engine(_) => "internal",
            Hindrance::Lint { .. } => "lint",
        }
    }
}
