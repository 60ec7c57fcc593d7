//! OpenCode sessions: read, plan, cut, read again; and rendered for a model.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_conformance::opencode::{model_messages::model_messages, ui_messages::ui_messages};
use secateur_formats::Format;
use secateur_fuzz::{mutate, session};
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    session::check(data, Format::OpenCode);
    if let Ok(document) = serde_json::from_slice::<Value>(data) {
        let messages =
            document.get("messages").unwrap_or(&document).as_array().map_or(&[][..], Vec::as_slice);
        let model = json!({"providerID": "p", "id": "m"});
        assert!(ui_messages(messages, &model).len() <= messages.len());
        _ = model_messages(&ui_messages(messages, &model));
        _ = model_messages(messages);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::json(data, size, max_size, seed)
});
