//! The promises that every session is held to, whatever is in it.
//!
//! 1. Reading, planning, asking for verdicts and applying never panic.
//! 2. Without cuts, the bytes come out as they went in.
//! 3. With cuts, they can be read again: the same messages and parts, the content of whatever was not cut
//!    unchanged, and what was cut marked as cut, or replaced.
//! 4. A cut is made once: planning again, with the marks or with a memory of the plan, cuts nothing new, and
//!    what is remembered is shown as it was. What was undone is not cut again.
//! 5. The incremental plan is the plain one.
//! 6. At any message there is a context, and it is applied and planned like a session.

use std::fmt;

use secateur::{
    Action, Family, Idle, Keep, Memory, Outline, PartIx, PartKind, Plan, PlanIndex, Policy, Profile, Usage,
    Verdict,
};
use secateur_formats::json::decode;
use secateur_formats::{ApplyError, Format, Rendering, Transcript, read, read_as, renderings};

use crate::policies::{self, NOW, measures, situation};

/// Holds the session in `data` to all promises; panics where one is broken.
pub fn check(data: &[u8], format: Format) {
    _ = read(data, measures());
    let Ok(session) = read_as(data, format, measures()) else { return };
    assert_eq!(session.bytes(), data);
    let nothing = session.apply([], NOW).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(nothing.to_vec(), data, "no cuts, and yet a change");
    check_ids(&session);
    check_contexts(&session);
    for profile in policies::all() {
        check_views(&session.outline, profile);
        let plan = check_plan(&session.outline, &profile.policy);
        if !plan.is_empty() {
            check_cuts(&session, profile, &plan);
        }
    }
}

fn check_ids(session: &Transcript<'_>) {
    for part in session.outline.parts() {
        if let Some(id) = session.part_id(part) {
            let found = session.find_part(&id).unwrap_or_else(|| panic!("part {id:?} cannot be found"));
            assert!(found >= part, "asked for {part:?}, found {found:?}");
        }
    }
}

/// What the model saw at each message, and sees next.
fn check_contexts(session: &Transcript<'_>) {
    let moments = session.outline.messages().map(Some).chain([None]);
    for context in moments.map(|at| session.context(at)) {
        assert!(context.outline.part_count() <= session.outline.part_count());
        let nothing = context.apply([], NOW).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(nothing.to_vec(), session.bytes());
        for part in context.outline.parts() {
            _ = context.text_of(part);
        }
    }
}

/// The parts of a profile that do not prune.
fn check_views(outline: &Outline, profile: &Profile) {
    let end = outline.message_count() as u32;
    for range in profile.pivot.visible(outline) {
        assert!(range.start <= range.end && range.end <= end, "{range:?} of {end} messages");
    }
    for usage in outline.model_calls().iter().map(|call| call.usage).chain([Usage::default()]) {
        _ = (profile.overflow.judge(&usage, &Default::default()), usage.context());
    }
}

/// Plans, and plans again with a memory of the first plan.
fn check_plan(outline: &Outline, policy: &Policy) -> Plan {
    let (nothing, mut memory, mut tally) = (Memory::default(), Memory::default(), PlanIndex::default());
    let plan = plan_twice(outline, policy, &nothing, &mut tally);
    let Some(oldest) = plan.cuts.first() else { return plan };
    let fresh = renderings(&plan, outline, &nothing, &policy.placeholder);

    memory.commit(&plan, outline, &policy.placeholder);
    let again = plan_twice(outline, policy, &memory, &mut tally);
    assert!(again.is_empty(), "{policy:#?}\ncut {:?}\nand then {:?}", plan.cuts, again.cuts);
    assert_eq!(
        renderings(&again, outline, &memory, "another one"),
        fresh,
        "a cut is replayed as it was made"
    );

    let json = serde_json::to_string(&memory).unwrap_or_else(|error| panic!("{error}"));
    let stored: Memory = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(stored, memory);

    memory.undo(oldest.part);
    let undone = plan_twice(outline, policy, &memory, &mut tally);
    assert_eq!(undone.cut(oldest.part), None, "what was undone stays whole: {policy:#?}");
    plan
}

/// Plans with the scan and with the tally.
fn plan_twice(outline: &Outline, policy: &Policy, memory: &Memory, tally: &mut PlanIndex) -> Plan {
    let plan = policy.plan(outline, &situation(), memory);
    tally.advance(outline, policy, memory);
    assert_eq!(tally.plan(outline, policy, &situation(), memory), plan, "scan and tally differ: {policy:#?}");
    assert!(plan.cuts.is_sorted_by(|one, next| one.part < next.part));
    assert_eq!(plan.is_empty(), plan.idle.is_some(), "{:?}", plan.idle);
    for part in outline.parts() {
        match policy.verdict(outline, memory, &plan, part) {
            Verdict::Cut(cut) => assert_eq!(plan.cut(part), Some(&cut)),
            Verdict::Kept(keep) => check_keep(policy, &plan, part, keep),
        }
    }
    plan
}

