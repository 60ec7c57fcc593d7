//! OpenCode takes configuration from a variable, over all of its files.
//!
//! A provider that is mentioned there counts as set up, so only those are mentioned for which the user has a key:
//! otherwise OpenCode might choose a model of one for which there is none.

use std::env;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::launch::{Call, Launch, PROVIDERS};
use super::point::Point;
use crate::addresses;

const VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

pub(crate) fn arrange(call: &Call<'_>, point: &Point, launch: &mut Launch) {
    let mut config = match env::var(VARIABLE).map(|text| serde_json::from_str(&text)) {
        Ok(Ok(Value::Object(config))) => config,
        Err(_) => Map::new(),
        Ok(_) => {
            launch
                .notes
                .push(format!("{VARIABLE} holds something of its own, so OpenCode is not pointed here"));
            return;
        }
    };
    let logins = logins(call);
    let files = call.agent.files(&call.homes, &call.here);
    let texts: Vec<_> = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let providers = config.entry("provider").or_insert_with(|| json!({}));
    for (name, provider) in PROVIDERS {
        let has_key = keys(name).iter().any(|key| env::var_os(key).is_some_and(|key| !key.is_empty()));
        let is_named = texts.iter().any(|text| text.contains(&format!("\"{name}\"")));
        if has_key || is_named || logins.contains_key(name) {
            // Its clients put no version in front of the path themselves.
            let version = if name == "google" { "/v1beta" } else { "/v1" };
            let root = point.address(provider);
            let address = if root.ends_with(version) { root } else { format!("{root}{version}") };
            providers[name]["options"]["baseURL"] = Value::String(address);
        }
    }
    let own: Vec<String> = files.iter().flat_map(|file| addresses::in_file(file)).collect();
    if let Some(url) = own.first() {
        let url = url.clone();
        launch.notes.push(format!("a provider at {url} in OpenCode's own files is not pointed here"));
    }
    launch.set(VARIABLE, Value::Object(config).to_string());
}

/// The variables that may hold a provider's key.
fn keys(provider: &str) -> &'static [&'static str] {
    match provider {
        "anthropic" => &["ANTHROPIC_API_KEY"],
        "openai" => &["OPENAI_API_KEY"],
        _ => &["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    }
}

/// The providers that the user has logged in to. Only their names are looked at.
fn logins(call: &Call<'_>) -> Map<String, Value> {
    let usual = || call.homes.home.as_ref().map(|home| home.join(".local/share"));
    let file: Option<PathBuf> =
        call.homes.data.clone().or_else(usual).map(|dir| dir.join("opencode/auth.json"));
    let text = file.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
