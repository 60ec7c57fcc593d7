//! A plan that cuts nothing costs no allocation: it is made before every request of every session.

use secateur::{
    Memory, MessageFacts, Outline, PartFacts, PartKind, PlanIndex, Profiles, Role, Situation, Sizes,
    ToolStatus,
};

/// Turns with results that count but never reach a watermark, a ratio or a trigger.
fn quiet_session(outline: &mut Outline) {
    for turn in 0..50 {
        outline.push_message(MessageFacts { role: Role::User, ..MessageFacts::default() });
        outline.push_message(MessageFacts { role: Role::Assistant, ..MessageFacts::default() });
        let tool = Some(if turn % 9 == 0 { "skill" } else { "read" });
        let sizes = Sizes { units: 100, py_json: 102, weighted: 100, blocks: 1, ..Sizes::default() };
        outline.push_part(PartFacts {
            kind: PartKind::Result,
            status: ToolStatus::Completed,
            tool,
            sizes,
            ..PartFacts::default()
        });
    }
}

#[test]
fn a_plan_without_cuts_allocates_nothing() {
    let profiles = Profiles::builtin();
    for name in profiles.names().filter(|name| !name.ends_with("aggressive")) {
        let policy = profiles.get(name).unwrap().policy;
        let mut outline = Outline::new(policy.measures());
        quiet_session(&mut outline);
        let memory = Memory::default();
        let situation = Situation {
            now: 1_000_000,
            last_request: Some(1),
            window: Some(200_000.0),
            ..Situation::default()
        };
        let mut tally = PlanIndex::default();
        tally.advance(&outline, &policy, &memory);
        for (way, count) in [
            (
                "scan",
                allocation_counter::measure(|| {
                    assert!(policy.plan(&outline, &situation, &memory).is_empty());
                }),
            ),
            (
                "tally",
                allocation_counter::measure(|| {
                    assert!(tally.plan(&outline, &policy, &situation, &memory).is_empty());
                }),
            ),
        ] {
            assert_eq!(count.count_total, 0, "{name}, {way}");
        }
    }
}
