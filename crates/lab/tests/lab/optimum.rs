//! Properties of the hindsight optimum over small random sessions.
//!
//! The sessions are small enough to try every schedule there is, with a plain player that is written down a second
//! time here: it lists what each request holds, part by part, and compares it with the request before. Estimates of
//! tokens are wrong on purpose in some sessions, as they are in real ones.
//!
//! A test runs proptest's default number of cases; `PROPTEST_CASES=5000` hunts longer.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use secateur::{
    Cache, MessageFacts, Outline, PartFacts, PartIx, PartKind, Profile, Profiles, Role, Sizes, ToolStatus,
    Usage,
};
use secateur_lab::optimum::{LEAST_TOKENS, PLACEHOLDER_TOKENS, best_schedule, lower_bound};
use secateur_lab::{PriceSheet, ReplayTerms, SheetBand, TextNeed, Trace, TraceCall, TraceLabel, replay};

/// A session with what it needs, under a price sheet.
#[derive(Clone, Debug)]
struct World {
    trace: Trace,
    needs: Vec<TextNeed>,
    sheet: PriceSheet,
    as_billed: bool,
}

impl World {
    fn terms(&self) -> ReplayTerms<'_> {
        ReplayTerms { sheet: &self.sheet, as_billed: self.as_billed, window: None }
    }

    fn sent(&self, call: usize) -> usize {
        self.trace.calls[call].parts as usize
    }

    /// The results that a flush before a call cuts.
    fn dead(&self, call: usize) -> Vec<usize> {
        let may_go = |part: PartIx| {
            self.trace.results().any(|result| result == part) && self.trace.tokens(part) >= LEAST_TOKENS
        };
        let keeps = |need: &TextNeed, part: PartIx| {
            need.call as usize >= call
                && need.sources.last() == Some(&part)
                && need.sources.iter().all(|&source| may_go(source))
        };
        let is_dead = |&part: &usize| {
            let part = PartIx(part as u32);
            may_go(part) && !self.needs.iter().any(|need| keeps(need, part))
        };
        (0..self.sent(call - 1)).filter(is_dead).collect()
    }

    /// Plays a session in which these parts shrink to so many tokens before the requests of these calls. The bill; or
    /// nothing if something is missed.
    fn play(&self, cuts: &[Vec<(usize, f64)>]) -> Option<f64> {
        let calls = &self.trace.calls;
        let whole: Vec<f64> = self.trace.outline.parts().map(|part| self.trace.tokens(part)).collect();
        let (mut left, mut cost) = (whole.clone(), 0.0);
        let mut last: Option<(f64, Vec<f64>)> = None;
        for (number, call) in calls.iter().enumerate() {
            cuts[number].iter().for_each(|&(part, tokens)| left[part] = left[part].min(tokens));
            let sent = left[..self.sent(number)].to_vec();
            let saved: f64 = whole.iter().zip(&sent).map(|(whole, left)| whole - left).sum();
            let context = (call.context - saved).max(1.0);
            let recorded = call.usage.map_or(0.0, |usage| usage.cache_read as f64);
            let mut cached = match &last {
                None => context,
                Some((tokens, before)) => {
                    let same = before.iter().zip(&sent).take_while(|(before, now)| before == now).count();
                    (tokens - before[same..].iter().sum::<f64>()).clamp(0.0, context)
                }
            };
            let before = number.checked_sub(1).map(|before| calls[before]);
            let is_cold = before.is_none_or(|before| match call.usage.filter(|_| self.as_billed) {
                Some(usage) => {
                    let last = before.usage.map_or(i64::MAX, |usage| usage.context());
                    usage.cache_read * 2 < usage.context().min(last)
                }
                None => call.time.zip(before.time).is_some_and(|(a, b)| a - b > self.sheet.cache.ttl_ms),
            });
            if is_cold {
                cached = cached.min(if self.as_billed { recorded } else { 0.0 });
            }
            if self.sheet.cache.read >= self.sheet.cache.write {
                cached = 0.0;
            }
            let (input, output) = match self.sheet.bands.first() {
                Some(band) if context > band.above as f64 => (3.0, 2.0),
                _ => (1.0, 1.0),
            };
            cost += input * (cached * self.sheet.cache.read + (context - cached) * self.sheet.cache.write);
            cost += call.output * output * self.sheet.output;
            last = Some((context, sent));
            let is_met = |need: &TextNeed| {
                let is_whole = |source: &PartIx| left[source.0 as usize] == whole[source.0 as usize];
                need.sources.is_empty() || need.sources.iter().any(is_whole)
            };
            if !self.needs.iter().filter(|need| need.call as usize == number).all(is_met) {
                return None;
            }
        }
        Some(cost)
    }

    /// Plays a session with flushes before these calls.
    fn flush(&self, flushes: &[u32]) -> Option<f64> {
        let mut cuts = vec![Vec::new(); self.trace.calls.len()];
        for &flush in flushes {
            cuts[flush as usize] =
                self.dead(flush as usize).into_iter().map(|part| (part, PLACEHOLDER_TOKENS)).collect();
        }
        self.play(&cuts)
    }
}

