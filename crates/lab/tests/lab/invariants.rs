//! What holds for every replay, whatever the session and the policy.

use proptest::collection::vec;
use proptest::prelude::*;
use secateur::{Lasting, MessageIx, Outline, PartIx, Profile};
use secateur_lab::{
    CommonWords, PriceSheets, ReplayTerms, Study, StudyOptions, Trace, find_needs, profiles, replay,
};
use serde_json::json;

use crate::support::{Log, output};

/// What happens in a session, step by step.
#[derive(Clone, Debug)]
enum Beat {
    ReplayRun(usize),
    Read(u8, usize),
    Again(u8),
    Edit(u8),
    Pause(i64),
}

fn beats() -> impl Strategy<Value = Vec<Beat>> {
    let beat = prop_oneof![
        4 => (0usize..20_000).prop_map(Beat::ReplayRun),
        3 => (0u8..6, 0usize..12_000).prop_map(|(file, size)| Beat::Read(file, size)),
        1 => (0u8..6).prop_map(Beat::Again),
        1 => (0u8..6).prop_map(Beat::Edit),
        1 => (1i64..90).prop_map(Beat::Pause),
    ];
    vec(beat, 12..60)
}

fn log(beats: &[Beat]) -> Trace {
    let path = |file: u8| format!("/p/file_{file}.rs");
    let mut log = Log::of("p", "Please mend the build.");
    for (number, beat) in beats.iter().enumerate() {
        log = match *beat {
            Beat::ReplayRun(size) => log.bash(&format!("make step{number}"), &output(number, size)),
            Beat::Read(file, size) => log.file(&path(file), &output(number, size)),
            Beat::Again(file) => log.bash(&format!("grep word_{file}_3 src"), "found\n"),
            Beat::Edit(file) => {
                let input = json!({ "file_path": path(file), "old_string": format!("word_{file}_2 is here"),
                    "new_string": "done" });
                log.acts("Edit", &input, "ok")
            }
            Beat::Pause(minutes) => log.pause(minutes).bash("date", "now"),
        };
    }
    log.trace()
}

