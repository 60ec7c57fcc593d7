//! What is found in real sessions, to be looked at by a person.
//!
//! `SECATEUR_CORPUS=DIR cargo test --release -p secateur-engine --test redaction corpus -- --nocapture` reads all logs
//! below the folder and prints every finding with what is around it. The credential itself is masked: letters become
//! `a`, capitals `A`, digits `9`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secateur::Profiles;
use secateur_engine::redact::Redactor;
use secateur_formats::read_all;

/// How much of the text is shown to either side of a finding.
const AROUND: usize = 70;

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
            out.push(path);
        }
    }
}

fn mask(secret: &str) -> String {
    let mask = |letter: char| match letter {
        'a'..='z' => 'a',
        'A'..='Z' => 'A',
        '0'..='9' => '9',
        other => other,
    };
    secret.chars().take(60).map(mask).collect()
}

#[test]
fn findings_in_a_corpus_are_listed() {
    let Some(folder) = std::env::var_os("SECATEUR_CORPUS") else { return };
    let redactor = Redactor::new();
    let measures = Profiles::builtin().get("opencode").unwrap().policy.measures();
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    let (mut read, mut texts, mut bytes) = (0, 0, 0);
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    for path in &paths {
        let content = std::fs::read(path).unwrap();
        let Ok(transcripts) = read_all(&content, &measures) else { continue };
        read += 1;
        for transcript in &transcripts {
            for part in transcript.outline.parts() {
                let text = transcript.text_of(part);
                texts += 1;
                bytes += text.len();
                let redacted = redactor.redact(&text);
                assert!(
                    redactor.redact(&redacted.text).findings.is_empty(),
                    "redacting twice is redacting once"
                );
                for finding in redacted.findings {
                    let start = text.floor_char_boundary(finding.range.start.saturating_sub(AROUND));
                    let end = text.floor_char_boundary(finding.range.end + AROUND / 2);
                    let (before, after) = (&text[start..finding.range.start], &text[finding.range.end..end]);
                    let secret = mask(&text[finding.range.clone()]);
                    println!("{}\t{:?}", finding.rule, format!("{before}⟦{secret}⟧{after}"));
                    *rules.entry(finding.rule.into_owned()).or_default() += 1;
                }
            }
        }
    }
    println!("{read} of {} files, {texts} texts, {bytes} bytes", paths.len());
    for (rule, count) in rules {
        println!("{rule}: {count}, {:.3} per million bytes", count as f64 * 1e6 / bytes.max(1) as f64);
    }
    assert!(read > 0, "no session below the folder could be read");
}
