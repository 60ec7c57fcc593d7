//! OpenClaw takes its providers' addresses from its own file, and a variable names another file in its place. So a run
//! gets a copy in which the provider that it uses has our address.
//!
//! Only `openclaw agent exec` is run so, which keeps nothing: elsewhere OpenClaw writes the addresses that it has read
//! into a catalogue of each agent's, where they win over its file when this run is long over; or a gateway asks the
//! model that runs already and has read the file before.

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

/// What is asked of a provider, by the name that OpenClaw has for it.
const LANGUAGES: [(&str, Provider); 4] = [
    ("anthropic-messages", Provider::Anthropic),
    ("openai-completions", Provider::OpenAi),
    ("openai-responses", Provider::OpenAi),
    ("google-generative-ai", Provider::Gemini),
];

/// What Google's client expects of an address.
const GOOGLE: &str = "/v1beta";

/// Where OpenClaw goes as it is configured.
pub(crate) fn before(call: &AgentCall<'_>, before: &mut OriginalUrls, proxy: SocketAddr) {
    let Some(config) = config(call).filter(|_| is_embedded(call)) else { return };
    let Some(name) = provider(call, &config) else { return };
    if let (Some(language), Some(url)) = (language(&config, &name), address(&config, &name)) {
        before.note(language, url.trim_end_matches('/').trim_end_matches(GOOGLE), proxy);
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) -> Result<()> {
    let file = file(call);
    let shown =
        file.as_ref().map_or_else(|| String::from("openclaw.json"), |file| file.display().to_string());
    if !is_embedded(call) {
        launch.notes.push(format!(
            "only `openclaw agent exec` is brought here; other commands take addresses from {shown}, and come here if \
             baseUrl of their provider there is that of `secateur serve`"
        ));
        return Ok(());
    }
    // One that is not there is as good as an empty one.
    let is_there = file.is_some_and(|file| file.exists());
    let config = if is_there { config(call) } else { Some(json!({})) };
    let Some(mut config) = config else {
        launch.notes.push(format!(
            "{shown} is written in a way that is not read here, so OpenClaw is not pointed here"
        ));
        return Ok(());
    };
    let name = provider(call, &config);
    let Some((name, language)) =
        name.and_then(|name| language(&config, &name).map(|language| (name, language)))
    else {
        launch.notes.push(format!("{shown} does not say whom OpenClaw asks, so it is not pointed here"));
        return Ok(());
    };
    let version = if language == Provider::Gemini { GOOGLE } else { "" };
    let entry = &mut config["models"]["providers"][&name];
    entry["baseUrl"] = json!(format!("{}{version}", proxy_url.address(language)));
    if entry["models"].is_null() {
        // It wants a list, also where it knows the models itself.
        entry["models"] = json!([]);
    }
    let copy = launch.write("openclaw.json", &config.to_string())?;
    launch.set(VARIABLE, copy.display().to_string());
    Ok(())
}

/// Whether this command asks a model by itself, by the usual file, and keeps nothing.
fn is_embedded(call: &AgentCall<'_>) -> bool {
    let words: Vec<_> = call.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let is_other = |word: &str| {
        let name = word.strip_prefix("--").map(|name| name.split('=').next().unwrap_or_default());
        name.is_some_and(|name| OTHER_FILES.contains(&name))
    };
    words.starts_with(&["agent".into(), "exec".into()]) && !words.iter().any(|word| is_other(word))
}

/// The user's file.
fn file(call: &AgentCall<'_>) -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    named.or_else(|| call.agent.own_files(&call.homes).pop())
}

/// What is in it; none if it cannot be read, or is spread over files that are looked for beside it.
fn config(call: &AgentCall<'_>) -> Option<Value> {
    let text = std::fs::read_to_string(file(call)?).ok()?;
    let config: Value = serde_json::from_str(&provider_urls::plain(&text)).ok()?;
    let is_whole = config.is_object() && !text.contains("$include");
    is_whole.then_some(config)
}

/// The provider of the model that is meant: by an argument, or by the file.
fn provider(call: &AgentCall<'_>, config: &Value) -> Option<String> {
    let model = &config["agents"]["defaults"]["model"];
    let usual = model.as_str().or_else(|| model["primary"].as_str());
    let model = call.values(None, "model").pop().or_else(|| usual.map(str::to_owned))?;
    model.split_once('/').map(|(provider, _)| provider.to_owned())
}

/// The language that a provider is spoken to in.
fn language(config: &Value, name: &str) -> Option<Provider> {
    let api = config["models"]["providers"][name]["api"].as_str();
    let said = LANGUAGES.into_iter().find(|(language, _)| Some(*language) == api);
    let known = || PROVIDERS.into_iter().find(|(known, _)| api.is_none() && *known == name);
    said.or_else(known).map(|(_, provider)| provider)
}

/// The address that a provider has.
fn address<'c>(config: &'c Value, name: &str) -> Option<&'c str> {
    config["models"]["providers"][name]["baseUrl"].as_str()
}
