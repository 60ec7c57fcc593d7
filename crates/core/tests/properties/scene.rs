//! A scene: a history, a policy and a moment, which is all that a plan depends on besides memory.

use proptest::prelude::*;
use proptest::sample::select;
use secateur::{
    Action, BandLimits, Cache, CutPurpose, Memory, Outline, Pass, Plan, Policy, Rethinking, Situation,
    SurrogatePairs, Thinking,
};
use serde_json::{Map, Value, json};

use crate::outlines::{Message, build, messages};
use crate::policies::{builtin, keep_last_policy, ratio_policy, rent_policy, watermark_policy};

/// When every scene plays, in milliseconds since 1970.
const NOW: i64 = 1_700_000_000_000;

/// What a plan depends on besides memory.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) messages: Vec<Message>,
    pub(crate) policy: Policy,
    pub(crate) situation: Situation,
}

impl Scene {
    pub(crate) fn outline(&self) -> Outline {
        build(&self.messages)
    }

    /// The plain plan over this outline, which need not be the scene's own.
    pub(crate) fn plan(&self, outline: &Outline, memory: &Memory) -> Plan {
        self.policy.plan(outline, &self.situation, memory)
    }

    /// The plain plan for the whole history before anything was remembered.
    pub(crate) fn first_plan(&self) -> (Outline, Plan) {
        let outline = self.outline();
        let plan = self.plan(&outline, &Memory::default());
        (outline, plan)
    }

    /// The memory after this plan was carried out.
    pub(crate) fn committed(&self, outline: &Outline, plan: &Plan, mut memory: Memory) -> Memory {
        memory.commit(plan, outline, &self.policy.placeholder);
        memory
    }
}

/// Scenes with these policies, in which new cuts are allowed.
pub(crate) fn scenes(policies: impl Strategy<Value = Policy>) -> impl Strategy<Value = Scene> {
    scenes_of(messages(), policies, Just(Pass::Full))
}

/// Scenes with these policies, some of which only replay.
pub(crate) fn scenes_of_any_pass(policies: impl Strategy<Value = Policy>) -> impl Strategy<Value = Scene> {
    scenes_of(messages(), policies, prop_oneof![4 => Just(Pass::Full), 1 => Just(Pass::ReplayOnly)])
}

/// Scenes of these histories, policies and passes.
pub(crate) fn scenes_of(
    messages: impl Strategy<Value = Vec<Message>>,
    policies: impl Strategy<Value = Policy>,
    pass: impl Strategy<Value = Pass>,
) -> impl Strategy<Value = Scene> {
    (messages, policies, situation(), pass).prop_map(|(messages, policy, situation, pass)| Scene {
        messages,
        policy,
        situation: Situation { pass, ..situation },
    })
}

fn situation() -> impl Strategy<Value = Situation> {
    let last_request = prop_oneof![
        1 => Just(None),
        1 => Just(Some(0)),
        6 => Just(Some(NOW - 3_600_000)),
        1 => Just(Some(NOW - 1)),
        1 => Just(Some(NOW + 5_000)),
        1 => any::<i64>().prop_map(Some),
    ];
    let window = prop_oneof![
        1 => select(vec![None, Some(0.0), Some(-1.0), Some(f64::NAN), Some(f64::INFINITY)]),
        1 => Just(Some(f64::MIN_POSITIVE)),
        6 => (1.0..20_000.0).prop_map(Some),
        3 => Just(Some(200_000.0)),
        1 => Just(Some(1e300)),
    ];
    let input_tokens = prop_oneof![4 => Just(None), 1 => Just(Some(0)), 3 => Just(Some(150_000))];
    let thinking = prop_oneof![Just(Thinking::Sent), Just(Thinking::Dropped)];
    let need = prop_oneof![3 => Just(CutPurpose::SaveCost), 1 => Just(CutPurpose::MakeRoom)];
    (last_request, window, input_tokens, thinking, cache(), need).prop_map(
        |(last_request, window, input_tokens, thinking, cache, need)| Situation {
            now: NOW,
            last_request,
            window,
            input_tokens,
            bands: BandLimits::default(),
            cache,
            rethinking: Rethinking::default(),
            purpose: need,
            pass: Pass::Full,
            thinking,
        },
    )
}

/// Caches of the usual prices, and of any.
pub(crate) fn cache() -> impl Strategy<Value = Cache> {
    let ttl_ms = || select(vec![0, 300_000, 3_600_000, i64::MAX]);
    prop_oneof![
        2 => Just(Cache::default()),
        1 => Just(Cache::NONE),
        2 => (0.0..1.0, 0.0..2.0, ttl_ms()).prop_map(|(read, write, ttl_ms)| Cache { read, write, ttl_ms }),
    ]
}

/// A foreign memory: about parts that may not exist or may be of any kind, with or without a
/// hash of their text, in any numbers.
pub(crate) fn foreign_memory() -> impl Strategy<Value = Memory> {
    let number = prop_oneof![8 => 0..40u32, 1 => any::<u32>()];
    let action = prop_oneof![
        3 => Just(Action::Clear),
        1 => Just(Action::DropMedia),
        1 => Just(Action::Trim { head: 1_500, tail: 1_500, pairs: SurrogatePairs::Whole }),
        1 => Just(Action::Trim { head: u64::MAX, tail: u64::MAX, pairs: SurrogatePairs::Split }),
    ];
    let after = prop_oneof![4 => 0..100u64, 4 => 100..300_000u64, 1 => any::<u64>()];
    let source = prop::option::weighted(0.2, any::<u64>());
    let cut = (number, action, after, source, any::<u16>());
    let revision = prop_oneof![8 => 1..100u64, 1 => Just(u64::MAX)];
    let pinned = prop::collection::vec(0..40u32, 0..3);
    (prop::collection::vec(cut, 0..20), pinned, revision).prop_map(|(cuts, pinned, revision)| {
        let cuts: Map<String, Value> = cuts
            .into_iter()
            .map(|(number, action, after, source, placeholder)| {
                let cut =
                    json!({ "action": action, "after": after, "source": source, "placeholder": placeholder });
                (number.to_string(), cut)
            })
            .collect();
        let memory = json!({ "revision": revision, "cuts": cuts, "pinned": pinned, "placeholders": ["-"] });
        serde_json::from_value(memory).expect("it has the form of a memory")
    })
}

/// The scenes must reach what is tested: each family, and the builtin profiles, have to cut in a fair share
/// of them.
#[test]
fn scenes_are_worth_planning() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let kinds: [(&str, BoxedStrategy<Policy>); 5] = [
        ("builtin", builtin().boxed()),
        ("watermark", watermark_policy().boxed()),
        ("ratio", ratio_policy().boxed()),
        ("keep-last", keep_last_policy().boxed()),
        ("rent", rent_policy().boxed()),
    ];
    for (kind, policies) in kinds {
        let mut runner = TestRunner::deterministic();
        let strategy = scenes(policies);
        let busy = (0..200).filter(|_| {
            let (_, plan) = strategy.new_tree(&mut runner).unwrap().current().first_plan();
            !plan.is_empty()
        });
        let busy = busy.count();
        assert!(busy > 25, "under {kind} policies, only {busy} of 200 scenes have cuts");
    }
}
