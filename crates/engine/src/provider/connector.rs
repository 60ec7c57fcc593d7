//! The connections to providers.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Url, redirect, retry};

use super::endpoint::ConnectError;
use super::secret::SecretFilter;

/// The longest that a connection may take to come about. After that it may be tried again, as no question was asked.
const CONNECT: Duration = Duration::from_secs(10);

/// Connections that are kept and used again. Clones share them, and so do all clients that are made
/// [through](super::Endpoint::connect_through) one: the first pays for certificates and handshakes, the others find
/// everything ready.
///
/// A connection belongs to the runtime that it was made in, so a connector should not outlive its runtime.
#[derive(Clone, Default)]
pub struct Connector {
    shared: Arc<Shared>,
}

/// Made when they are first needed: certificates take a while to read.
#[derive(Default)]
struct Shared {
    plain: OnceLock<reqwest::Client>,
    encrypted: OnceLock<reqwest::Client>,
}

impl Connector {
    /// A connector without any connections.
    pub fn new() -> Self {
        Self::default()
    }

    /// What asks this URL.
    pub(super) fn client(&self, url: &Url) -> Result<reqwest::Client, ConnectError> {
        let is_plain = url.scheme() == "http";
        let place = if is_plain { &self.shared.plain } else { &self.shared.encrypted };
        if let Some(ready) = place.get() {
            return Ok(ready.clone());
        }
        // Not kept if it fails: the certificates may be there the next time.
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

/// A client that follows nobody, asks no proxy and repeats nothing by itself.
fn make(is_plain: bool) -> Result<reqwest::Client, reqwest::Error> {
    // There is one provider of ciphers for the process. If somebody else was first, theirs is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT)
        .user_agent(concat!("secateur/", env!("CARGO_PKG_VERSION")));
    if is_plain {
        // A model on the same machine must not need the system's certificates, which a small container lacks.
        let nobody = rustls::RootCertStore::empty();
        let tls = rustls::ClientConfig::builder().with_root_certificates(nobody).with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    }
    builder.build()
}
