//! pi has no variable for addresses. But an extension can set a provider's address, and `-e` loads one for a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

use anyhow::Result;
use secateur_server::Provider;
use serde_json::json;

use super::launch::{AgentCall, Launch, PROVIDERS};
use super::provider_urls::{self, UrlKeys};
use super::proxy_url::{OriginalUrls, ProxyUrl};

/// Commands of pi that use no model and take no extension.
const COMMANDS: [&str; 6] = ["install", "remove", "uninstall", "update", "list", "config"];

const SHAPE: UrlKeys = UrlKeys { providers: "providers", address: "/baseUrl" };

/// What Google's client expects at the end of an address, because it adds no version itself.
const GOOGLE: &str = "/v1beta";

/// Records the addresses in pi's configuration.
pub(crate) fn original_urls(call: &AgentCall<'_>, urls: &mut OriginalUrls, proxy: SocketAddr) {
    let configured = configured(call);
    for (name, provider) in PROVIDERS {
        let url = configured.get(name).map(|url| url.trim_end_matches('/'));
        let url =
            url.map(|url| if provider == Provider::Gemini { url.trim_end_matches(GOOGLE) } else { url });
        if let Some(url) = url {
            urls.record(provider, url, proxy);
        }
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) -> Result<()> {
    if call.arguments.first().is_some_and(|first| COMMANDS.iter().any(|command| first == command)) {
        return Ok(());
    }
    let mut text = String::from("export default function (pi) {\n");
    for (name, provider) in PROVIDERS {
        let version = if provider == Provider::Gemini { GOOGLE } else { "" };
        let address = json!(format!("{}{version}", proxy_url.address(provider)));
        writeln!(text, "  pi.registerProvider({}, {{ baseUrl: {address} }});", json!(name))?;
    }
    text.push_str("}\n");
    let file = launch.write("secateur.mjs", &text)?;
    launch.arguments.extend(["-e".into(), file.into_os_string()]);
    for name in configured(call).keys().filter(|name| PROVIDERS.iter().all(|(known, _)| known != name)) {
        launch.notes.push(format!("pi's provider {name:?} has its own address and does not use the proxy"));
    }
    Ok(())
}

/// The providers with an address in the user's files.
fn configured(call: &AgentCall<'_>) -> BTreeMap<String, String> {
    provider_urls::addresses(&call.agent.files(&call.homes, &call.here), &SHAPE)
}
