//! pi has no variable for addresses. But an extension can set a provider's address, and `-e` loads one for a run.
//!
//! The proxy has one upstream for each API. So a provider of the user's own takes the place of the usual one with the same
//! API, if the user's call names it; otherwise the user is told what to do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

use anyhow::Result;
use secateur_server::Provider;
use serde_json::json;

use super::launch::{AgentCall, Launch, PROVIDERS};
use super::provider_urls::{self, ConfiguredProvider, UrlKeys};
use super::proxy_url::{OriginalUrls, ProxyUrl};

/// Commands of pi that use no model and take no extension.
const COMMANDS: [&str; 6] = ["install", "remove", "uninstall", "update", "list", "config"];

const SHAPE: UrlKeys = UrlKeys { providers: "providers", address: "/baseUrl" };

/// What Google's client expects at the end of an address, because it adds no version itself.
const GOOGLE: &str = "/v1beta";

/// Records the addresses in pi's configuration. The provider that the call names comes first.
pub(crate) fn original_urls(call: &AgentCall<'_>, urls: &mut OriginalUrls, proxy: SocketAddr) {
    let configured = configured(call);
    let own = own_provider(call, &configured);
    let usual = PROVIDERS.into_iter().filter_map(|(name, kind)| Some((kind, configured.get(name)?)));
    let all = own.map(|(_, kind, provider)| (kind, provider)).into_iter().chain(usual);
    for (kind, provider) in all {
        let url = provider.url.trim_end_matches('/');
        let url = if kind == Provider::Gemini { url.trim_end_matches(GOOGLE) } else { url };
        urls.record(kind, url, proxy);
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) -> Result<()> {
    if call.arguments.first().is_some_and(|first| COMMANDS.iter().any(|command| first == command)) {
        return Ok(());
    }
    let configured = configured(call);
    let own = own_provider(call, &configured).map(|(name, kind, _)| (name, kind));
    // The upstream of its API is that of the user's own provider, which must not get another provider's key.
    let usual = PROVIDERS.into_iter().filter(|(_, kind)| own.is_none_or(|(_, taken)| taken != *kind));
    let mut text = String::from("export default function (pi) {\n");
    for (name, provider) in usual.chain(own) {
        let version = if provider == Provider::Gemini { GOOGLE } else { "" };
        let address = json!(format!("{}{version}", proxy_url.address(provider)));
        writeln!(text, "  pi.registerProvider({}, {{ baseUrl: {address} }});", json!(name))?;
    }
    text.push_str("}\n");
    let file = launch.write("secateur.mjs", &text)?;
    launch.arguments.extend(["-e".into(), file.into_os_string()]);
    let is_routed = |name: &str| {
        own.is_some_and(|(own, _)| own == name) || PROVIDERS.iter().any(|(known, _)| *known == name)
    };
    for (name, provider) in configured.iter().filter(|(name, _)| !is_routed(name)) {
        launch.notes.push(how_to_route(name, provider));
    }
    Ok(())
}

/// The provider of the user's own that the call names, with its API.
fn own_provider<'c>(
    call: &AgentCall<'_>,
    configured: &'c BTreeMap<String, ConfiguredProvider>,
) -> Option<(&'c str, Provider, &'c ConfiguredProvider)> {
    let by_model = || Some(call.values(None, "model").pop()?.split_once('/')?.0.to_owned());
    let named = call.values(None, "provider").pop().or_else(by_model)?;
    let (name, provider) = configured.get_key_value(&named)?;
    let is_usual = PROVIDERS.iter().any(|(known, _)| *known == name);
    (!is_usual).then_some(())?;
    Some((name, kind(provider)?, provider))
}

/// Whose API a provider has.
fn kind(provider: &ConfiguredProvider) -> Option<Provider> {
    match provider.api.as_deref()? {
        "anthropic-messages" => Some(Provider::Anthropic),
        "openai-completions" | "openai-responses" => Some(Provider::OpenAi),
        "google-generative-ai" => Some(Provider::Gemini),
        _ => None,
    }
}

/// What the user can do so that a provider uses the proxy.
fn how_to_route(name: &str, provider: &ConfiguredProvider) -> String {
    let does_not = format!("pi's provider {name:?} has its own address and does not use the proxy");
    match kind(provider) {
        Some(_) => format!("{does_not}; name it in the call: `secateur run -- pi --provider {name}`"),
        None => format!(
            "{does_not}; set \"api\" of providers.{name} in {} to \"openai-completions\", \"anthropic-messages\" or \
             \"google-generative-ai\", and name it in the call: `secateur run -- pi --provider {name}`",
            provider.file.display()
        ),
    }
}

/// The providers with an address in the user's files.
fn configured(call: &AgentCall<'_>) -> BTreeMap<String, ConfiguredProvider> {
    provider_urls::providers(&call.agent.files(&call.homes, &call.here), &SHAPE)
}
