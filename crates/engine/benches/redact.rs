//! How fast text is searched for credentials.
//!
//! `cargo bench -p secateur-engine --bench redact`. The figures to look at: bytes a second of text without
//! credentials, beside sixteen patterns that run over every byte of the same text, as a set that only says
//! whether something is there, and one by one, which also says where; and of hostile texts, whose time a byte
//! must be the same for four times the text.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use regex::bytes::{Regex, RegexBuilder, RegexSetBuilder};
use secateur_engine::redact::Redactor;

/// Text without credentials: the sources of the kernel and of the formats, which speak of tokens all the time.
fn ordinary() -> String {
    let mut text = String::new();
    for part in ["../core/src", "../formats/src"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(part), &mut text);
    }
    text
}

fn collect(folder: &Path, text: &mut String) {
    let entries = std::fs::read_dir(folder).expect("the sources are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, text);
        } else {
            text.push_str(&std::fs::read_to_string(path).expect("a source is text"));
        }
    }
}

/// What one would write first: a pattern for each of the best-known credentials, tried on everything.
const NAIVE: [&str; 16] = [
    r"sk-ant-[A-Za-z0-9_-]{20,}",
    r"sk-(?:proj-)?[A-Za-z0-9_-]{20,}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_[A-Za-z0-9_]{50,}",
    r"glpat-[A-Za-z0-9_-]{20}",
    r"xox[abprs]-[A-Za-z0-9-]{16,}",
    r"[sr]k_live_[A-Za-z0-9]{16,}",
    r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"[a-z+]+://[^\s:/@]+:[^\s/@]+@",
    r"(?i)authorization:\s*(?:bearer|basic)\s+\S+",
    r"(?i)(?:password|passwd|pwd)[\x22']?\s*[:=]\s*[\x22']?[^\s\x22']{8,}",
    r"(?i)(?:secret|token|api[_-]?key)[\x22']?\s*[:=]\s*[\x22']?[A-Za-z0-9_+/=-]{16,}",
    r"(?i)(?:set-)?cookie:\s*\S+=\S+",
];

fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("a pattern that compiles")
}

fn search(criterion: &mut Criterion) {
    let text = ordinary();
    let redactor = Redactor::new();
    assert!(!redactor.contains_credential(&text));
    let naive = RegexSetBuilder::new(NAIVE).unicode(false).build().expect("patterns that compile");
    let mut group = criterion.benchmark_group("search");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("redactor", |bencher| bencher.iter(|| black_box(redactor.redact(black_box(&text)))));
    group.bench_function("set, whether", |bencher| {
        bencher.iter(|| black_box(naive.matches(black_box(text.as_bytes()))));
    });
    let each: Vec<Regex> = NAIVE.iter().map(|pattern| compile(pattern)).collect();
    group.bench_function("one by one, where", |bencher| {
        bencher.iter(|| {
            let found = each.iter().map(|regex| regex.find_iter(black_box(text.as_bytes())).count());
            black_box(found.sum::<usize>())
        });
    });
    group.finish();
}

fn hostile(criterion: &mut Criterion) {
    let redactor = Redactor::new();
    let mut group = criterion.benchmark_group("hostile");
    group.sample_size(10);
    for piece in
        ["=", "a", "sk-", "password=", "eyJa.", "-----BEGIN PRIVATE KEY-----", "Cookie: a=b; ", "://a:"]
    {
        for size in [1 << 18, 1 << 20] {
            let text = piece.repeat(size / piece.len());
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(format!("{piece}/{size}"), |bencher| {
                bencher.iter(|| black_box(redactor.redact(black_box(&text))));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, search, hostile);
criterion_main!(benches);
