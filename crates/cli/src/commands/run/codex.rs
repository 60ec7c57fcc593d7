//! Codex takes addresses as `-c KEY=VALUE` in front of everything else. A provider of the user's own keeps its name and
//! its key; only its address becomes ours, and what was its address is asked by the proxy.
//!
//! The provider that Codex brings along keeps its name, too, although one of another name could be told not to use
//! WebSockets: `codex resume` only finds sessions of the same provider. The proxy tells it instead.
//!
//! No variable and no header can carry a token to that provider, and arguments can be read by everybody on the machine.
//! So a run of Codex that needs a token gets one of its own.

use std::net::SocketAddr;

use secateur_server::Provider;
use toml::{Table, Value};

use super::launch::{AgentCall, Launch};
use super::proxy_url::{OriginalUrls, ProxyUrl};

/// The provider that Codex brings along.
const OWN: &str = "openai";

/// Where somebody is served who has logged in with ChatGPT instead of a key.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

/// Where Codex goes if nobody has pointed it anywhere; none if that is where everybody goes. Of the login only its kind
/// is looked at.
pub(crate) fn usual(call: &AgentCall<'_>) -> Option<&'static str> {
    if provider(call, &config(call)) != OWN {
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

/// Where Codex goes as it is configured.
pub(crate) fn before(call: &AgentCall<'_>, before: &mut OriginalUrls, proxy: SocketAddr) {
    let config = config(call);
    let url = match provider(call, &config).as_str() {
        OWN => config.get("openai_base_url"),
        name => config.get("model_providers").and_then(|all| all.get(name)?.get("base_url")),
    };
    if let Some(url) = url.and_then(Value::as_str) {
        before.note(Provider::OpenAi, url, proxy);
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) {
    let config = config(call);
    let name = provider(call, &config);
    let known = config.get("model_providers").and_then(|all| all.get(&name)).is_some();
    let is_word = name.chars().all(|point| point.is_ascii_alphanumeric() || "_-".contains(point));
    let key = match name.as_str() {
        OWN => String::from("openai_base_url"),
        _ if known && is_word => format!("model_providers.{name}.base_url"),
        // Codex brings more providers along, whose addresses are not known here.
        _ => {
            let note = format!("Codex uses its provider {name:?}, which is not pointed here");
            launch.notes.push(note);
            return;
        }
    };
    let address = Value::String(proxy_url.address(Provider::OpenAi));
    launch.arguments.extend(["-c".into(), format!("{key}={address}").into()]);
}

/// The provider that is meant: by an argument, by the chosen profile, or by the file.
fn provider(call: &AgentCall<'_>, config: &Table) -> String {
    let said = call.values(Some('c'), "config");
    // The last one wins.
    let said =
        said.iter().rev().find_map(|said| said.split_once('=').filter(|(key, _)| *key == "model_provider"));
    if let Some((_, name)) = said {
        return name.trim_matches(['"', '\'']).to_owned();
    }
    let profile = call.values(Some('p'), "profile").pop();
    let profile = profile.or_else(|| config.get("profile")?.as_str().map(str::to_owned));
    let of_profile =
        profile.and_then(|name| config.get("profiles")?.get(name)?.get("model_provider").cloned());
    let name = of_profile.as_ref().or_else(|| config.get("model_provider")).and_then(Value::as_str);
    name.unwrap_or(OWN).to_owned()
}

/// Its configuration; none if there is none that can be read, which Codex will say better.
fn config(call: &AgentCall<'_>) -> Table {
    let files = call.agent.files(&call.homes, &call.here);
    let text = files.first().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    text.parse().unwrap_or_default()
}
