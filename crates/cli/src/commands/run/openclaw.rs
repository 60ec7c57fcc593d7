//! OpenClaw takes its providers' addresses from its own file, and a variable names another file. So a run gets a copy in
//! which the provider it uses has the proxy's address.
//!
//! This is done for `openclaw agent exec` only, which stores nothing. With other commands OpenClaw copies addresses into
//! catalogues that override its file later, or a gateway sends the requests that is already running with the old file.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;
use secateur_server::Provider;
use serde_json::{Value, json};

use super::launch::{AgentCall, Launch, PROVIDERS};
use super::provider_urls;
use super::proxy_url::{OriginalUrls, ProxyUrl};

const VARIABLE: &str = "OPENCLAW_CONFIG_PATH";

/// Options of `agent exec` with which the usual file is not read.
const OTHER_FILES: [&str; 3] = ["config", "isolated", "auth-env-only"];

/// The APIs by OpenClaw's names.
const APIS: [(&str, Provider); 4] = [
    ("anthropic-messages", Provider::Anthropic),
    ("openai-completions", Provider::OpenAi),
    ("openai-responses", Provider::OpenAi),
    ("google-generative-ai", Provider::Gemini),
];

/// What Google's client expects at the end of an address.
const GOOGLE: &str = "/v1beta";

/// Records the address in OpenClaw's configuration.
pub(crate) fn original_urls(call: &AgentCall<'_>, urls: &mut OriginalUrls, proxy: SocketAddr) {
    let Some(config) = config(call).filter(|_| is_embedded(call)) else { return };
    let Some(name) = provider(call, &config) else { return };
    if let (Some(provider), Some(url)) = (api(&config, &name), address(&config, &name)) {
        urls.record(provider, url.trim_end_matches('/').trim_end_matches(GOOGLE), proxy);
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) -> Result<()> {
    let file = file(call);
    let shown =
        file.as_ref().map_or_else(|| String::from("openclaw.json"), |file| file.display().to_string());
    if !is_embedded(call) {
        launch.notes.push(format!(
            "only `openclaw agent exec` uses the proxy; for other commands, set baseUrl of their provider in {shown} to \
             the address of `secateur serve`"
        ));
        return Ok(());
    }
    // A missing file counts as an empty one.
    let exists = file.is_some_and(|file| file.exists());
    let config = if exists { config(call) } else { Some(json!({})) };
    let Some(mut config) = config else {
        launch.notes.push(format!("{shown} cannot be parsed here, so OpenClaw does not use the proxy"));
        return Ok(());
    };
    let name = provider(call, &config);
    let Some((name, provider)) = name.and_then(|name| api(&config, &name).map(|provider| (name, provider)))
    else {
        launch.notes.push(format!("{shown} names no provider, so OpenClaw does not use the proxy"));
        return Ok(());
    };
    let version = if provider == Provider::Gemini { GOOGLE } else { "" };
    let entry = &mut config["models"]["providers"][&name];
    entry["baseUrl"] = json!(format!("{}{version}", proxy_url.address(provider)));
    if entry["models"].is_null() {
        // OpenClaw requires a list, even if it knows the models.
        entry["models"] = json!([]);
    }
    let copy = launch.write("openclaw.json", &config.to_string())?;
    launch.set(VARIABLE, copy.display().to_string());
    Ok(())
}

/// Whether this command sends requests itself, reads the usual file, and stores nothing.
fn is_embedded(call: &AgentCall<'_>) -> bool {
    let words: Vec<_> = call.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let is_other = |word: &str| {
        let name = word.strip_prefix("--").map(|name| name.split('=').next().unwrap_or_default());
        name.is_some_and(|name| OTHER_FILES.contains(&name))
    };
    words.starts_with(&["agent".into(), "exec".into()]) && !words.iter().any(|word| is_other(word))
}

/// The user's configuration file.
fn file(call: &AgentCall<'_>) -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    named.or_else(|| call.agent.own_files(&call.homes).pop())
}

/// The configuration; none if it cannot be read, or includes other files.
fn config(call: &AgentCall<'_>) -> Option<Value> {
    let text = std::fs::read_to_string(file(call)?).ok()?;
    let config: Value = serde_json::from_str(&provider_urls::plain_json(&text)).ok()?;
    let is_whole = config.is_object() && !text.contains("$include");
    is_whole.then_some(config)
}

/// The name of the model's provider: from an argument, or from the file.
fn provider(call: &AgentCall<'_>, config: &Value) -> Option<String> {
    let model = &config["agents"]["defaults"]["model"];
    let default = model.as_str().or_else(|| model["primary"].as_str());
    let model = call.values(None, "model").pop().or_else(|| default.map(str::to_owned))?;
    model.split_once('/').map(|(provider, _)| provider.to_owned())
}

/// The API of a provider, by its name in the configuration.
fn api(config: &Value, name: &str) -> Option<Provider> {
    let api = config["models"]["providers"][name]["api"].as_str();
    let configured = APIS.into_iter().find(|(known, _)| Some(*known) == api);
    let known = || PROVIDERS.into_iter().find(|(known, _)| api.is_none() && *known == name);
    configured.or_else(known).map(|(_, provider)| provider)
}

/// The configured address of a provider.
fn address<'c>(config: &'c Value, name: &str) -> Option<&'c str> {
    config["models"]["providers"][name]["baseUrl"].as_str()
}
