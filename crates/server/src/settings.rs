//! The settings of the proxy: where it listens, which providers it serves, and its limits.

pub(crate) mod token;

use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use secateur_engine::RetentionLimits;

use crate::route::Provider;
use token::TenantToken;

/// The settings of the proxy.
///
/// ```
/// use secateur_server::Settings;
///
/// let settings = Settings { openai: "http://127.0.0.1:11434/api".parse()?, ..Settings::default() };
/// assert_eq!(settings.openai.to_string(), "http://127.0.0.1:11434/api");
/// assert_eq!(settings.anthropic.to_string(), "https://api.anthropic.com");
/// # Ok::<(), secateur_server::BadUpstream>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where it listens. Port 0 lets the system choose.
    pub listen: SocketAddr,
    /// The tokens that requests must have one of, each with its tenant. Without any the proxy listens on this machine only,
    /// for its user.
    pub tokens: Vec<TenantToken>,
    /// Further names of this machine that requests without a token may have in their Host header.
    pub hosts: Vec<String>,
    /// The most connections of clients at once.
    pub most_connections: usize,
    /// Where Anthropic requests go.
    pub anthropic: Upstream,
    /// Where OpenAI requests go.
    pub openai: Upstream,
    /// Where Google requests go.
    pub gemini: Upstream,
    /// The profile for new conversations.
    pub profile: String,
    /// Whether responses have `x-secateur-…` headers about what was done.
    pub headers: bool,
    /// Whether Anthropic may be asked to clear tool results, for models that bind their thinking.
    pub provider_clearing: bool,
    /// Whether Anthropic may be asked to drop thinking that a cut made invalid.
    pub drop_block: bool,
    /// When sessions are deleted.
    pub retention: RetentionLimits,
    /// The longest body that is read, in bytes. A longer one is passed through.
    pub most_body: u64,
    /// The most bytes of bodies in memory at once, over all requests. What does not fit is passed through.
    pub most_held: u64,
    /// The most bytes of bodies of one client in memory at once. What does not fit is passed through.
    pub client_memory: u64,
    /// The most bodies of one client that are read and decided at once. Others are refused.
    pub client_bodies: usize,
    /// The most summaries that are written for one client at once. Others wait.
    pub client_summaries: usize,
    /// The longest body that is passed through, in bytes. A longer one is refused or cut off.
    pub most_passed: u64,
    /// The time limit for a connection to a provider.
    pub connect: Duration,
    /// How long either side may send nothing in the middle of an exchange.
    pub patience: Duration,
    /// How long a client may take to send a request, plus a second for every `slowest` bytes. Counts only while the proxy
    /// waits for it.
    pub head_start: Duration,
    /// The least bytes per second after that.
    pub slowest: u64,
    /// How long a client may take to send the head of its next request, idle time included.
    pub head: Duration,
    /// How long after its request a client may close its half of the connection and still wait for the response. A client
    /// that closes it later has given up, and its request is cancelled.
    pub grace: Duration,
    /// How long responses may continue after the proxy is stopped.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7878)),
            tokens: Vec::new(),
            hosts: Vec::new(),
            most_connections: 10_000,
            anthropic: Upstream::known("api.anthropic.com"),
            openai: Upstream::known("api.openai.com"),
            gemini: Upstream::known("generativelanguage.googleapis.com"),
            profile: secateur_engine::DEFAULT_PROFILE.to_owned(),
            headers: true,
            provider_clearing: true,
            drop_block: true,
            retention: RetentionLimits::default(),
            most_body: 256 << 20,
            most_held: 1 << 30,
            client_memory: 512 << 20,
            client_bodies: 256,
            client_summaries: 8,
            // Providers accept files of up to 2 GB.
            most_passed: 4 << 30,
            connect: Duration::from_secs(10),
            // A model may think for long; clients wait for ten minutes themselves.
            patience: Duration::from_secs(15 * 60),
            head_start: Duration::from_secs(60),
            slowest: 4_096,
            // Longer than clients keep idle connections, so that they close them first.
            head: Duration::from_secs(120),
            grace: Duration::from_millis(100),
            drain: Duration::from_secs(30),
        }
    }
}

impl Settings {
    /// Where requests to a provider go.
    pub fn upstream(&self, provider: Provider) -> &Upstream {
        match provider {
            Provider::Anthropic => &self.anthropic,
            Provider::OpenAi => &self.openai,
            Provider::Gemini => &self.gemini,
        }
    }
}

