//! openagentic-sdk sessions: read, plan, cut, read again; rebuilt for a provider; and usage reports.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_conformance::openagentic::rebuild::rebuild;
use secateur_conformance::openagentic::usage::{SdkVersion, totals};
use secateur_formats::Format;
use secateur_fuzz::{mutate, session};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    session::check(data, Format::OpenAgentic);
    let lines = data.split(|&byte| byte == b'\n');
    let events: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let rebuilt = rebuild(&events, 8, 256);
    assert_eq!(rebuilt.messages.len(), rebuilt.responses.len());
    assert!(rebuilt.messages.len() <= events.len().min(8));
    for event in &events {
        for version in [SdkVersion::Seed, SdkVersion::Head] {
            let totals = totals(event.get("usage").unwrap_or(event), version);
            assert!(totals.is_none_or(|totals| totals.total > 0 && totals.to_json(version).is_object()));
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::lines(data, size, max_size, seed)
});
