//! What becomes of the calls of a simulated store.

use crate::seeded_random::SeededRandom;

/// How a simulated store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCondition {
    /// It works, and takes no time.
    Works,
    /// It works, and some calls take a few milliseconds, so that others come in between.
    Busy,
    /// Nothing is done, and every call is an error.
    Fails,
    /// The disk is full: everything can be read, and nothing written.
    Full,
    /// Everything is done, but half of the calls that write end with an error.
    LosesAnswers,
    /// A quarter of the calls fail, done or not.
    Flaky,
    /// Every call is done and takes up to eight seconds.
    Slow,
    /// No call ends, done or not.
    Hangs,
}

/// Whether a call reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreAccess {
    Read,
    Write,
}

/// What becomes of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallFate {
    /// Milliseconds until it is done.
    pub wait_before: u64,
    pub is_done: bool,
    pub hangs: bool,
    /// Milliseconds until its caller is told.
    pub wait_after: u64,
    /// The caller learns what happened; otherwise it gets an error.
    pub is_told: bool,
}

const DONE: CallFate = CallFate { wait_before: 0, is_done: true, hangs: false, wait_after: 0, is_told: true };

/// Calls that take longer count as faults: the proxy gives up soon after.
const SLOW_MS: u64 = 200;

pub(super) struct StoreFaults {
    random: SeededRandom,
    pub condition: StoreCondition,
    /// The call that fails, counted from 1.
    pub failing: Option<u64>,
    pub calls: u64,
    pub power_losses: u64,
    /// The calls so far that did not go as usual.
    pub count: u64,
}

impl StoreFaults {
    pub(super) fn new(random: SeededRandom) -> Self {
        Self { random, condition: StoreCondition::Works, failing: None, calls: 0, power_losses: 0, count: 0 }
    }

    /// Decides what becomes of a call.
    pub(super) fn decide(&mut self, access: StoreAccess) -> CallFate {
        self.calls += 1;
        let fate = self.draw(access);
        let is_usual = fate.is_done && fate.is_told && !fate.hangs;
        if !is_usual || fate.wait_before + fate.wait_after > SLOW_MS {
            self.count += 1;
        }
        fate
    }

    fn draw(&mut self, access: StoreAccess) -> CallFate {
        if self.failing.is_some_and(|failing| failing <= self.calls) {
            self.failing = None;
            return self.fail(access);
        }
        let random = &mut self.random;
        match self.condition {
            StoreCondition::Works => DONE,
            StoreCondition::Busy => {
                let ms =
                    |random: &mut SeededRandom| if random.happens(40) { 1 + random.below(20) } else { 0 };
                CallFate { wait_before: ms(random), wait_after: ms(random), ..DONE }
            }
            StoreCondition::Fails => CallFate { is_done: false, ..DONE },
            StoreCondition::Full => CallFate { is_done: access == StoreAccess::Read, ..DONE },
            StoreCondition::LosesAnswers => {
                CallFate { is_told: access == StoreAccess::Read || random.happens(50), ..DONE }
            }
            StoreCondition::Flaky if random.happens(25) => self.fail(access),
            StoreCondition::Flaky => DONE,
            StoreCondition::Slow => {
                CallFate { wait_before: random.below(4_000), wait_after: random.below(4_000), ..DONE }
            }
            StoreCondition::Hangs => {
                CallFate { is_done: access == StoreAccess::Write && random.happens(50), hangs: true, ..DONE }
            }
        }
    }

    /// A call fails: it was done, or not.
    fn fail(&mut self, access: StoreAccess) -> CallFate {
        let is_done = access == StoreAccess::Write && self.random.happens(50);
        CallFate { is_done, is_told: false, ..DONE }
    }

    /// What becomes of a call during which the power went off.
    pub(super) fn interrupt(&mut self, access: StoreAccess) -> CallFate {
        self.fail(access)
    }
}
