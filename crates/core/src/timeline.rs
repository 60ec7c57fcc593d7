//! The context over time: how full it was at each request.
//!
//! What a request held is known from the [lives](crate::Outline::context) of messages; what it weighed, from the
//! provider's reports where there are any, and by a [calibrated](crate::Calibration) estimate where there are none.
//!
//! ```
//! use secateur::{ModelCall, PartKind, MessageFacts, Outline, PartFacts, Role, Sizes, Usage};
//!
//! let mut outline = Outline::default();
//! outline.push_message(MessageFacts { role: Role::User, ..Default::default() });
//! let sizes = Sizes { units: 3_200, ..Default::default() };
//! outline.push_part(PartFacts { kind: PartKind::Text, sizes, ..Default::default() });
//! let message = outline.push_message(MessageFacts { role: Role::Assistant, ..Default::default() });
//! outline.push_model_call(ModelCall { message, time: None, usage: Usage { input: 900, ..Default::default() } });
//!
//! let moments = outline.timeline();
//! assert_eq!(moments.len(), 1);
//! assert_eq!((moments[0].chars, moments[0].estimated, moments[0].recorded), (3_200, 1_000, Some(900)));
//! ```

use serde::Serialize;

use crate::calibration::Calibration;
use crate::outline::{MessageIx, Outline, PartIx, PartKind};
use crate::policy::PLACEHOLDER;

/// One request of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimelinePoint {
    /// The message that the request produced.
    pub message: MessageIx,
    /// When it was made, in milliseconds since 1970, if known.
    pub time: Option<i64>,
    /// Characters of the context, as far as the log shows it.
    pub chars: u64,
    /// What the context was expected to weigh, in tokens, before the provider answered.
    pub estimated: u64,
    /// What the provider said that it weighed.
    pub recorded: Option<u64>,
    /// How much of it the provider read from its cache.
    pub cached: Option<u64>,
    /// The provider had most of the context in its cache once, and no more: all of it was paid in full.
    pub cold: bool,
}

impl Calibration {
    /// What all reports of a session teach together.
    pub fn of(timeline: &[TimelinePoint]) -> Self {
        let mut calibration = Self::default();
        for moment in timeline {
            if let Some(recorded) = moment.recorded {
                calibration.observe(moment.chars, recorded);
            }
        }
        calibration
    }
}

impl Outline {
    /// The characters with which a part counts in a context: those of its text, or of the placeholder if it was cut.
    pub fn sent(&self, part: PartIx) -> u64 {
        match self.kind(part) {
            PartKind::Result if self.is_cut(part) => PLACEHOLDER.len() as u64,
            PartKind::Text | PartKind::Reasoning | PartKind::Call | PartKind::Result => self.units(part),
            PartKind::Signature | PartKind::Media | PartKind::Compaction | PartKind::Other => 0,
        }
    }

    /// The requests of a session in order: the model calls that were recorded, or, without any, every message of
    /// the model.
    pub fn timeline(&self) -> Vec<TimelinePoint> {
        let weights = self.context_weights();
        let chars_at = |message: MessageIx| weights.get(message.0 as usize).copied().unwrap_or(0);
        let mut calibration = Calibration::default();
        let mut moments = Vec::new();
        let caches = self.model_calls().iter().any(|call| call.usage.cache_read > 0);
        for call in self.model_calls() {
            let chars = chars_at(call.message);
            let recorded = u64::try_from(call.usage.context()).unwrap_or(0);
            let cached = u64::try_from(call.usage.cache_read).unwrap_or(0);
            let before = moments.last().and_then(|moment: &TimelinePoint| moment.recorded).unwrap_or(0);
            moments.push(TimelinePoint {
                message: call.message,
                time: call.time,
                chars,
                estimated: calibration.predict(chars),
                recorded: Some(recorded),
                cached: Some(cached),
                cold: caches && cached.saturating_mul(2) < recorded.min(before),
            });
            calibration.observe(chars, recorded);
        }
        if moments.is_empty() {
            let silent = |&message: &MessageIx| TimelinePoint {
                message,
                time: self.time(message),
                chars: chars_at(message),
                estimated: calibration.predict(chars_at(message)),
                recorded: None,
                cached: None,
                cold: false,
            };
            moments.extend(self.assistants().iter().map(silent));
        }
        moments
    }

    /// For each message, the characters of the context that it was the answer to; one more for the next request.
    fn context_weights(&self) -> Vec<u64> {
        let count = self.message_count();
        // What comes and what goes at each message; both sums only grow, so their difference is never negative.
        let (mut come, mut gone) = (vec![0u64; count + 1], vec![0u64; count + 1]);
        for message in self.messages() {
            let weight: u64 = self.parts_of(message).map(|part| self.sent(PartIx(part))).sum();
            come[message.0 as usize + 1] += weight;
            if let Some(at) = self.gone(message) {
                gone[(at.0 as usize).min(count).max(message.0 as usize + 1)] += weight;
            }
        }
        let mut alive = 0u64;
        come.iter()
            .zip(&gone)
            .map(|(come, gone)| {
                alive = (alive + come).saturating_sub(*gone);
                alive
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageFacts, ModelCall, PartFacts, Role, Sizes, Usage};

    fn message(outline: &mut Outline, role: Role, units: u64) -> MessageIx {
        let message = outline.push_message(MessageFacts { role, ..MessageFacts::default() });
        let sizes = Sizes { units, ..Sizes::default() };
        outline.push_part(PartFacts { kind: PartKind::Text, sizes, ..PartFacts::default() });
        message
    }

    fn called(outline: &mut Outline, message: MessageIx, input: i64, cache_read: i64) {
        let usage = Usage { input, cache_read, ..Usage::default() };
        outline.push_model_call(ModelCall { message, time: None, usage });
    }

    #[test]
    fn what_left_the_context_does_not_weigh() {
        let mut outline = Outline::default();
        let old = message(&mut outline, Role::User, 1_000);
        let first = message(&mut outline, Role::Assistant, 10);
        let summary = message(&mut outline, Role::User, 100);
        outline.retire(old, summary);
        outline.retire(first, summary);
        let second = message(&mut outline, Role::Assistant, 10);
        let chars: Vec<_> = outline.timeline().iter().map(|moment| (moment.message, moment.chars)).collect();
        assert_eq!(chars, [(first, 1_000), (second, 100)]);
    }

    #[test]
    fn a_call_that_lost_the_cache_is_cold() {
        let mut outline = Outline::default();
        for (input, cached) in [(1_000, 0), (100, 1_000), (1_200, 0), (10, 1_200)] {
            message(&mut outline, Role::User, 1_000);
            let answer = message(&mut outline, Role::Assistant, 10);
            called(&mut outline, answer, input, cached);
        }
        let cold: Vec<_> = outline.timeline().iter().map(|moment| moment.cold).collect();
        assert_eq!(cold, [false, false, true, false]);
    }
}
