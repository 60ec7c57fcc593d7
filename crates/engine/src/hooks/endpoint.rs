//! A hook that is an HTTP endpoint: the call is the body of a POST, the response is its body.

use std::sync::Once;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use tokio::time::timeout;

use super::config::HookConfig;
use super::error::HookError;

/// An HTTP endpoint.
pub(super) struct HookEndpoint {
    pub(super) url: Url,
    /// The whole authorization header, marked as sensitive.
    pub(super) authorization: Option<HeaderValue>,
    pub(super) client: Client,
}

/// A client without redirects, which could send a conversation to a host that is not in the settings, and without a
/// proxy, since hooks are mostly on the same machine.
pub(super) fn client() -> Result<Client, reqwest::Error> {
    static PROVIDER: Once = Once::new();
    // Fails if the application has installed one already, which is then used.
    PROVIDER.call_once(|| _ = rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .user_agent(concat!("secateur/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        // Calls are minutes apart, so idle connections would mostly be dead.
        .pool_max_idle_per_host(0)
        .build()
}

impl HookEndpoint {
    /// Posts a call and returns the response.
    pub(super) async fn call(&self, config: &HookConfig, body: Vec<u8>) -> Result<Vec<u8>, HookError> {
        let limit = config.time();
        let answer = timeout(limit, self.exchange(body, config.max_bytes)).await;
        answer.map_err(|_| HookError::Time { limit })?
    }

    async fn exchange(&self, body: Vec<u8>, limit: usize) -> Result<Vec<u8>, HookError> {
        let mut request =
            self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let mut response = request.send().await.map_err(blame)?;
        let status = response.status();
        if !status.is_success() {
            return Err(HookError::Status { status: status.as_u16() });
        }
        let mut answer = Vec::new();
        if status == StatusCode::NO_CONTENT {
            return Ok(answer);
        }
        while let Some(piece) = response.chunk().await.map_err(blame)? {
            if answer.len() + piece.len() > limit {
                return Err(HookError::TooMuch { limit });
            }
            answer.extend_from_slice(&piece);
        }
        Ok(answer)
    }
}

/// Describes a failure without the URL, which may have a secret in its path.
fn blame(error: reqwest::Error) -> HookError {
    let what = if error.is_connect() {
        "no connection"
    } else if error.is_body() || error.is_decode() {
        "the response broke off"
    } else {
        "the exchange failed"
    };
    HookError::Connection { what, source: error.without_url() }
}
