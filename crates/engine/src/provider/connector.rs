//! Connections to providers.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Url, redirect, retry};

use super::endpoint::ConnectError;
use super::secret::SecretFilter;

/// The time limit for connecting. After that it is safe to try again, since nothing was sent.
const CONNECT: Duration = Duration::from_secs(10);

/// Reusable connections. Clones share them, and so do all clients made [through](super::Endpoint::connect_through)
/// one: only the first pays for certificates and handshakes.
///
/// A connection belongs to the runtime in which it was made, so a connector should not outlive its runtime.
#[derive(Clone, Default)]
pub struct Connector {
    // Built on first use: reading certificates takes a while.
    plain: Arc<OnceLock<reqwest::Client>>,
    encrypted: Arc<OnceLock<reqwest::Client>>,
}

impl Connector {
    /// A connector without any connections.
    pub fn new() -> Self {
        Self::default()
    }

    /// The HTTP client for a URL.
    pub(super) fn client(&self, url: &Url) -> Result<reqwest::Client, ConnectError> {
        let is_plain = url.scheme() == "http";
        let place = if is_plain { &self.plain } else { &self.encrypted };
        if let Some(ready) = place.get() {
            return Ok(ready.clone());
        }
        // Not cached on failure: the certificates may be readable the next time.
        let made = make(is_plain).map_err(|error| ConnectError::System {
            reason: SecretFilter::default().clean(&error.to_string()),
        })?;
        Ok(place.get_or_init(|| made).clone())
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

/// A client without redirects, proxies and automatic retries.
fn make(is_plain: bool) -> Result<reqwest::Client, reqwest::Error> {
    // The crypto provider is process-wide. If one is installed already, it is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT)
        .user_agent(concat!("secateur/", env!("CARGO_PKG_VERSION")));
    if is_plain {
        // A model on the same machine must not need the system's certificates, which small containers lack.
        let nobody = rustls::RootCertStore::empty();
        let tls = rustls::ClientConfig::builder().with_root_certificates(nobody).with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    }
    builder.build()
}
