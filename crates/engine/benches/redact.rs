//! How fast text is searched for credentials.
//!
//! `cargo bench -p secateur-engine --bench redact`. The figures to look at: bytes a second of text without credentials,
//! beside a set of patterns that runs over every byte of the same text; and of hostile texts, whose time a
//! byte must be the same for four times the text.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use regex::bytes::RegexSetBuilder;
use secateur_engine::redact::Redactor;

/// Text like that of a tool's result: code, words, paths, numbers and names that only nearly announce
/// something.
fn ordinary(bytes: usize) -> String {
    let lines = [
        "    let tokens = self.count_tokens(&message.text, Unit::Tokens)?;\n",
        "crates/engine/src/session.rs:118:    pub fn key(&self) -> Option<&str> {\n",
        "The request took 1,204 ms; 3 of 17 results were cut, 48,211 characters were kept.\n",
        "{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_01\",\"content\":\"ok\",\"is_error\":false}\n",
        "drwxr-xr-x  6 app app  4096 2024-05-01 10:00 node_modules/.cache/monkey-keyboard\n",
        "error[E0308]: mismatched types: expected `Result<Token, Error>`, found `Token`\n",
        "commit 0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33 (HEAD -> main)\n",
        "see https://docs.example.com/guide/authorization?page=2 for how passwords are handled\n",
    ];
    lines
        .iter()
        .cycle()
        .copied()
        .scan(0, |size, line| {
            *size += line.len();
            (*size <= bytes).then_some(line)
        })
        .collect()
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

fn search(criterion: &mut Criterion) {
    let text = ordinary(1 << 20);
    let redactor = Redactor::new();
    assert!(!redactor.contains_credential(&text));
    let naive = RegexSetBuilder::new(NAIVE).unicode(false).build().expect("patterns that compile");
    let mut group = criterion.benchmark_group("search");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("redactor", |bencher| bencher.iter(|| black_box(redactor.redact(black_box(&text)))));
    group.bench_function("naive set", |bencher| {
        bencher.iter(|| black_box(naive.matches(black_box(text.as_bytes()))));
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
