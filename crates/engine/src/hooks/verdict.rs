//! What came of asking all hooks.

use serde::Serialize;

use super::moment::HookMoment;
use super::response::HookResponse;

/// What came of asking all hooks at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HooksVerdict {
    /// What they said, together. Still untrusted.
    pub response: HookResponse,
    /// Who was asked, in order, and what each did: for events.
    pub asked: Vec<HookRecord>,
}

/// What one hook did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookRecord {
    /// Its name.
    pub hook: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: HookOutcome,
}

/// What came of asking one hook. It holds nothing that the hook said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum HookOutcome {
    /// It had nothing to say.
    Silent,
    /// It said something.
    Answered {
        /// How many of its texts and ids were cut or left off, because they were too long or too many, or have no
        /// place at this moment.
        curtailed: usize,
    },
    /// It was against it.
    Vetoed,
    /// It was skipped.
    Failed {
        /// Why.
        why: String,
    },
}

impl HooksVerdict {
    /// The hook that was against it, if one was.
    pub fn vetoed_by(&self) -> Option<&str> {
        self.asked.iter().find(|asked| asked.outcome == HookOutcome::Vetoed).map(|asked| asked.hook.as_str())
    }

    /// Takes in what one hook said.
    pub(super) fn take_in(&mut self, said: HookResponse, moment: HookMoment) -> HookOutcome {
        if said.is_empty() {
            return HookOutcome::Silent;
        }
        let curtailed = self.response.merge(said, moment);
        if self.response.veto.is_some() { HookOutcome::Vetoed } else { HookOutcome::Answered { curtailed } }
    }
}