/// Where a provider is: `https://host:port/prefix`. The prefix is put in front of the path of each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    prefix: String,
}

/// A URL that cannot be an upstream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{url:?} is not an upstream: {reason}; expected something like \"https://api.example.com\"")]
pub struct BadUpstream {
    /// What was given. Left out where it holds a password.
    pub url: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Upstream {
    fn known(host: &'static str) -> Self {
        let authority = Authority::from_static(host);
        let host = HeaderValue::from_static(host);
        Self { scheme: Scheme::HTTPS, authority, host, prefix: String::new() }
    }

    /// Whether it is reached without encryption.
    pub(crate) fn is_plain(&self) -> bool {
        self.scheme == Scheme::HTTP
    }

    /// Its name and port.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The same as a Host header.
    pub(crate) fn host(&self) -> HeaderValue {
        self.host.clone()
    }

    /// The URI of a path there. Path and query are not changed.
    pub(crate) fn join(&self, path: Option<&PathAndQuery>) -> Result<Uri, http::Error> {
        let path = match path {
            Some(path) if self.prefix.is_empty() => path.clone(),
            Some(path) => {
                let slash = if path.as_str().starts_with('/') { "" } else { "/" };
                PathAndQuery::try_from(format!("{}{slash}{path}", self.prefix))?
            }
            None => PathAndQuery::try_from(format!("{}/", self.prefix))?,
        };
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(path).build()
    }
}

impl FromStr for Upstream {
    type Err = BadUpstream;

    fn from_str(url: &str) -> Result<Self, BadUpstream> {
        let bad = |reason: &str| BadUpstream { url: url.to_owned(), reason: reason.to_owned() };
        let uri = Uri::from_str(url.trim()).map_err(|error| bad(&error.to_string()))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
        let scheme = scheme.ok_or_else(|| bad("it starts with neither http:// nor https://"))?;
        let authority = parts.authority.ok_or_else(|| bad("it names no host"))?;
        if authority.as_str().contains('@') {
            let url = String::from("…");
            return Err(BadUpstream { url, reason: String::from("it has a user name or password") });
        }
        if authority.host().is_empty() {
            return Err(bad("it names no host"));
        }
        // The parser accepts anything as a port.
        if authority.as_str() != authority.host() && authority.port_u16().is_none() {
            return Err(bad("its port is not a number up to 65535"));
        }
        let path = parts.path_and_query;
        if path.as_ref().is_some_and(|path| path.query().is_some()) {
            return Err(bad("it has a query"));
        }
        if url.contains('#') {
            return Err(bad("it has a fragment"));
        }
        let prefix = path.as_ref().map_or("", PathAndQuery::path).trim_end_matches('/').to_owned();
        let host = HeaderValue::from_str(authority.as_str()).map_err(|error| bad(&error.to_string()))?;
        Ok(Self { scheme, authority, host, prefix })
    }
}

impl std::fmt::Display for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(upstream: &str, path: &str) -> String {
        let path = PathAndQuery::try_from(path).unwrap();
        upstream.parse::<Upstream>().unwrap().join(Some(&path)).unwrap().to_string()
    }

    #[test]
    fn a_prefix_is_put_in_front_and_nothing_else_is_touched() {
        let path = "/v1/a%2Fb/../c//d?x=%20+y&key=%C3%A9";
        assert_eq!(join("https://h", path), format!("https://h{path}"));
        assert_eq!(join("http://h:81/", path), format!("http://h:81{path}"));
        assert_eq!(join("https://h/a/b/", path), format!("https://h/a/b{path}"));
    }

    #[test]
    fn a_bad_upstream_is_refused_with_what_is_wrong() {
        let reason = |url: &str| url.parse::<Upstream>().unwrap_err().reason;
        assert!(reason("api.openai.com").contains("neither http"));
        assert!(reason("ftp://host").contains("neither http"));
        assert!(reason("/path").contains("neither http"));
        assert!(reason("https://host?x=1").contains("query"));
        assert!(reason("https://host:99999").contains("port"));
        assert!(reason("https://host:").contains("port"));
        assert!(!reason("").is_empty());
        assert!(!reason("https://").is_empty());
        let secret = "https://user:hunter2@host".parse::<Upstream>().unwrap_err();
        assert!(!secret.to_string().contains("hunter2"), "{secret}");
    }
}
