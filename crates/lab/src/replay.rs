//! The replay: what every request of a session would have held, and cost, under a policy.
//!
//! A policy is played from the first call on. What it sees at a call is what there was then; what it cuts stays cut if
//! its cuts last, and is decided anew if they do not. The provider's cache holds what was sent last: a request costs a
//! cached read up to the first part that differs from that, and a write from there on.
//!
//! The tokens of a request are those that the provider reported, less what was cut. So without a policy the replay
//! gives what was recorded, and what a log does not show, such as instructions, is counted as it was.
//!
//! What an action needs and does not find is read again: one more call, and the result is in the context once more, at
//! its end and to stay.

mod context;
mod replayer;
mod signed_blocks;

use secateur::{PartIx, Profile, Reason};

use crate::needs::TextNeed;
use crate::price_sheet::PriceSheet;
use crate::pricing::Pricing;
use crate::trace::Trace;
use replayer::Replayer;

/// Under which terms a session is replayed.
#[derive(Clone, Copy, Debug)]
pub struct ReplayTerms<'a> {
    /// What tokens cost.
    pub sheet: &'a PriceSheet,
    /// Whether calls are cold as they were recorded; otherwise by the sheet's time-to-live.
    pub as_billed: bool,
    /// The window at which a session is compacted; none if it never is. Policies that look at the window plan for
    /// this one, or for [`ReplayTerms::USUAL_WINDOW`].
    pub window: Option<f64>,
}

impl<'a> ReplayTerms<'a> {
    /// The window that policies plan for if none is named, in tokens.
    pub const USUAL_WINDOW: f64 = 200_000.0;

    /// The rule by which requests are charged under these terms.
    pub fn pricing(&self) -> Pricing<'a> {
        Pricing { sheet: self.sheet, as_billed: self.as_billed }
    }
}

/// One request of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplayStep {
    /// Tokens of the request.
    pub context: f64,
    /// Tokens of it that the cache held.
    pub cached: f64,
    /// The cache had expired.
    pub cold: bool,
    /// What was cut changed the prefix while the cache was warm.
    pub broke: bool,
    /// Why the part that changed first was cut, if cuts changed the prefix.
    pub cause: Option<Reason>,
    /// Results that were cut, or shortened, before any call had seen them.
    pub unseen: u32,
    /// The session was compacted for this request.
    pub compacted: bool,
}

/// Something that was needed when it was gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The call whose response needed it.
    pub call: u32,
    /// Which of the needs.
    pub need: usize,
    /// The result that has to be read again: the newest that held it.
    pub source: PartIx,
    /// Why that was cut; none if a compaction took it.
    pub reason: Option<Reason>,
    /// At which call it was cut.
    pub cut_at: u32,
}

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayRun {
    /// The requests, oldest first.
    pub steps: Vec<ReplayStep>,
    /// What was missed.
    pub misses: Vec<Miss>,
    /// Cost of input, in tokens of plain input.
    pub input_cost: f64,
    /// Cost of output.
    pub output_cost: f64,
    /// Cost of summaries.
    pub summary_cost: f64,
    /// Cost of the calls that read again what was missed.
    pub reread_cost: f64,
    /// Cost of what the model thought again, because a cut invalidated its thinking.
    pub rethink_cost: f64,
    /// How often the session was compacted.
    pub compactions: u32,
}

impl ReplayRun {
    /// The whole bill.
    pub fn cost(&self) -> f64 {
        self.input_cost + self.output_cost + self.summary_cost + self.reread_cost + self.rethink_cost
    }

    /// Input tokens of all requests.
    pub fn tokens(&self) -> f64 {
        self.steps.iter().map(|step| step.context).sum()
    }

    /// How often a cut invalidated a warm cache.
    pub fn breaks(&self) -> usize {
        self.steps.iter().filter(|step| step.broke).count()
    }

    /// Results that were cut, or shortened, before any call had seen them.
    pub fn unseen(&self) -> u32 {
        self.steps.iter().map(|step| step.unseen).sum()
    }
}

/// Plays a session under a profile. `needs` are what its actions need, in the order of calls.
pub fn replay(trace: &Trace, profile: &Profile, needs: &[TextNeed], terms: &ReplayTerms<'_>) -> ReplayRun {
    let mut replayer = Replayer::new(trace, profile, terms);
    let mut needs = needs.iter().enumerate().peekable();
    for call in 0..trace.calls.len() {
        replayer.ask(call);
        while let Some((index, need)) = needs.next_if(|(_, need)| need.call as usize <= call) {
            replayer.act(index, need);
        }
    }
    replayer.run
}
