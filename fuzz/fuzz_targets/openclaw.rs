//! OpenClaw sessions: read, plan, cut, read again; and its settings.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_conformance::openclaw::settings::{resolve_2026_01, resolve_2026_09};
use secateur_formats::Format;
use secateur_fuzz::{mutate, session};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    session::check(data, Format::OpenClaw);
    if let Ok(config) = serde_json::from_slice::<Value>(data) {
        _ = resolve_2026_01(&config).map(|settings| settings.to_json());
        _ = resolve_2026_09(&config).map(|settings| settings.to_json());
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::json(data, size, max_size, seed)
});
