//! Codex takes addresses as `-c KEY=VALUE` before all other arguments. A provider that the user configured keeps its name
//! and its key; only its address is replaced by the proxy's, and the proxy uses the original one as upstream.
//!
//! Codex's built-in provider keeps its name, too, because `codex resume` only finds sessions of the same provider. A
//! provider with another name could be configured without WebSockets; instead, the proxy declines them.
//!
//! No variable or header can carry a token to the built-in provider, and every user of the machine can read arguments. So
//! a run of Codex that needs a token gets its own.

use std::net::SocketAddr;

use secateur_server::Provider;
use toml::{Table, Value};

use super::launch::{AgentCall, Launch};
use super::proxy_url::{OriginalUrls, ProxyUrl};

/// Codex's built-in provider.
const BUILT_IN: &str = "openai";

/// The upstream for users who logged in with ChatGPT instead of a key.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

/// Codex's default upstream, if it is not OpenAI's API. Only the kind of the login is read.
pub(crate) fn default_upstream(call: &AgentCall<'_>) -> Option<&'static str> {
    if provider(call, &config(call)) != BUILT_IN {
        return None;
    }
    let text = std::fs::read(call.agent.folder(&call.homes)?.join("auth.json")).ok()?;
    let login: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let is_chatgpt = match login["auth_mode"].as_str() {
        Some(mode) => mode.eq_ignore_ascii_case("chatgpt"),
        None => login["tokens"].is_object() && login["OPENAI_API_KEY"].is_null(),
    };
    is_chatgpt.then_some(CHATGPT)
}

/// Records the address in Codex's configuration.
pub(crate) fn original_urls(call: &AgentCall<'_>, urls: &mut OriginalUrls, proxy: SocketAddr) {
    let config = config(call);
    let url = match provider(call, &config).as_str() {
        BUILT_IN => config.get("openai_base_url"),
        name => config.get("model_providers").and_then(|all| all.get(name)?.get("base_url")),
    };
    if let Some(url) = url.and_then(Value::as_str) {
        urls.record(Provider::OpenAi, url, proxy);
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) {
    let config = config(call);
    let name = provider(call, &config);
    let known = config.get("model_providers").and_then(|all| all.get(&name)).is_some();
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let key = match name.as_str() {
        BUILT_IN => String::from("openai_base_url"),
        _ if known && is_word => format!("model_providers.{name}.base_url"),
        // Codex has more built-in providers, whose addresses are not known here.
        _ => {
            let note = format!("Codex uses its provider {name:?}, which does not go through the proxy");
            launch.notes.push(note);
            return;
        }
    };
    let address = Value::String(proxy_url.address(Provider::OpenAi));
    launch.arguments.extend(["-c".into(), format!("{key}={address}").into()]);
}

/// The provider that is used: from an argument, from the selected Codex profile, or from the file.
fn provider(call: &AgentCall<'_>, config: &Table) -> String {
    let arguments = call.values(Some('c'), "config");
    // The last one wins.
    let argument = arguments
        .iter()
        .rev()
        .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == "model_provider"));
    if let Some((_, name)) = argument {
        return name.trim_matches(['"', '\'']).to_owned();
    }
    let profile = call.values(Some('p'), "profile").pop();
    let profile = profile.or_else(|| config.get("profile")?.as_str().map(str::to_owned));
    let of_profile =
        profile.and_then(|name| config.get("profiles")?.get(name)?.get("model_provider").cloned());
    let name = of_profile.as_ref().or_else(|| config.get("model_provider")).and_then(Value::as_str);
    name.unwrap_or(BUILT_IN).to_owned()
}

/// Codex's configuration; empty if it cannot be read, which Codex will report itself.
fn config(call: &AgentCall<'_>) -> Table {
    let files = call.agent.files(&call.homes, &call.here);
    let text = files.first().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    text.parse().unwrap_or_default()
}
