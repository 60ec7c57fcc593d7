//! The proxy's URL for an agent, and the URLs that the agent had before.

use std::net::SocketAddr;

use secateur_server::{Provider, Upstream};

/// The proxy's URL for one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxyUrl {
    /// Without an API version, as Anthropic's and Google's clients expect it.
    root: String,
    /// What OpenAI's clients expect after it.
    openai: &'static str,
}

impl ProxyUrl {
    /// The URL under which the proxy counts for this run, with a token if the proxy needs one.
    pub(crate) fn new(proxy: SocketAddr, token: Option<&str>, run: &str) -> Self {
        Self { root: format!("{}/run:{run}", root(proxy, token)), openai: "/v1" }
    }

    /// The URL for an OpenAI upstream whose address includes the version.
    pub(crate) fn without_version(self) -> Self {
        Self { openai: "", ..self }
    }

    /// The value of a provider's variable or setting.
    pub(crate) fn address(&self, provider: Provider) -> String {
        match provider {
            Provider::Anthropic | Provider::Gemini => self.root.clone(),
            Provider::OpenAi => format!("{}{}", self.root, self.openai),
        }
    }
}

/// The URL of a proxy, with a token if it needs one.
pub(crate) fn root(proxy: SocketAddr, token: Option<&str>) -> String {
    let token = token.map(|token| format!("/token:{token}")).unwrap_or_default();
    format!("http://{proxy}{token}")
}

/// The addresses that the user had configured for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OriginalUrls {
    pub(crate) anthropic: Option<String>,
    pub(crate) openai: Option<String>,
    pub(crate) gemini: Option<String>,
}

impl OriginalUrls {
    /// Records an address, unless it is the proxy's own. The first one counts.
    pub(crate) fn record(&mut self, provider: Provider, url: &str, proxy: SocketAddr) {
        let url = url.trim();
        if url.is_empty() || leads_to(url, proxy) {
            return;
        }
        let slot = match provider {
            Provider::Anthropic => &mut self.anthropic,
            Provider::OpenAi => &mut self.openai,
            Provider::Gemini => &mut self.gemini,
        };
        slot.get_or_insert_with(|| url.to_owned());
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn leads_to(url: &str, proxy: SocketAddr) -> bool {
    let Some(rest) = url.trim().strip_prefix("http://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let local = format!("localhost:{}", proxy.port());
    authority == proxy.to_string() || (proxy.ip().is_loopback() && authority == local)
}

/// Splits the address of an OpenAI API into the upstream and where its version is.
pub(crate) fn split_version(url: &str) -> Result<(Upstream, ApiVersion), secateur_server::BadUpstream> {
    let url = url.trim_end_matches('/');
    match url.strip_suffix("/v1") {
        Some(root) => Ok((root.parse()?, ApiVersion::Appended)),
        None => Ok((url.parse()?, ApiVersion::Included)),
    }
}

/// Where the version of an OpenAI API is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiVersion {
    /// Clients append `/v1` to the upstream's address.
    Appended,
    /// It is part of the address, or there is none.
    Included,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_gets_the_address_that_its_clients_expect() {
        let proxy = "127.0.0.1:7878".parse().unwrap();
        let proxy_url = ProxyUrl::new(proxy, None, "claude-1");
        assert_eq!(proxy_url.address(Provider::Anthropic), "http://127.0.0.1:7878/run:claude-1");
        assert_eq!(proxy_url.address(Provider::OpenAi), "http://127.0.0.1:7878/run:claude-1/v1");
        let proxy_url = ProxyUrl::new(proxy, Some("t"), "x").without_version();
        assert_eq!(proxy_url.address(Provider::OpenAi), "http://127.0.0.1:7878/token:t/run:x");
    }

    #[test]
    fn the_proxys_own_address_is_not_recorded() {
        let proxy = "127.0.0.1:7878".parse().unwrap();
        let mut urls = OriginalUrls::default();
        for own in
            ["http://127.0.0.1:7878", "http://localhost:7878/v1", "http://127.0.0.1:7878/run:a/v1", " "]
        {
            urls.record(Provider::OpenAi, own, proxy);
        }
        assert!(urls.is_empty());
        urls.record(Provider::OpenAi, "http://127.0.0.1:11434/v1", proxy);
        assert_eq!(urls.openai.as_deref(), Some("http://127.0.0.1:11434/v1"));
    }

    #[test]
    fn the_version_of_an_openai_api_stays_where_it_was() {
        let (upstream, version) = split_version("https://gateway/openai/v1/").unwrap();
        assert_eq!(
            (upstream.to_string().as_str(), version),
            ("https://gateway/openai", ApiVersion::Appended)
        );
        let (upstream, version) = split_version("https://host/api/paas/v4").unwrap();
        assert_eq!(
            (upstream.to_string().as_str(), version),
            ("https://host/api/paas/v4", ApiVersion::Included)
        );
    }
}
