//! OpenCode takes configuration from a variable that overrides all of its files.
//!
//! OpenCode may choose a model of any provider in it. So only providers for which the user has a key are added.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;

use secateur_server::Provider;
use serde_json::{Map, Value, json};

use super::launch::{AgentCall, Launch, PROVIDERS};
use super::provider_urls::{self, UrlKeys};
use super::proxy_url::{OriginalUrls, ProxyUrl};

const VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";
const SHAPE: UrlKeys = UrlKeys { providers: "provider", address: "/options/baseURL" };

/// Records the addresses in OpenCode's configuration.
pub(crate) fn original_urls(call: &AgentCall<'_>, urls: &mut OriginalUrls, proxy: SocketAddr) {
    let configured = provider_urls::addresses(&call.agent.own_files(&call.homes), &SHAPE);
    for (name, provider) in PROVIDERS {
        if let Some(url) = configured.get(name).and_then(|url| root(url, provider)) {
            urls.record(provider, &url, proxy);
        }
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) {
    let mut config = match env::var(VARIABLE).map(|text| serde_json::from_str(&text)) {
        Ok(Ok(Value::Object(config))) => config,
        Err(_) => Map::new(),
        Ok(_) => {
            launch.notes.push(format!("{VARIABLE} is not a JSON object, so OpenCode does not use the proxy"));
            return;
        }
    };
    let own = provider_urls::addresses(&call.agent.own_files(&call.homes), &SHAPE);
    let foreign = provider_urls::addresses(&call.agent.project_files(&call.here), &SHAPE);
    let logins = logins(call);
    let providers = config.entry("provider").or_insert_with(|| json!({}));
    for (name, provider) in PROVIDERS {
        let has_key = keys(provider).iter().any(|key| env::var_os(key).is_some_and(|key| !key.is_empty()));
        let original = own.get(name);
        // An address without the usual version cannot be an upstream, and an address from a project must not be.
        let can_be_moved =
            original.is_none_or(|url| root(url, provider).is_some()) && !foreign.contains_key(name);
        if can_be_moved && (has_key || original.is_some() || logins.contains_key(name)) {
            let root = proxy_url.address(Provider::Anthropic);
            providers[name]["options"]["baseURL"] = Value::String(format!("{root}{}", version(provider)));
        }
    }
    for (name, url) in own {
        let known = PROVIDERS.into_iter().find(|(known, _)| *known == name);
        if known.is_none_or(|(_, provider)| root(&url, provider).is_none()) {
            launch
                .notes
                .push(format!("OpenCode's provider {name:?} has its own address and does not use the proxy"));
        }
    }
    launch.set(VARIABLE, Value::Object(config).to_string());
}

/// The version that OpenCode expects at the end of a provider's address.
fn version(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic | Provider::OpenAi => "/v1",
        Provider::Gemini => "/v1beta",
    }
}

/// An address without the version, as an upstream is written. OpenAI's keeps it, because it is split off later.
fn root(url: &str, provider: Provider) -> Option<String> {
    let url = url.trim_end_matches('/');
    let root = url.strip_suffix(version(provider))?;
    Some(if provider == Provider::OpenAi { url } else { root }.to_owned())
}

/// The variables that may hold a provider's key.
fn keys(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Anthropic => &["ANTHROPIC_API_KEY"],
        Provider::OpenAi => &["OPENAI_API_KEY"],
        Provider::Gemini => &["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    }
}

/// The providers that the user has logged in to. Only their names are used.
fn logins(call: &AgentCall<'_>) -> Map<String, Value> {
    let usual = || call.homes.home.as_ref().map(|home| home.join(".local/share"));
    let file: Option<PathBuf> =
        call.homes.data.clone().or_else(usual).map(|dir| dir.join("opencode/auth.json"));
    let text = file.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
