//! The result of calling all hooks.

use serde::Serialize;

use super::moment::HookMoment;
use super::response::HookResponse;

/// The result of calling all hooks at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HooksVerdict {
    /// Their merged responses. Still not trusted.
    pub response: HookResponse,
    /// The hooks that were called, in order, with the result of each: for events.
    pub asked: Vec<HookRecord>,
}

/// The result of one hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookRecord {
    /// Its name.
    pub hook: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub outcome: HookOutcome,
}

/// What happened when a hook was called. It contains nothing from its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum HookOutcome {
    /// It returned nothing.
    Silent,
    /// It returned something.
    Answered {
        /// How many of its texts and ids were cut or dropped because they were too long, too many, or not allowed at
        /// this moment.
        curtailed: usize,
    },
    /// It vetoed.
    Vetoed,
    /// It was skipped.
    Failed {
        /// Why.
        why: String,
    },
}

impl HooksVerdict {
    /// The hook that vetoed, if any.
    pub fn vetoed_by(&self) -> Option<&str> {
        self.asked.iter().find(|asked| asked.outcome == HookOutcome::Vetoed).map(|asked| asked.hook.as_str())
    }

    /// Adds the response of one hook.
    pub(super) fn take_in(&mut self, said: HookResponse, moment: HookMoment) -> HookOutcome {
        if said.is_empty() {
            return HookOutcome::Silent;
        }
        let curtailed = self.response.merge(said, moment);
        if self.response.veto.is_some() { HookOutcome::Vetoed } else { HookOutcome::Answered { curtailed } }
    }
}
