//! How a request ended.

use secateur::Usage;
use secateur::session::{Input, TurnState};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The model responded.
    Responded {
        /// What the provider reported.
        usage: Usage,
        /// Whether the model has more to do.
        turn: TurnState,
    },
    /// The provider refused it as too long.
    Overflow {
        /// The tokens that it counted, if it reported them.
        tokens: Option<u64>,
    },
}

impl Settlement {
    /// The machine's input, for a request of this many characters.
    pub(super) fn input(self, sent: Option<u64>, now: i64) -> Input {
        match self {
            Settlement::Responded { usage, turn } => Input::Responded { usage, turn, sent, now },
            Settlement::Overflow { tokens } => Input::Refused { tokens, sent, now },
        }
    }
}
