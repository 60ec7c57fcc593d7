//! What the running proxy says about itself: its upstreams, and the windows that it assumes.

use std::collections::BTreeMap;
use std::time::Duration;

use secateur_server::{Provider, Upstream};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::finding::DoctorFinding;
use crate::assumed_window;
use crate::http_get;

const CHECK: &str = "window";

/// How long the proxy may take to answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Where the running proxy sends the requests of a provider.
pub(crate) struct ProxyUpstream {
    pub(crate) url: Upstream,
    /// Whether the user set it when the proxy was started.
    pub(crate) is_configured: bool,
}

/// What the running proxy says about itself. Empty if it said nothing.
#[derive(Default)]
pub(crate) struct RunningProxy {
    upstreams: BTreeMap<String, ProxyUpstream>,
    /// The assumed windows in tokens, by model.
    assumed: BTreeMap<String, u64>,
}

#[derive(Default, Deserialize)]
struct SettingList {
    settings: Vec<SettingRow>,
}

#[derive(Deserialize)]
struct SettingRow {
    key: String,
    value: Value,
    origin: String,
}

#[derive(Default, Deserialize)]
struct WindowList {
    items: Vec<WindowRow>,
}

#[derive(Deserialize)]
struct WindowRow {
    model: String,
    window: u64,
    #[serde(default)]
    is_window_assumed: bool,
}

impl RunningProxy {
    /// Asks the proxy at this URL, which may hold a token.
    pub(crate) async fn ask(root: &str) -> Self {
        let SettingList { settings } = get(root, "configuration").await;
        let upstreams = settings.into_iter().filter_map(|SettingRow { key, value, origin }| {
            let url = value.as_str().filter(|_| PROVIDER_KEYS.contains(&key.as_str()))?.parse().ok()?;
            Some((key, ProxyUpstream { url, is_configured: origin != "default" }))
        });
        let upstreams = upstreams.collect();
        let WindowList { items } = get(root, "conversations").await;
        let assumed = items.into_iter().filter(|item| item.is_window_assumed);
        Self { upstreams, assumed: assumed.map(|item| (item.model, item.window)).collect() }
    }

    /// Where it sends the requests of a provider, if it said so.
    pub(crate) fn upstream(&self, provider: Provider) -> Option<&ProxyUpstream> {
        self.upstreams.get(match provider {
            Provider::Anthropic => "serve.anthropic",
            Provider::OpenAi => "serve.openai",
            Provider::Gemini => "serve.gemini",
        })
    }

    /// A warning for each model whose window is assumed.
    pub(crate) fn check_windows(&self) -> Vec<DoctorFinding> {
        let warnings = self.assumed.iter().map(|(model, tokens)| {
            let (found, fix) = assumed_window::describe(model, *tokens);
            DoctorFinding::warning(CHECK, found, fix)
        });
        warnings.collect()
    }
}

const PROVIDER_KEYS: [&str; 3] = ["serve.anthropic", "serve.openai", "serve.gemini"];

/// A resource of the API; empty if the proxy does not have it.
async fn get<T: DeserializeOwned + Default>(root: &str, name: &str) -> T {
    let response = http_get::get(&format!("{root}/api/{name}"), &[], TIMEOUT).await;
    let body = response.ok().filter(|response| response.status == 200).map(|response| response.body);
    body.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default()
}
