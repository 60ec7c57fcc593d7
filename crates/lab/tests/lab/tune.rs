//! Tuning on sessions that were made so that it is known what there is to gain.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use secateur::{Measures, Profile, Profiles};
use secateur_lab::{
    Claim, CommonWords, PriceSheets, ReplayTerms, SplitUnit, Trace, TraceLabel, TuneError, TuneOptions,
    Tuned, find_needs, replay, tune,
};
use serde_json::json;

/// What the outputs of a session are like.
#[derive(Clone, Copy)]
enum Like {
    /// Long, and never used again.
    Waste,
    /// Long, and used again some calls later.
    Needed,
    /// So short that no policy cuts them.
    Short,
}

/// A session of Claude Code with one command for each call.
fn session(project: usize, number: usize, calls: usize, like: Like) -> Trace {
    let mut log = String::new();
    let mut parent = None;
    let (mut sent, mut cached) = (20_000, 0);
    let mut line = |kind: &str, time: usize, message: serde_json::Value| {
        let uuid = format!("{project}-{number}-{}", log.len());
        let entry = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": format!("{project}-{number}"),
            "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", time / 60, time % 60), "isSidechain": false,
            "version": "2.1.0", "cwd": "/project", "message": message,
        });
        _ = writeln!(log, "{entry}");
        parent = Some(uuid);
    };
    line("user", 0, json!({ "role": "user", "content": "Please look around." }));
    for call in 0..calls {
        let (time, id) = (10 * call, format!("toolu_{call}"));
        let secret = |call: usize| format!("zq{project}x{number}x{call}vexillum");
        let command = match like {
            Like::Needed if call >= 8 => format!("grep {} notes", secret(call - 8)),
            _ => format!("show {call}"),
        };
        let usage = json!({
            "input_tokens": 0, "cache_read_input_tokens": cached, "cache_creation_input_tokens": sent - cached,
            "output_tokens": 40,
        });
        let action = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
        let message = json!({
            "id": format!("msg_{call}"), "role": "assistant", "model": "claude-some", "type": "message",
            "content": [action], "usage": usage,
        });
        line("assistant", time, message);
        let filler = if matches!(like, Like::Short) { 5 } else { 200 + 40 * ((call + number) % 7) };
        let output = format!("{} {}", secret(call), "some words of no use, ".repeat(filler));
        (cached, sent) = (sent, sent + 40 + output.len() / 4);
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": output });
        line("user", time + 5, json!({ "role": "user", "content": [result] }));
    }
    let measures = Measures { source: true, excerpt: true, ..Measures::default() };
    let transcript = secateur_formats::read(log.as_bytes(), &measures).unwrap();
    let (project, name) = (format!("project {project}"), format!("session {number}"));
    let label = TraceLabel { agent: "claude-code".to_owned(), project, name };
    let mut traces = Trace::of(&transcript, &label);
    assert_eq!((traces.len(), traces[0].calls.len()), (1, calls));
    traces.remove(0)
}

/// Three sessions for each of some projects.
fn sessions(projects: usize, like: impl Fn(usize) -> Like) -> Vec<Trace> {
    let of = |project| {
        let like = like(project);
        (0..3).map(move |number| session(project, number, 30 + project % 4, like))
    };
    (0..projects).flat_map(of).collect()
}

fn options() -> TuneOptions {
    TuneOptions {
        name: "mine".to_owned(),
        trials: 90,
        date: Some("1 May".to_owned()),
        ..TuneOptions::default()
    }
}

fn tuned(traces: &[Trace], options: &TuneOptions) -> Tuned {
    tune(traces, &PriceSheets::builtin(), options, |_, _| ()).unwrap()
}

/// The page as a user would load it.
fn load(tuned: &Tuned) -> Profile {
    let mut profiles = Profiles::builtin();
    assert_eq!(profiles.add("mine.toml", &tuned.profile).unwrap(), tuned.name);
    profiles.get(&tuned.name).unwrap()
}

