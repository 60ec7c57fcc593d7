//! What is found in real sessions and sources, for inspection.
//!
//! `SECATEUR_CORPUS=DIR cargo test --release -p secateur-engine --test redaction corpus -- --nocapture` reads all
//! logs below the folder and prints every finding with its surroundings. The credential itself is masked: letters
//! become `a`, capitals `A`, digits `9`. `SECATEUR_SOURCES=DIR:DIR` does the same for folders of code and
//! documentation, which are full of names that nearly announce something.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secateur::Profiles;
use secateur_engine::redact::Redactor;
use secateur_formats::read_all;

/// How much text is shown on each side of a finding.
const AROUND: usize = 70;

/// Files of these kinds below a folder, in order. Links are not followed, so there are no cycles.
fn files(folder: &Path, kinds: &[&str], out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            files(&path, kinds, out);
        } else if kind.is_file()
            && path.extension().is_some_and(|extension| kinds.iter().any(|kind| extension == *kind))
        {
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

/// The findings so far.
#[derive(Default)]
struct Tally {
    texts: usize,
    bytes: usize,
    rules: BTreeMap<String, usize>,
}

impl Tally {
    /// Lists the findings in a text.
    fn take(&mut self, redactor: &Redactor, text: &str) {
        self.texts += 1;
        self.bytes += text.len();
        let redacted = redactor.redact(text);
        assert!(redactor.redact(&redacted.text).findings.is_empty(), "redacting twice is redacting once");
        for finding in redacted.findings {
            let start = text.floor_char_boundary(finding.range.start.saturating_sub(AROUND));
            let end = text.floor_char_boundary(finding.range.end + AROUND / 2);
            let (before, after) = (&text[start..finding.range.start], &text[finding.range.end..end]);
            let secret = mask(&text[finding.range.clone()]);
            println!("{}\t{:?}", finding.rule, format!("{before}⟦{secret}⟧{after}"));
            *self.rules.entry(finding.rule.into_owned()).or_default() += 1;
        }
    }

    fn print(&self) {
        println!("{} texts, {} bytes", self.texts, self.bytes);
        for (rule, count) in &self.rules {
            println!(
                "{rule}: {count}, {:.3} per million bytes",
                *count as f64 * 1e6 / self.bytes.max(1) as f64
            );
        }
    }
}

#[test]
fn findings_in_a_corpus_of_sessions_are_listed() {
    let Some(folder) = std::env::var_os("SECATEUR_CORPUS") else { return };
    let redactor = Redactor::new();
    let measures = Profiles::builtin().get("opencode").unwrap().policy.measures();
    let mut paths = Vec::new();
    files(Path::new(&folder), &["jsonl", "json"], &mut paths);
    let (mut read, mut tally) = (0, Tally::default());
    for path in &paths {
        let content = std::fs::read(path).unwrap();
        let Ok(transcripts) = read_all(&content, &measures) else { continue };
        read += 1;
        for transcript in &transcripts {
            for part in transcript.outline.parts() {
                tally.take(&redactor, &transcript.text_of(part));
            }
        }
    }
    println!("{read} of {} files could be read", paths.len());
    tally.print();
    assert!(read > 0, "no session below the folder could be read");
}

#[test]
fn findings_in_a_corpus_of_sources_are_listed() {
    let Some(folders) = std::env::var_os("SECATEUR_SOURCES") else { return };
    let redactor = Redactor::new();
    let mut paths = Vec::new();
    for folder in std::env::split_paths(&folders) {
        files(&folder, &["rs", "py", "md", "toml", "yml", "json"], &mut paths);
    }
    let mut tally = Tally::default();
    for text in paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()) {
        tally.take(&redactor, &text);
    }
    tally.print();
    assert!(tally.texts > 0, "no text below the folders could be read");
}
