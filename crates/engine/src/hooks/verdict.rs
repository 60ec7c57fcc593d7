//! What came of asking all hooks.

use serde::Serialize;

use super::moment::Moment;
use super::reply::Reply;

/// What came of asking all hooks at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What they said, together. Still untrusted.
    pub reply: Reply,
    /// Who was asked, in order, and what each did: for events.
    pub asked: Vec<Asked>,
}

/// What one hook did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// Its name.
    pub hook: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of asking one hook. It holds nothing that the hook said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
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

impl Verdict {
    /// The hook that was against it, if one was.
    pub fn vetoed_by(&self) -> Option<&str> {
        self.asked.iter().find(|asked| asked.outcome == Outcome::Vetoed).map(|asked| asked.hook.as_str())
    }

    /// Takes in what one hook said.
    pub(super) fn take_in(&mut self, said: Reply, moment: Moment) -> Outcome {
        if said.is_empty() {
            return Outcome::Silent;
        }
        let curtailed = self.reply.merge(said, moment);
        if self.reply.veto.is_some() { Outcome::Vetoed } else { Outcome::Answered { curtailed } }
    }
}
