//! Ledgers of real logs, if available: `SECATEUR_CORPUS` names a folder. Only counts are printed.

use std::path::{Path, PathBuf};

use secateur::Measures;
use secateur_formats::{Format, RenderOptions, Transcript, Wire, read_all, read_as, render};

use crate::ledger::Ledger;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn check(transcript: &Transcript<'_>) {
    let kept = Ledger::of(transcript, &|text| text.to_owned());
    let stored = serde_json::to_string(&kept).unwrap();
    assert!(stored.len() < Ledger::LARGEST, "{}", stored.len());
    assert_eq!(serde_json::from_str::<Ledger>(&stored).unwrap(), kept);
    for budget in [0, 1, 50, 300, 1_000, 4_000, 12_000, 100_000] {
        assert!(kept.render(budget).len() <= budget);
    }
}

#[test]
fn ledgers_of_real_logs_stay_within_their_bounds() {
    let Some(folder) = std::env::var_os("SECATEUR_CORPUS") else { return };
    let mut found = Vec::new();
    files(Path::new(&folder), &mut found);
    let (mut sessions, mut requests) = (0, 0);
    for path in found {
        let bytes = std::fs::read(&path).unwrap();
        for transcript in read_all(&bytes, &Measures::default()).unwrap_or_default().iter().take(20) {
            sessions += 1;
            check(transcript);
            for wire in [Wire::Anthropic, Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Gemini] {
                let options = RenderOptions::new("a-model");
                let body = render(&transcript.context(None), wire, &options, &[]).body;
                let request = read_as(body.as_bytes(), Format::Request(wire), &Measures::default()).unwrap();
                check(&request);
                requests += 1;
            }
        }
    }
    println!("{sessions} sessions and {requests} requests made of them");
    assert!(sessions > 0, "there is no session in that folder");
}
