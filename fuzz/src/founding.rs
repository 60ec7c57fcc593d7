//! What the conformance harness makes of the founding systems' logs never panics, and never grows.

use secateur_conformance::openagentic::rebuild::rebuild;
use secateur_conformance::openagentic::usage::{SdkVersion, totals};
use secateur_conformance::opencode::model_messages::{Outputs, model_messages};
use secateur_conformance::opencode::ui_messages as opencode_messages;
use secateur_conformance::qwery::{summary::truncate_summary, ui_messages as qwery_messages};
use secateur_formats::settings::openclaw::{SettingsVersion, resolve, resolve_2026_09};
use serde_json::{Value, json};

/// OpenCode: rendered for a model.
pub fn opencode(data: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Value>(data) else { return };
    let messages = document.get("messages").unwrap_or(&document).as_array().map_or(&[][..], Vec::as_slice);
    let model = json!({"providerID": "p", "id": "m"});
    let rendered = opencode_messages::ui_messages(messages, &model);
    assert!(rendered.len() <= messages.len());
    for outputs in [Outputs::January, Outputs::August, Outputs::Qwery] {
        _ = model_messages(&rendered, outputs);
        _ = model_messages(messages, outputs);
    }
}

/// OpenClaw: its settings.
pub fn openclaw(data: &[u8]) {
    let Ok(config) = serde_json::from_slice::<Value>(data) else { return };
    for version in [SettingsVersion::FillModes, SettingsVersion::CacheTtl, SettingsVersion::CompositeTtl] {
        _ = resolve(&config, version).map(|settings| settings.to_json());
    }
    _ = resolve_2026_09(&config).map(|settings| settings.to_json());
}

/// openagentic-sdk: rebuilt for a provider, and usage reports.
pub fn openagentic(data: &[u8]) {
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
}

/// Qwery: rendered for a model, and its summaries.
pub fn qwery(data: &[u8]) {
    if let Ok(Value::Array(messages)) = serde_json::from_slice(data) {
        let rendered = qwery_messages::ui_messages(&messages, &json!({"providerID": "p", "id": "m"}));
        assert!(rendered.len() <= messages.len());
    }
    if let Ok(text) = str::from_utf8(data) {
        let short = truncate_summary(text, 20);
        assert!(truncate_summary(text, u64::MAX).starts_with(&short));
    }
}
