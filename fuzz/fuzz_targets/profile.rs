//! Pages of TOML: whatever is written there is either refused with a reason or plans without a fall.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use secateur::{
    Limits, Memory, MessageFacts, Outline, PartFacts, PartKind, PlanIndex, Profile, Profiles, Role, Sizes,
    ToolStatus, Usage,
};
use secateur_fuzz::policies::{measures, situation};

fuzz_target!(|data: &[u8]| {
    static BUILTIN: LazyLock<Profiles> = LazyLock::new(Profiles::builtin);
    static OUTLINES: LazyLock<[Outline; 3]> = LazyLock::new(|| [0, 40, u64::MAX].map(outline));

    let Ok(text) = str::from_utf8(data) else { return };
    let mut profiles = BUILTIN.clone();
    let name = match profiles.add("page", text) {
        Ok(name) => name,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    match profiles.get(&name) {
        Ok(profile) => OUTLINES.iter().for_each(|outline| check(&profile, outline)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

fn check(profile: &Profile, outline: &Outline) {
    let (policy, mut memory, mut tally) = (&profile.policy, Memory::default(), PlanIndex::default());
    assert!(profile.settings().all(|(key, _, origin)| profile.origin(key) == Some(origin)));
    for _ in 0..2 {
        let plan = policy.plan(outline, &situation(), &memory);
        tally.advance(outline, policy, &memory);
        assert_eq!(tally.plan(outline, policy, &situation(), &memory), plan);
        for part in outline.parts() {
            _ = policy.verdict(outline, &memory, &plan, part);
        }
        memory.commit(&plan, outline, &policy.placeholder);
    }
    _ = (policy.measures(), profile.pivot.visible(outline));
    for number in [i64::MIN, -1, 0, 1, 200_000, i64::MAX] {
        let usage = Usage { input: number, output: number, total: Some(number), ..Usage::default() };
        _ = profile
            .overflow
            .judge(&usage, &Limits { context: number, input: Some(number), output: Some(number) });
        _ = profile.overflow.judge(&usage, &Limits { context: number, ..Limits::default() });
    }
}

/// A few turns in which every part has this size in every measure.
fn outline(size: u64) -> Outline {
    let sizes = Sizes {
        bytes: size,
        units: size,
        points: size,
        blocks: 1,
        images: u32::try_from(size).unwrap_or(u32::MAX) / 32,
        js_json: size,
        py_json: size,
        weighted: size,
        wide: size,
        trimmed: size,
        excerpt: size,
        tokens: size,
        source: size,
    };
    let mut outline = Outline::new(measures().clone());
    for turn in 0..5u32 {
        outline.push_message(MessageFacts { role: Role::User, marker: turn == 1, ..MessageFacts::default() });
        outline.push_part(PartFacts { kind: PartKind::Text, sizes, ..PartFacts::default() });
        outline.push_part(PartFacts { kind: PartKind::Media, sizes, ..PartFacts::default() });
        outline.push_message(MessageFacts {
            role: Role::Assistant,
            summary: turn == 0,
            ..MessageFacts::default()
        });
        outline.push_part(PartFacts { kind: PartKind::Reasoning, sizes, ..PartFacts::default() });
        for (tool, status) in
            [("read", ToolStatus::Completed), ("skill", ToolStatus::Completed), ("bash", ToolStatus::Error)]
        {
            let call = format!("{tool}-{turn}");
            let facts =
                PartFacts { tool: Some(tool), call: Some(&call), status, sizes, ..PartFacts::default() };
            outline.push_part(PartFacts { kind: PartKind::Call, ..facts });
            outline.push_part(PartFacts {
                kind: PartKind::Result,
                cut: turn == 1 && tool == "bash",
                ..facts
            });
        }
    }
    outline
}
