//! The context over time: how full it was at each request.
//!
//! What a request contained follows from the [retirements](crate::Outline::retire) of messages; its tokens are those that
//! the provider reported or, without a report, a [calibrated](crate::Calibration) estimate.
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
//! let points = outline.timeline();
//! assert_eq!(points.len(), 1);
//! assert_eq!((points[0].chars, points[0].estimated, points[0].recorded), (3_200, 1_000, Some(900)));
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
    /// Characters of the context that the log shows.
    pub chars: u64,
    /// Estimated tokens of the context, before the response.
    pub estimated: u64,
    /// Tokens of the context that the provider reported.
    pub recorded: Option<u64>,
    /// How many of them were read from the cache.
    pub cached: Option<u64>,
    /// The provider no longer had most of the context in its cache, so it was paid in full again.
    pub cold: bool,
}

impl Calibration {
    /// The calibration from all reports of a session.
    pub fn of(timeline: &[TimelinePoint]) -> Self {
        let mut calibration = Self::default();
        for point in timeline {
            if let Some(recorded) = point.recorded {
                calibration.observe(point.chars, recorded);
            }
        }
        calibration
    }
}

impl Outline {
    /// The characters that a part counts for in a context: those of its text, or of the placeholder if it was cut.
    pub fn sent(&self, part: PartIx) -> u64 {
        match self.kind(part) {
            PartKind::Result if self.is_cut(part) => PLACEHOLDER.len() as u64,
            PartKind::Text | PartKind::Reasoning | PartKind::Call | PartKind::Result => self.units(part),
            PartKind::Signature | PartKind::Media | PartKind::Compaction | PartKind::Other => 0,
        }
    }

    /// The requests of a session in order: the recorded model calls or, without any, all messages of the model.
    pub fn timeline(&self) -> Vec<TimelinePoint> {
        let weights = self.context_weights();
        let chars_at = |message: MessageIx| weights.get(message.0 as usize).copied().unwrap_or(0);
        let mut calibration = Calibration::default();
        let mut points = Vec::new();
        let caches = self.model_calls().iter().any(|call| call.usage.cache_read > 0);
        for call in self.model_calls() {
            let chars = chars_at(call.message);
            let recorded = u64::try_from(call.usage.context()).unwrap_or(0);
            let cached = u64::try_from(call.usage.cache_read).unwrap_or(0);
            let before = points.last().and_then(|point: &TimelinePoint| point.recorded).unwrap_or(0);
            points.push(TimelinePoint {
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
        if points.is_empty() {
            let silent = |&message: &MessageIx| TimelinePoint {
                message,
                time: self.time(message),
                chars: chars_at(message),
                estimated: calibration.predict(chars_at(message)),
                recorded: None,
                cached: None,
                cold: false,
            };
            points.extend(self.assistants().iter().map(silent));
        }
        points
    }

    /// For each message, the characters of the context before it; one more entry for the next request.
    fn context_weights(&self) -> Vec<u64> {
        let count = self.message_count();
        // What enters and what leaves the context at each message.
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
        let chars: Vec<_> = outline.timeline().iter().map(|point| (point.message, point.chars)).collect();
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
        let cold: Vec<_> = outline.timeline().iter().map(|point| point.cold).collect();
        assert_eq!(cold, [false, false, true, false]);
    }
}