/// What happens between two calls: sizes of what the model says and of two results, the pause, by how much the report
/// is off, what the cache had, and whether there is a report.
type Beat = (u64, [u64; 2], i64, f64, f64, bool);

fn world() -> impl Strategy<Value = World> {
    let size = prop_oneof![0..90u64, 90..400u64, 400..6000u64];
    let off = prop_oneof![4 => Just(1.0), 1 => 0.1..1.2f64];
    let beat = (0..300u64, [size.clone(), size], 0..500_000i64, off, 0.0..1.0f64, any::<bool>());
    let need = (any::<proptest::sample::Index>(), vec(any::<proptest::sample::Index>(), 0..3));
    let prices = (prop_oneof![0.02..0.5f64, Just(1.0)], 1.0..2.0f64, 1.0..8.0f64);
    let band = proptest::option::of(prop_oneof![500..2_000u64, 2_000..20_000u64]);
    (vec(beat, 1..9), vec(need, 0..6), prices, band, any::<bool>()).prop_map(
        |(beats, wanted, prices, band, as_billed)| {
            let trace = trace(&beats);
            let pick =
                |index: &proptest::sample::Index| PartIx(index.index(trace.outline.part_count()) as u32);
            let need = |(call, sources): &(proptest::sample::Index, Vec<_>)| {
                let mut sources: Vec<PartIx> = sources.iter().map(pick).collect();
                sources.sort();
                let call = call.index(trace.calls.len()) as u32;
                TextNeed {
                    call,
                    action: PartIx(0),
                    text: "what is needed".to_owned(),
                    is_edit: false,
                    sources,
                }
            };
            let mut needs: Vec<TextNeed> = wanted.iter().map(need).collect();
            needs.sort_by_key(|need| need.call);
            let (read, write, output) = prices;
            let cache = Cache { read, write, ttl_ms: 300_000 };
            let dearer =
                |above| SheetBand { above, read: 3.0 * read, write: 3.0 * write, output: 2.0 * output };
            let sheet = PriceSheet {
                name: "some".to_owned(),
                about: String::new(),
                cache,
                output,
                bands: band.map(dearer).into_iter().collect(),
                binds_thinking: false,
            };
            World { trace, needs, sheet, as_billed }
        },
    )
}

fn trace(beats: &[Beat]) -> Trace {
    let mut outline = Outline::default();
    let mut calls = Vec::new();
    let (mut tokens, mut time) = (500, 0);
    let push = |outline: &mut Outline, role, parts: &[(PartKind, u64)]| {
        outline.push_message(MessageFacts { role, finished: true, ..MessageFacts::default() });
        for &(kind, tokens) in parts {
            let status = if kind == PartKind::Text { ToolStatus::None } else { ToolStatus::Completed };
            let id = (outline.part_count() / 2).to_string();
            let call = (kind != PartKind::Text).then_some(&*id);
            let sizes =
                Sizes { units: 4 * tokens, points: 4 * tokens, bytes: 4 * tokens, ..Sizes::default() };
            outline.push_part(PartFacts {
                kind,
                status,
                call,
                tool: Some("read"),
                sizes,
                ..PartFacts::default()
            });
        }
    };
    push(&mut outline, Role::User, &[(PartKind::Text, 100), (PartKind::Text, 50)]);
    for &(said, results, pause, off, had, is_told) in beats {
        time += pause;
        let context = (tokens as f64 * off).round();
        let cache_read = (context * had).floor() as i64;
        let usage = Usage { cache_read, input: context as i64 - cache_read, ..Usage::default() };
        let (messages, parts) = (outline.message_count() as u32, outline.part_count() as u32);
        let usage = is_told.then_some(usage);
        calls.push(TraceCall { messages, parts, time: Some(time), context, output: said as f64, usage });
        for size in results {
            push(&mut outline, Role::Assistant, &[(PartKind::Call, said), (PartKind::Result, size)]);
        }
        tokens += 2 * said + results.iter().sum::<u64>();
    }
    let texts = outline.parts().map(|part| format!("what is needed, {}", part.0)).collect();
    Trace::new(&TraceLabel::default(), outline, texts, calls, 4.0)
}

