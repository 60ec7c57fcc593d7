//! The lab against the table of an independent simulator, where the environment names one.
//!
//! `SECATEUR_CORPUS=DIR SECATEUR_LAB_REFERENCE=TABLE cargo test --release -p secateur-lab --test lab reference --
//! --nocapture` replays the session logs below the folder and compares costs and misses with the table: tab-separated,
//! with columns `agent`, `policy`, `cost_pct` and `miss100`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use secateur::{Measures, Profile};
use secateur_formats::{Format, read};
use secateur_lab::{PriceSheets, Study, StudyOptions, StudyRow, Trace, TraceLabel, profiles};

/// Policies by the names that the table has for them.
const NAMES: [(&str, &str); 18] = [
    ("none", "none"),
    ("opencode-40k/20k", "opencode"),
    ("gemini-50k/30k", "gemini-cli"),
    ("openclaw-adaptive", "openclaw@2026-01"),
    ("openclaw-cache-ttl", "openclaw@2026-09"),
    ("anthropic-100k/3", "anthropic"),
    ("anthropic-100k/3/20k", "anthropic-20k"),
    ("langchain-100k/3", "langchain"),
    ("rolling-10", "rolling-10"),
    ("staircase-8/16", "staircase-8-16"),
    ("cap-4k", "cap-4k"),
    ("cap-8k", "cap-8k"),
    ("cap-16k", "cap-16k"),
    ("dedup-now", "dedup-now"),
    ("supersede-now", "supersede-now"),
    ("secateur-careful", "careful"),
    ("secateur-balanced", "balanced"),
    ("secateur-frugal", "frugal"),
];

/// Rows that may differ by more, and why.
///
/// * pi: sessions of its first format name what a compaction keeps by index. The table's simulator goes on as if nothing
///   had been compacted and lets policies save what is long gone; `traces::a_compaction_by_index_starts_another_trace`
///   shows a minimal session.
/// * OpenClaw's adaptive mode: its plans follow the recorded cases of that system, which are replayed by `secateur-conformance`; the
///   table's simulator has its own reading of them. What such a plan does to the cache is shown call by call in
///   `invariants::shortening_anew_at_each_call_breaks_the_cache_at_each_call`.
fn is_explained(row: &StudyRow) -> bool {
    row.agent == "pi" || row.policy == "openclaw@2026-01"
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl") {
            found.push(path);
        }
    }
}

fn traces(folder: &Path) -> Vec<Trace> {
    let mut found = Vec::new();
    files(folder, &mut found);
    let measures =
        Measures { source: true, excerpt: true, js_json: true, weighted: true, ..Measures::default() };
    let mut traces = Vec::new();
    for path in found {
        let bytes = fs::read(&path).expect("a file that was listed");
        let Ok(transcript) = read(&bytes, &measures) else { continue };
        let agents = [Format::ClaudeCode, Format::Codex, Format::OpenCode, Format::Pi];
        if !agents.contains(&transcript.format) {
            continue;
        }
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let project = name.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '-').to_owned();
        let agent = transcript.format.name().to_owned();
        traces.extend(Trace::of(&transcript, &TraceLabel { agent, project, name }));
    }
    traces
}

#[test]
fn costs_and_misses_agree_with_the_table() {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(folder), Some(table)) = (named("SECATEUR_CORPUS"), named("SECATEUR_LAB_REFERENCE")) else {
        return;
    };
    let table = fs::read_to_string(table).expect("the table");
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let heads = lines.next().expect("a line of headings");
    let column = |name: &str| heads.iter().position(|head| *head == name).expect("a column");
    let (cost, miss) = (column("cost_pct"), column("miss100"));
    let number = |cells: &[&str], at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
    let known: HashMap<(String, String), (f64, f64)> = lines
        .filter_map(|cells| {
            let key = ((*cells.first()?).to_owned(), (*cells.get(1)?).to_owned());
            Some((key, (number(&cells, cost)?, number(&cells, miss)?)))
        })
        .collect();
    let profiles = profiles();
    let policies: Vec<Profile> =
        NAMES.iter().map(|(_, name)| profiles.get(name).expect("a policy")).collect();
    let study =
        Study::of(traces(&folder), &policies, &PriceSheets::builtin(), &StudyOptions::default(), |_, _| ());
    let mut far = Vec::new();
    let mut compared = 0;
    for row in study.expect("a study").rows() {
        let Some((theirs, _)) = NAMES.iter().find(|(_, ours)| *ours == row.policy) else { continue };
        let Some(&(cost, misses)) = known.get(&(row.agent.clone(), (*theirs).to_owned())) else { continue };
        compared += 1;
        let (cost_off, misses_off) = (row.cost_pct - cost, row.miss100 - misses);
        let line = format!(
            "{:9} {:18} cost {:6.2} ({cost:6.2}) {cost_off:+5.1}  misses {:5.2} ({misses:5.2}) {misses_off:+5.2}",
            row.agent, row.policy, row.cost_pct, row.miss100
        );
        println!("{line}");
        if (cost_off.abs() > 4.0 || misses_off.abs() > 1.5) && !is_explained(&row) {
            far.push(line);
        }
    }
    assert!(compared > 0, "the table names no agent and policy that was replayed");
    assert!(far.is_empty(), "too far from the table:\n{}", far.join("\n"));
}