fn all() -> Vec<Profile> {
    secateur_lab::DEFAULT_POLICIES.iter().map(|name| profiles().get(name).expect("a policy")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_replay_can_be_repeated_and_no_zero_miss_run_that_lasts_beats_the_bound(beats in beats()) {
        let trace = log(&beats);
        let needs = find_needs(std::slice::from_ref(&trace), &CommonWords::builtin()).concat();
        let sheets = PriceSheets::builtin();
        let terms = ReplayTerms { sheet: sheets.billed(&trace).expect("a sheet"), as_billed: true, window: None };
        let bound = secateur_lab::optimum::lower_bound(&trace, &needs, &terms);
        let best = secateur_lab::optimum::best_schedule(&trace, &needs, &terms).cost;
        for profile in all() {
            let run = replay(&trace, &profile, &needs, &terms);
            prop_assert_eq!(&run, &replay(&trace, &profile, &needs, &terms));
            if profile.name == "none" {
                prop_assert!(bound <= best + 1e-6 && best <= run.cost() + 1e-6);
                prop_assert!(run.misses.is_empty() && run.breaks() == 0);
            }
            // The bound is for cuts of whole results that a call has seen; an excerpt may hold what is needed.
            let is_plain = profile.policy.lasting != Lasting::OneRequest && run.unseen() == 0;
            if run.misses.is_empty() && is_plain && !trace.texts.iter().any(|text| text.contains("# ")) {
                prop_assert!(bound <= run.cost() + 1e-6, "{}: {bound} > {}", profile.name, run.cost());
            }
        }
    }

    #[test]
    fn between_two_flushes_no_policy_that_remembers_breaks_a_warm_prefix(beats in beats()) {
        let trace = log(&beats);
        let sheets = PriceSheets::builtin();
        let terms = ReplayTerms { sheet: sheets.get("anthropic-5m").expect("a sheet"), as_billed: false, window: None };
        for profile in all().into_iter().filter(|profile| profile.policy.lasting != Lasting::OneRequest) {
            let run = replay(&trace, &profile, &[], &terms);
            for (number, pair) in run.steps.windows(2).enumerate() {
                let [before, now] = pair else { continue };
                if !now.broke && !now.cold {
                    prop_assert!(
                        (now.cached - before.context).abs() < 1e-6,
                        "{} at call {}: {} of {}", profile.name, number + 1, now.cached, before.context
                    );
                }
            }
        }
    }

    #[test]
    fn dearer_prices_never_make_a_bill_smaller(beats in beats(), more in 1.0f64..3.0) {
        let trace = log(&beats);
        let sheets = PriceSheets::builtin();
        let sheet = sheets.get("openai").expect("a sheet");
        // A policy that looks at prices decides otherwise, so only those that do not are compared.
        for name in ["none", "opencode", "anthropic", "rolling-10", "cap-4k"] {
            let profile = profiles().get(name).expect("a policy");
            let bill = |sheet: &secateur_lab::PriceSheet| {
                replay(&trace, &profile, &[], &ReplayTerms { sheet, as_billed: false, window: None }).cost()
            };
            let plain = bill(sheet);
            let mut dearer = sheet.clone();
            dearer.cache.write *= more;
            prop_assert!(bill(&dearer) + 1e-6 >= plain);
            dearer.output *= more;
            prop_assert!(bill(&dearer) + 1e-6 >= plain);
            dearer.cache.read *= more;
            prop_assert!(bill(&dearer) + 1e-6 >= plain);
        }
    }

    #[test]
    fn what_is_planned_step_by_step_is_what_the_kernel_plans_from_scratch(beats in beats()) {
        let trace = log(&beats);
        let sheets = PriceSheets::builtin();
        let sheet = sheets.get("anthropic-5m").expect("a sheet");
        let terms = ReplayTerms { sheet, as_billed: false, window: None };
        for name in ["balanced", "careful", "frugal", "anthropic"] {
            let profile = profiles().get(name).expect("a policy");
            let run = replay(&trace, &profile, &[], &terms);
            let contexts = from_scratch(&trace, &profile, &terms);
            for (number, (step, context)) in run.steps.iter().zip(contexts).enumerate() {
                prop_assert!((step.context - context).abs() < 1e-6, "{name} at call {number}");
            }
        }
    }
}

/// The contexts of a session under a policy that lasts, planned at each call from the whole outline.
fn from_scratch(trace: &Trace, profile: &Profile, terms: &ReplayTerms<'_>) -> Vec<f64> {
    let policy = &profile.policy;
    let mut memory = secateur::Memory::default();
    let mut contexts = Vec::new();
    for (number, call) in trace.calls.iter().enumerate() {
        let mut outline: Outline = trace.outline.empty_copy();
        (0..call.messages).for_each(|message| outline.extend_from(&trace.outline, MessageIx(message)));
        for before in &trace.calls[..number] {
            let message = MessageIx(before.messages);
            outline.push_model_call(secateur::ModelCall {
                message,
                time: before.time,
                usage: before.usage.unwrap_or_default(),
            });
        }
        let left = |memory: &secateur::Memory| -> f64 {
            let saved = (0..call.parts).map(PartIx).filter_map(|part| {
                let cut = memory.cut(&outline, part)?;
                let (whole, units) = (trace.tokens(part), outline.units(part).max(1) as f64);
                let after = match (cut.action, &policy.family) {
                    (secateur::Action::Clear, secateur::Family::Rent(rent)) => {
                        rent.placeholder_tokens as f64 + outline.excerpt(part) as f64 / trace.chars_per_token
                    }
                    (secateur::Action::Clear, _) => policy.placeholder.len() as f64 / trace.chars_per_token,
                    (secateur::Action::Trim { head, tail, .. }, _) => whole * (head + tail) as f64 / units,
                    (secateur::Action::DropMedia | secateur::Action::DropThinking, _) => whole,
                };
                Some(whole - after.min(whole))
            });
            call.context - saved.sum::<f64>()
        };
        let situation = secateur::Situation {
            now: call.time.unwrap_or(0),
            last_request: number.checked_sub(1).and_then(|last| trace.calls[last].time),
            window: Some(ReplayTerms::USUAL_WINDOW),
            input_tokens: Some(left(&memory) as u64),
            cache: terms.sheet.cache,
            ..secateur::Situation::default()
        };
        let plan = policy.plan(&outline, &situation, &memory);
        memory.commit(&plan, &outline, &policy.placeholder);
        if let Some(usage) = call.usage {
            let chars = (0..call.parts).map(|part| outline.sent(PartIx(part))).sum();
            memory.calibration.observe(chars, usage.context() as u64);
        }
        contexts.push(left(&memory));
    }
    contexts
}

/// OpenClaw's adaptive mode decides anew at each request. Past 30 % of the window it shortens every long result before
/// the newest three answers: once everything from the oldest of them on is new to the cache, and after that, at each
/// call, what the three answers have just left behind.
#[test]
fn shortening_anew_at_each_call_breaks_the_cache_at_each_call() {
    let mut log = Log::of("p", "Please mend the build.");
    for number in 0..50 {
        log = log.bash(&format!("make step{number}"), &output(number, 6_000));
    }
    let trace = log.trace();
    let sheets = PriceSheets::builtin();
    let terms =
        ReplayTerms { sheet: sheets.get("anthropic-5m").expect("a sheet"), as_billed: false, window: None };
    let run = replay(&trace, &profiles().get("openclaw@2026-01").expect("a policy"), &[], &terms);
    let first = run.steps.iter().position(|step| step.broke).expect("a break");
    let units: u64 = (0..trace.calls[first].parts).map(|part| trace.outline.sent(PartIx(part))).sum();
    assert!((240_000..255_000).contains(&units), "30 % of 200,000 tokens of four characters: {units}");
    let share = |number: usize| run.steps[number].cached / run.steps[number].context;
    let before = run.steps[first - 1].context;
    // Instructions and the first question stay cached; half of every result but the newest ones is gone.
    assert!(run.steps[first].cached < 0.1 * before && run.steps[first].context < 0.6 * before);
    for number in first + 1..run.steps.len() {
        assert!(run.steps[number].broke && share(number) > 0.8, "call {number}: {}", share(number));
    }
}

#[test]
fn a_study_pools_costs_and_says_how_sure_it_is() {
    let beats: Vec<Beat> = (0..40).map(|number| Beat::ReplayRun(2_000 + 100 * number)).collect();
    let traces = vec![log(&beats), log(&beats[..20]), log(&beats[..5])];
    let all = all();
    let study = Study::of(traces, &all, &PriceSheets::builtin(), &StudyOptions::default(), |_, _| ())
        .expect("a study");
    assert_eq!(study.sessions.len(), 2, "five calls say nothing");
    let rows = study.rows();
    assert_eq!(rows.len(), all.len());
    let row = |name: &str| rows.iter().find(|row| row.policy == name).expect("a row");
    let (low, high) = row("none").cost_interval;
    assert!([row("none").cost_pct, low, high].iter().all(|share| (share - 100.0).abs() < 1e-6));
    let balanced = row("balanced");
    assert!(balanced.cost_pct < 90.0 && balanced.miss100 == 0.0, "{balanced:?}");
    assert!(balanced.cost_interval.0 <= balanced.cost_pct && balanced.cost_pct <= balanced.cost_interval.1);
    assert!(row("rolling-10").breaks100 > 50.0 && row("rolling-10").cost_pct > balanced.cost_pct);
    assert!(balanced.pct_over_bound >= balanced.pct_over_optimum);
    assert!((study.replay_accuracy()[0].replayed_pct.expect("usage") - 100.0).abs() < 1.0);
}
