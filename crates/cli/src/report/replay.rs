//! What the context would have weighed at each request, had the profile been there from the beginning.
//!
//! The profile plans before every request on what was in the context then, and its cuts last as they do in the
//! system that it reproduces. What the agent would have done otherwise is not known; its recorded steps stand.

use secateur::{Action, Lasting, Memory, MessageIx, Moment, Outline, PartIx, Pick, Plan, Profile, Situation};

/// A request's context without and with the profile's cuts, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weighed {
    pub(super) whole: u64,
    pub(super) pruned: u64,
}

/// So many parts are looked at before only some of the requests are weighed.
const EFFORT: usize = 40_000_000;

/// The contexts of these requests; those in between that were not weighed anew are as the ones before them.
pub(super) fn contexts(
    outline: &Outline,
    profile: &Profile,
    moments: &[Moment],
    next: &Situation,
) -> Vec<Weighed> {
    let mut memory = Memory::default();
    let mut known: Vec<MessageIx> = Vec::new();
    let mut weighed = Vec::with_capacity(moments.len());
    let stride = (moments.len() * outline.part_count() / EFFORT).max(1);
    for (index, moment) in moments.iter().enumerate() {
        if index % stride != 0
            && let Some(&last) = weighed.last()
        {
            weighed.push(last);
            continue;
        }
        let live = outline.context(Some(moment.message));
        if !live.starts_with(&known) {
            // History was rewritten: what was remembered about it does not hold any more.
            memory = Memory::default();
        }
        let (context, _) = outline.select(live.iter().copied().map(Pick::Message));
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
        weighed.push(Weighed { whole, pruned: whole.saturating_sub(saved) });
        if profile.policy.lasting != Lasting::OneRequest {
            memory.commit(&plan, &context, &profile.policy.placeholder);
        }
    }
    weighed
}

/// The parts that a plan and a memory cut, each with the characters that are left of it.
pub(super) fn savings<'a>(
    outline: &'a Outline,
    profile: &'a Profile,
    plan: &'a Plan,
    memory: &'a Memory,
) -> impl Iterator<Item = (PartIx, u64)> + 'a {
    let earlier =
        memory.cuts().filter(|&(part, _)| plan.cut(part).is_none() && memory.cut(outline, part).is_some());
    let earlier = earlier.map(|(part, cut)| (part, cut.action));
    let all = plan.cuts.iter().map(|cut| (cut.part, cut.action)).chain(earlier);
    all.map(move |(part, action)| (part, left(outline, profile, part, action)))
}

/// The characters that are left of a part; never more than it had.
fn left(outline: &Outline, profile: &Profile, part: PartIx, action: Action) -> u64 {
    let sent = outline.sent(part);
    match action {
        Action::Clear => sent.min(profile.policy.placeholder.chars().count() as u64),
        Action::Trim { head, tail, .. } => {
            let note = secateur::trim_note(head, tail, sent).chars().count() as u64;
            sent.min(head + tail + note + secateur::TRIM_GAP.len() as u64)
        }
        Action::DropMedia => sent,
    }
}
