//! The address that an agent is given, and the one it had before.

use std::net::SocketAddr;

use secateur_server::{Provider, Upstream};

/// Where the agent of one run sends its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxyUrl {
    /// Without the version of an API, as Anthropic's and Google's clients want it.
    root: String,
    /// What OpenAI's clients expect behind it.
    openai: &'static str,
}

impl ProxyUrl {
    /// An address at which the proxy counts for this run. The token is what a proxy that wants one knows its clients by.
    pub(crate) fn new(proxy: SocketAddr, token: Option<&str>, run: &str) -> Self {
        Self { root: format!("{}/run:{run}", root(proxy, token)), openai: "/v1" }
    }

    /// The same for an OpenAI upstream whose version is part of its own address.
    pub(crate) fn without_version(self) -> Self {
        Self { openai: "", ..self }
    }

    /// What goes into a variable or setting for a provider.
    pub(crate) fn address(&self, provider: Provider) -> String {
        match provider {
            Provider::Anthropic | Provider::Gemini => self.root.clone(),
            Provider::OpenAi => format!("{}{}", self.root, self.openai),
        }
    }
}

/// The address of a proxy, with what it knows its clients by.
pub(crate) fn root(proxy: SocketAddr, token: Option<&str>) -> String {
    let token = token.map(|token| format!("/token:{token}")).unwrap_or_default();
    format!("http://{proxy}{token}")
}

/// Where the user had pointed an agent before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OriginalUrls {
    pub(crate) anthropic: Option<String>,
    pub(crate) openai: Option<String>,
    pub(crate) gemini: Option<String>,
}

impl OriginalUrls {
    /// Notes an address, unless it is that of the proxy itself: then there is nobody behind it.
    pub(crate) fn note(&mut self, provider: Provider, url: &str, proxy: SocketAddr) {
        let url = url.trim();
        if url.is_empty() || leads_to(url, proxy) {
            return;
        }
        let place = match provider {
            Provider::Anthropic => &mut self.anthropic,
            Provider::OpenAi => &mut self.openai,
            Provider::Gemini => &mut self.gemini,
        };
        place.get_or_insert_with(|| url.to_owned());
    }

    /// Whether there was one.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether an address is that of the proxy.
pub(crate) fn leads_to(url: &str, proxy: SocketAddr) -> bool {
    let Some(rest) = url.trim().strip_prefix("http://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let local = format!("localhost:{}", proxy.port());
    authority == proxy.to_string() || (proxy.ip().is_loopback() && authority == local)
}

/// Splits the address of an OpenAI API into the upstream and whether clients put the version behind it.
pub(crate) fn split_version(url: &str) -> Result<(Upstream, ApiVersion), secateur_server::BadUpstream> {
    let url = url.trim_end_matches('/');
    match url.strip_suffix("/v1") {
        Some(root) => Ok((root.parse()?, ApiVersion::Appended)),
        None => Ok((url.parse()?, ApiVersion::Included)),
    }
}

/// Where the version of an OpenAI API stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiVersion {
    /// Appended the upstream's address, as `/v1`.
    Appended,
    /// In it, or nowhere.
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
    fn an_address_of_the_proxy_is_nobody_behind_it() {
        let proxy = "127.0.0.1:7878".parse().unwrap();
        let mut before = OriginalUrls::default();
        for own in
            ["http://127.0.0.1:7878", "http://localhost:7878/v1", "http://127.0.0.1:7878/run:a/v1", " "]
        {
            before.note(Provider::OpenAi, own, proxy);
        }
        assert!(before.is_empty());
        before.note(Provider::OpenAi, "http://127.0.0.1:11434/v1", proxy);
        assert_eq!(before.openai.as_deref(), Some("http://127.0.0.1:11434/v1"));
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