fn check_keep(policy: &Policy, plan: &Plan, part: PartIx, keep: Keep) {
    assert_eq!(plan.cut(part), None);
    if let (Family::Watermark(_), Keep::BelowMinimum) = (&policy.family, keep) {
        let said = matches!(plan.idle, Some(Idle::BelowMinimum { .. }));
        assert!(said || policy.budget != Default::default(), "part {part:?} kept as {keep:?} by {plan:?}");
    }
}

/// Applies a plan, as far as the format can hold its cuts, and reads what comes out.
fn check_cuts(before: &Transcript<'_>, profile: &Profile, plan: &Plan) {
    let memory = Memory::default();
    let mut cuts = renderings(plan, &before.outline, &memory, &profile.policy.placeholder);
    assert_eq!(cuts.len(), plan.cuts.len());
    cuts.retain(|&cut| is_supported(before, cut));
    let splice = before.apply(cuts.iter().copied(), NOW).unwrap_or_else(|error| panic!("{error}"));
    let bytes = splice.to_vec();
    assert_eq!(splice.written_len(), bytes.len());
    let after = read_as(&bytes, before.format, measures()).unwrap_or_else(|error| panic!("{error}"));
    Applied { profile, plan, cuts: &cuts, before, after: &after }.check();
}

/// Whether the format can hold a cut, and has something to hold it in.
pub fn is_supported(session: &Transcript<'_>, cut: Rendering<'_>) -> bool {
    match session.apply([cut], NOW) {
        Ok(splice) => !splice.is_empty(),
        Err(ApplyError::Unsupported { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

/// A session before and after a plan was applied to it.
struct Applied<'a> {
    profile: &'a Profile,
    plan: &'a Plan,
    cuts: &'a [Rendering<'a>],
    before: &'a Transcript<'a>,
    after: &'a Transcript<'a>,
}

impl fmt::Display for Applied<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = String::from_utf8_lossy(self.after.bytes());
        write!(f, "{} with {:?}: {bytes}", self.profile.name, self.plan.cuts)
    }
}

impl Applied<'_> {
    fn check(&self) {
        let (before, after) = (&self.before.outline, &self.after.outline);
        let is_log = self.before.format == Format::OpenAgentic;
        if !self.before.warnings.is_empty() {
            // A log is marked at its end, that is, behind what could not be read.
            assert!(is_log || after.message_count() == before.message_count(), "{self}");
            return;
        }
        assert_eq!(self.after.warnings, [], "{self}");
        let added = if is_log { self.cuts.len() } else { 0 };
        assert_eq!(after.message_count(), before.message_count() + added, "{self}");
        assert_eq!(after.part_count(), before.part_count() + added, "{self}");
        for part in before.parts() {
            match self.cuts.iter().find(|cut| cut.part == part) {
                Some(cut) => self.check_cut(cut),
                None => assert_eq!(self.after.content(part), self.before.content(part), "{self}"),
            }
        }
        if self.marks_are_as_planned() && !matches!(self.profile.policy.family, Family::Ratio(_)) {
            let next = self.profile.policy.plan(after, &situation(), &Memory::default());
            assert!(next.is_empty(), "{self}; then cuts {:?}", next.cuts);
        }
    }

    /// What one cut has to look like afterwards.
    fn check_cut(&self, cut: &Rendering<'_>) {
        let (part, outline) = (cut.part, &self.after.outline);
        let [before, after] =
            [self.before, self.after].map(|session| session.content(part).unwrap_or_default());
        assert_eq!(outline.kind(part), self.before.outline.kind(part), "{self}");
        assert_eq!(outline.is_cut(part), self.before.format.holds_marks(), "the mark of {part:?}; {self}");
        match self.before.format {
            // The mark is beside the output.
            Format::OpenCode | Format::OpenAgentic => assert_eq!(after, before, "{self}"),
            // The output is replaced, unless the state has the shape of the other kind of part.
            Format::Qwery => {
                let left = self.before.placeholder(part, cut.placeholder);
                assert!(after == before || decode(after) == left, "{self}");
            }
            Format::OpenClaw => {
                let is_block = after.starts_with(r#"[{"type":"text","text":""#) && after.ends_with(r#""}]"#);
                assert!(is_block, "{self}");
                if let (Family::Ratio(ratio), Some(planned)) =
                    (&self.profile.policy.family, self.plan.cut(part))
                {
                    assert_eq!(outline.size(part, ratio.characters.unit), planned.after, "{part:?}; {self}");
                }
            }
            // The content is replaced in its own spelling.
            _ if cut.action == Action::Clear => {
                let (left, text) = (self.before.placeholder(part, cut.placeholder), self.after.text_of(part));
                // An input stays an object where it was one, so there the placeholder stands inside.
                let is_input = outline.kind(part) == PartKind::Call;
                assert!(text == left || is_input && after.len() < before.len(), "{text} is left; {self}");
            }
            _ => assert_eq!(outline.images(part), 0, "{self}"),
        }
    }

    /// Whether just what the plan cuts is marked: some cuts cannot be, and where two results share an id, a
    /// mark means both.
    fn marks_are_as_planned(&self) -> bool {
        let (before, after) = (&self.before.outline, &self.after.outline);
        let planned = |part: PartIx| before.is_cut(part) || self.plan.cut(part).is_some();
        self.before.format.holds_marks() && before.parts().all(|part| after.is_cut(part) == planned(part))
    }
}
