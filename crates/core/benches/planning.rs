//! How long a plan takes: from scratch, and for one more turn of a long session.
//!
//! `cargo bench -p secateur`. The figures to look at: nanoseconds per part of a full scan (the element
//! throughput), and the time of one more turn, which must not depend on how long the session is.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use secateur::{
    Memory, MessageFacts, Outline, PartFacts, PartKind, PlanIndex, Policy, Profiles, Role, Situation, Sizes,
    ToolStatus,
};

const TOOLS: [&str; 6] = ["bash", "read", "grep", "glob", "edit", "skill"];

/// Appends one turn: a request, and an answer with five tool calls and their results.
fn push_turn(outline: &mut Outline, turn: usize, units: u64) {
    outline.push_message(MessageFacts { role: Role::User, ..MessageFacts::default() });
    outline.push_part(PartFacts { kind: PartKind::Text, ..PartFacts::default() });
    outline.push_message(MessageFacts { role: Role::Assistant, finished: true, ..MessageFacts::default() });
    for call in 0..5 {
        let tool = TOOLS.get((turn + call) % TOOLS.len()).copied();
        let facts = PartFacts { tool, status: ToolStatus::Completed, ..PartFacts::default() };
        outline.push_part(PartFacts { kind: PartKind::Call, ..facts });
        let sizes = Sizes { units, points: units, bytes: units, blocks: 1, ..Sizes::default() };
        outline.push_part(PartFacts { kind: PartKind::Result, sizes, ..facts });
    }
}

/// A session of about this many parts; results are small enough for nothing to be cut.
fn session(policy: &Policy, parts: usize) -> Outline {
    let turns = parts / 11;
    let units = 150_000 / (turns as u64 * 5).max(1);
    let mut outline = Outline::new(policy.measures());
    for turn in 0..turns {
        push_turn(&mut outline, turn, units);
    }
    outline
}

fn policy(name: &str) -> Policy {
    Profiles::builtin().get(name).expect("a builtin profile").policy
}

/// A full scan that finds nothing to cut: every part within reach is looked at once.
fn scan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scan");
    for name in ["opencode", "qwery", "openagentic"] {
        let policy = policy(name);
        for parts in [10_000, 1_000_000] {
            let outline = session(&policy, parts);
            group.throughput(Throughput::Elements(outline.part_count() as u64));
            group.bench_function(format!("{name}/{parts}"), |bencher| {
                let (situation, memory) = (Situation::default(), Memory::default());
                bencher.iter(|| black_box(policy.plan(black_box(&outline), &situation, &memory)));
            });
        }
    }
    group.finish();
}

/// One more turn of a session that is already long: append, advance, plan.
fn one_more_turn(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one-more-turn");
    for name in ["opencode", "qwery", "openclaw", "anthropic"] {
        let policy = policy(name);
        for parts in [1_000, 1_000_000] {
            let memory = Memory::default();
            let mut outline = session(&policy, parts);
            let mut tally = PlanIndex::default();
            tally.advance(&outline, &policy, &memory);
            let mut turn = 0;
            group.bench_function(format!("{name}/{parts}"), |bencher| {
                bencher.iter_batched(
                    || (),
                    |()| {
                        turn += 1;
                        push_turn(&mut outline, turn, 0);
                        tally.advance(&outline, &policy, &memory);
                        black_box(tally.plan(&outline, &policy, &Situation::default(), &memory))
                    },
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(planning, scan, one_more_turn);
criterion_main!(planning);