/// The comment of a page as one line.
fn comment(tuned: &Tuned) -> String {
    let lines = tuned.profile.lines().filter_map(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn balanced() -> Profile {
    Profiles::builtin().get("balanced").unwrap()
}

/// The bill of the sessions of some projects.
fn bill(traces: &[Trace], projects: &[String], profile: &Profile) -> f64 {
    let needs = find_needs(traces, &CommonWords::of(traces));
    let sheets = PriceSheets::builtin();
    let of = traces.iter().zip(&needs).filter(|(trace, _)| projects.contains(&trace.project));
    of.map(|(trace, needs)| {
        let sheet = sheets.billed(trace).unwrap();
        replay(trace, profile, needs, &ReplayTerms { sheet, as_billed: true, window: None }).cost()
    })
    .sum()
}

#[test]
fn a_gain_that_is_there_is_found_and_claimed() {
    let traces = sessions(6, |_| Like::Waste);
    let tuned = tuned(&traces, &options());
    assert_eq!((tuned.claim, tuned.is_written, tuned.together), (Claim::Cheaper, true, SplitUnit::Projects));
    let held_out = &tuned.held_out;
    assert!(held_out.cost.interval.1 < 0.0 && held_out.cost.difference < -1.0, "{:?}", held_out.cost);
    assert!(held_out.cost.interval.0 <= held_out.cost.difference);
    let (theirs, ours) = (balanced(), load(&tuned));
    let [before, after] = [&theirs, &ours].map(|profile| bill(&traces, &held_out.projects, profile));
    assert!(after < before);
    let none = bill(&traces, &held_out.projects, &secateur_lab::profiles().get("none").unwrap());
    assert!((100.0 * (after - before) / none - held_out.cost.difference).abs() < 1e-6);
    // Nothing but what was turned differs.
    let own = ours.settings().filter(|(key, _, origin)| *origin == "mine.toml" && key.starts_with("rent."));
    let own: Vec<&str> = own.map(|(key, ..)| key).collect();
    assert!(!own.is_empty());
    assert!(own.iter().all(|key| tuned.changes.iter().any(|change| key.starts_with(&change.key))), "{own:?}");
}

#[test]
fn the_page_states_what_was_measured() {
    let tuned = tuned(&sessions(6, |_| Like::Waste), &options());
    let (comment, cost) = (comment(&tuned), tuned.held_out.cost);
    let (low, high) = (-cost.interval.1, -cost.interval.0);
    for part in [
        "1 May".to_owned(),
        format!("Measured gain over balanced: {:.2} points", -cost.difference),
        format!("(95 % interval {low:.2} … {high:.2}): {:.1} % against {:.1} %", cost.tuned, cost.balanced),
        format!("on {} sessions ({} calls) of 3 projects", tuned.held_out.sessions, tuned.held_out.calls),
        "not used for the search".to_owned(),
        format!("Misses per 100 calls: {:.2} against {:.2}", tuned.held_out.misses.tuned, 0.0),
        format!("{} settings were tried", tuned.trials),
        "anthropic-5m (18)".to_owned(),
    ] {
        assert!(comment.contains(&part), "{part:?} is not in\n{}", tuned.profile);
    }
    assert!(tuned.profile.lines().all(|line| line.chars().count() <= 120), "{}", tuned.profile);
    let keys = tuned.profile.lines().filter(|line| !line.starts_with('#') && line.contains(" = ")).count();
    assert_eq!(keys, 3 + tuned.changes.len(), "{}", tuned.profile);
}

#[test]
fn where_nothing_can_be_gained_nothing_is_claimed() {
    let tuned = tuned(&sessions(6, |_| Like::Short), &TuneOptions { keep: true, ..options() });
    assert_eq!((tuned.claim, tuned.is_written), (Claim::Unchanged, false));
    assert!(tuned.changes.is_empty());
    assert!(comment(&tuned).contains("No gain over balanced could be shown"), "{}", tuned.profile);
    assert_eq!(load(&tuned).policy, balanced().policy);
}

#[test]
fn what_only_helps_where_it_was_searched_is_not_claimed() {
    // Who is held out depends on names only, so it can be asked for first.
    let held_out = tuned(&sessions(6, |_| Like::Short), &options()).held_out.projects;
    let like = |project| match held_out.contains(&format!("project {project}")) {
        true => Like::Needed,
        false => Like::Waste,
    };
    let traces = sessions(6, like);
    let modest = tuned(&traces, &options());
    assert_eq!(modest.held_out.projects, held_out);
    assert!(modest.training.cost.interval.1 < 0.0, "{:?}", modest.training.cost);
    assert!(matches!(modest.claim, Claim::NotShown | Claim::Traded), "{:?}", modest.held_out);
    assert!(!modest.is_written && !modest.changes.is_empty());
    assert!(comment(&modest).contains("So this is balanced, unchanged"), "{}", modest.profile);
    assert!(!comment(&modest).contains("Measured gain"), "{}", modest.profile);
    assert_eq!(load(&modest).policy, balanced().policy);

    let kept = tuned(&traces, &TuneOptions { keep: true, ..options() });
    assert_eq!((kept.claim, kept.is_written), (modest.claim, true));
    assert_eq!((&kept.changes, &kept.held_out), (&modest.changes, &modest.held_out));
    assert!(comment(&kept).contains("No gain over balanced"), "{}", kept.profile);
    assert!(comment(&kept).contains("kept because that was asked for"), "{}", kept.profile);
    assert_ne!(load(&kept).policy, balanced().policy);
}

#[test]
fn the_same_sessions_give_the_same_page_in_any_order_on_any_machine() {
    let mut traces = sessions(4, |project| if project % 2 == 0 { Like::Waste } else { Like::Needed });
    let on_threads = |count: usize, traces: &[Trace]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        pool.install(|| tuned(traces, &options()))
    };
    let first = on_threads(1, &traces);
    traces.reverse();
    assert_eq!(first, on_threads(5, &traces));
}

#[test]
fn a_project_is_never_in_both_parts() {
    for projects in [4, 5, 7, 12] {
        let tuned = tuned(&sessions(projects, |_| Like::Short), &options());
        assert_eq!(tuned.together, SplitUnit::Projects);
        let parts = [&tuned.training.projects, &tuned.held_out.projects];
        let all: BTreeSet<&String> = parts.into_iter().flatten().collect();
        assert_eq!((all.len(), parts[0].len() + parts[1].len()), (projects, projects));
        assert_eq!(tuned.training.sessions + tuned.held_out.sessions, 3 * projects);
    }
}

#[test]
fn a_single_project_is_split_by_session_and_the_page_says_so() {
    let traces: Vec<Trace> = (0..12).map(|number| session(1, number, 30, Like::Waste)).collect();
    let tuned = tuned(&traces, &options());
    assert_eq!(tuned.together, SplitUnit::Sessions);
    assert_eq!((tuned.training.sessions, tuned.held_out.sessions), (6, 6));
    assert!(comment(&tuned).contains("too few projects"), "{}", tuned.profile);
}

#[test]
fn too_little_is_refused() {
    let fail = |traces: &[Trace]| {
        let error = tune(traces, &PriceSheets::builtin(), &options(), |_, _| ()).unwrap_err();
        assert!(matches!(error, TuneError::TooLittle { .. }), "{error:?}");
        error.to_string()
    };
    let mut traces = sessions(3, |_| Like::Waste);
    traces.push(session(7, 0, 9, Like::Waste));
    let error = fail(&traces);
    assert!(error.contains("9 sessions") && error.contains("(1 shorter"), "{error}");
    assert!(error.contains("10 such sessions and 200 calls"), "{error}");
    let brief: Vec<Trace> = (0..12).map(|number| session(number, 0, 10, Like::Waste)).collect();
    assert!(fail(&brief).contains("120 calls in all"));
    assert!(fail(&[]).contains("0 sessions"));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let traces = sessions(4, |_| Like::Short);
    let fail = |options: TuneOptions| {
        tune(&traces, &PriceSheets::builtin(), &options, |_, _| ()).unwrap_err().to_string()
    };
    assert!(fail(TuneOptions { slack: -1.0, ..options() }).contains("slack = -1"));
    assert!(fail(TuneOptions { misses: Some(f64::NAN), ..options() }).contains("misses"));
    assert!(fail(TuneOptions { held_out: 1.0, ..options() }).contains("held_out = 1"));
    assert!(fail(TuneOptions { name: String::new(), ..options() }).contains("name"));
    // It would extend itself.
    assert!(fail(TuneOptions { name: "balanced".to_owned(), ..options() }).contains("balanced"));
}

#[test]
fn nothing_that_a_caller_passes_in_ends_a_comment() {
    let options = TuneOptions {
        name: "a \"b\"\nc".to_owned(),
        date: Some("today\nname = \"no\"".to_owned()),
        ..options()
    };
    let tuned = tuned(&sessions(4, |_| Like::Short), &options);
    assert_eq!(load(&tuned).name, options.name);
}

#[test]
fn no_more_is_tried_than_allowed_and_progress_is_reported() {
    let most = AtomicUsize::new(0);
    let options = TuneOptions { trials: 20, ..options() };
    let reported = |done: usize, of: usize| {
        assert!(done <= of && of == 20);
        assert!(most.fetch_max(done, Ordering::Relaxed) <= done);
    };
    let tuned = tune(&sessions(4, |_| Like::Waste), &PriceSheets::builtin(), &options, reported).unwrap();
    // Putting dials back that did nothing takes a few more.
    assert!(tuned.trials <= 20 + 9 && most.load(Ordering::Relaxed) > 10, "{}", tuned.trials);
}

#[test]
fn a_limit_to_misses_holds_in_the_search() {
    let traces = sessions(6, |_| Like::Needed);
    for most in [0.0, 2.0, 1000.0] {
        let tuned = tuned(&traces, &TuneOptions { misses: Some(most), ..options() });
        assert_eq!(tuned.most_misses, most);
        assert!(tuned.training.misses.tuned <= most.max(tuned.training.misses.balanced), "{tuned:?}");
    }
}