fn profile(text: &str) -> Profile {
    let mut profiles = Profiles::builtin();
    profiles.add("a test", text).expect("a profile");
    let name = text.lines().next().expect("a line").trim_start_matches("name = ").trim_matches('"');
    profiles.get(name).expect("the profile")
}

fn none() -> Profile {
    profile(include_str!("../../data/baselines/none.toml"))
}

/// Equal but for rounding.
fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Not dearer, but for rounding.
fn at_most(a: f64, b: f64) -> bool {
    a <= b || alike(a, b)
}

/// A failure prints its smallest case and writes no file.
fn config() -> Config {
    Config { failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_best_schedule_is_the_best_of_all(world in world()) {
        let best = best_schedule(&world.trace, &world.needs, &world.terms());
        prop_assert!(best.flushes.is_sorted_by(|a, b| a < b));
        prop_assert!(alike(world.flush(&best.flushes).unwrap(), best.cost));
        let bound = lower_bound(&world.trace, &world.needs, &world.terms());
        let calls = world.trace.calls.len() as u32;
        for chosen in 0..1u32 << (calls - 1) {
            let flushes: Vec<u32> = (1..calls).filter(|call| chosen >> (call - 1) & 1 == 1).collect();
            let cost = world.flush(&flushes);
            let is_above = cost.is_some_and(|cost| at_most(best.cost, cost) && at_most(bound, cost));
            prop_assert!(is_above, "{flushes:?}: {cost:?}");
        }
    }

    #[test]
    fn the_bound_is_below_the_schedule_and_the_schedule_below_no_cuts(world in world()) {
        let terms = world.terms();
        let uncut = replay(&world.trace, &none(), &world.needs, &terms).cost();
        let best = best_schedule(&world.trace, &world.needs, &terms);
        prop_assert!(at_most(lower_bound(&world.trace, &world.needs, &terms), best.cost));
        prop_assert!(at_most(best.cost, uncut));
        prop_assert!(alike(world.flush(&[]).unwrap(), uncut));
        if best.flushes.is_empty() {
            prop_assert!(alike(best.cost, uncut));
        }
    }

    #[test]
    fn no_cuts_that_miss_nothing_beat_the_bound(
        world in world(),
        dice in vec((any::<bool>(), 1..9usize, 0.0..20.0f64), 16),
    ) {
        let mut cuts = vec![Vec::new(); world.trace.calls.len()];
        for (part, (cuts_it, wait, tokens)) in world.trace.results().zip(dice) {
            if let Some(cuts) = cuts.get_mut(world.trace.first_call_with(part) + wait).filter(|_| cuts_it) {
                cuts.push((part.0 as usize, tokens));
            }
        }
        if let Some(cost) = world.play(&cuts) {
            prop_assert!(at_most(lower_bound(&world.trace, &world.needs, &world.terms()), cost));
        }
    }

    #[test]
    fn no_replay_that_misses_nothing_beats_the_bound(world in world(), keep in 1..4u32, more in 0..4u32) {
        let rule = format!("trigger = \"uncut-tool-uses\", threshold = {}, keep = {keep}", keep + more);
        let text = format!("name = \"stairs\"\nextends = \"anthropic\"\nkeep-last = {{ {rule} }}");
        let run = replay(&world.trace, &profile(&text), &world.needs, &world.terms());
        if run.misses.is_empty() && run.steps.iter().all(|step| step.unseen == 0) {
            prop_assert!(at_most(lower_bound(&world.trace, &world.needs, &world.terms()), run.cost()));
        }
    }

    #[test]
    fn nothing_gets_cheaper_when_a_price_rises(world in world(), which in 0..3, factor in 1.0..4.0f64) {
        let mut dearer = world.clone();
        let PriceSheet { cache, output, .. } = &mut dearer.sheet;
        *[&mut cache.read, &mut cache.write, output][which as usize] *= factor;
        let costs = |world: &World| {
            let (trace, needs, terms) = (&world.trace, &*world.needs, world.terms());
            let uncut = replay(trace, &none(), needs, &terms).cost();
            [lower_bound(trace, needs, &terms), best_schedule(trace, needs, &terms).cost, uncut]
        };
        for (before, after) in costs(&world).into_iter().zip(costs(&dearer)) {
            prop_assert!(at_most(before, after), "{before} {after}");
        }
    }
}
