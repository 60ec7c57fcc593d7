//! What cuts save, in characters. Profiles count tokens in different ways, so their token counts cannot be compared.

use secateur::{Action, Memory, Outline, PartIx, Plan, Profile};

/// The parts that are cut by a plan or by an earlier one in the memory, each with the characters left of it.
pub(crate) fn savings<'a>(
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
    // Only its length counts.
    let handle = || "x".repeat(secateur::HANDLE_LETTERS);
    match action {
        Action::Clear => {
            let filled = secateur::fill_placeholder(&profile.policy.placeholder, outline, part);
            let named = secateur::fill_handle(&filled, handle);
            sent.min(named.chars().count() as u64 + outline.excerpt(part))
        }
        Action::Trim { head, tail, .. } => {
            let note = secateur::trim_note(head, tail, sent).len();
            let recall = secateur::recall_note(&profile.policy.placeholder);
            let note = note + secateur::fill_handle(recall, handle).len();
            sent.min(head + tail + (note + secateur::TRIM_GAP.len()) as u64)
        }
        Action::DropMedia => sent,
        Action::DropThinking => 0,
    }
}
