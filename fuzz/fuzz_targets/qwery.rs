//! Qwery sessions: read, plan, cut, read again; rendered for a model; and their summaries.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_conformance::qwery::{summary::truncate_summary, ui_messages::ui_messages};
use secateur_formats::Format;
use secateur_fuzz::{mutate, session};
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    session::check(data, Format::Qwery);
    if let Ok(Value::Array(messages)) = serde_json::from_slice(data) {
        assert!(ui_messages(&messages, &json!({"providerID": "p", "id": "m"})).len() <= messages.len());
    }
    if let Ok(text) = str::from_utf8(data) {
        let short = truncate_summary(text, 20);
        assert!(truncate_summary(text, u64::MAX).starts_with(&short));
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::json(data, size, max_size, seed)
});
