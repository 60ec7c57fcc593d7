//! How large the context of each request would have been under the profile, from the first request on.
//!
//! The profile plans before every request on what was in the context then, and its cuts last as they do in the
//! system that it reproduces. What the agent would have done otherwise is not known; its recorded steps stand.

use secateur::{
    Calibration, Lasting, Memory, MessageIx, MessagePick, Outline, Profile, Situation, TimelinePoint,
};

use crate::savings::savings;

/// A request's context without and with the profile's cuts, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestSize {
    pub(super) whole: u64,
    pub(super) pruned: u64,
}

/// Beyond this many looks at parts, only some of the requests are measured.
const EFFORT: usize = 40_000_000;

/// The contexts of these requests; those in between that were not measured are as the ones before them.
pub(super) fn contexts(
    outline: &Outline,
    profile: &Profile,
    moments: &[TimelinePoint],
    next: &Situation,
) -> Vec<RequestSize> {
    // What the reports teach is taken as known from the beginning.
    let unpruned = Memory::new(Calibration::of(moments));
    let mut memory = unpruned.clone();
    let mut known: Vec<MessageIx> = Vec::new();
    let mut sizes = Vec::with_capacity(moments.len());
    let stride = (moments.len() * outline.part_count() / EFFORT).max(1);
    for (index, moment) in moments.iter().enumerate() {
        if index % stride != 0
            && let Some(&last) = sizes.last()
        {
            sizes.push(last);
            continue;
        }
        let live = outline.context(Some(moment.message));
        if !live.starts_with(&known) {
            // History was rewritten: what was remembered about it does not hold any more.
            memory = unpruned.clone();
        }
        let (context, _) = outline.select(live.iter().copied().map(MessagePick::Message));
        known = live;
        let situation = Situation {
            now: moment.time.unwrap_or(next.now),
            last_request: index.checked_sub(1).and_then(|before| moments.get(before)?.time),
            ..*next
        };
        let plan = profile.policy.plan(&context, &situation, &memory);
        let whole = context.parts().map(|part| context.sent(part)).sum();
        let saved: u64 =
            savings(&context, profile, &plan, &memory).map(|(part, left)| context.sent(part) - left).sum();
        sizes.push(RequestSize { whole, pruned: whole.saturating_sub(saved) });
        if profile.policy.lasting != Lasting::OneRequest {
            memory.commit(&plan, &context, &profile.policy.placeholder);
        }
    }
    sizes
}
