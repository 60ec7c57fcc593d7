//! One HTTP GET with a timeout.
//!
//! No redirect is followed, no proxy from the environment is used and nothing is retried, so the result says something
//! about this one address.

use std::time::Duration;

use reqwest::{RequestBuilder, redirect};

/// How many bytes of a response are read at most.
const MAX_BODY: usize = 4 << 20;

pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    /// The `date` header.
    pub(crate) date: Option<String>,
    pub(crate) body: String,
}

/// Sends the request. Headers and the URL may hold a key, so no error repeats them.
pub(crate) async fn get(
    url: &str,
    headers: &[(&str, String)],
    timeout: Duration,
) -> reqwest::Result<HttpResponse> {
    let send = async {
        let mut response = request(url, headers, timeout)?.send().await?;
        let status = response.status().as_u16();
        let date = response.headers().get("date").and_then(|date| date.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await? {
            body.extend_from_slice(&piece);
            if body.len() >= MAX_BODY {
                break;
            }
        }
        Ok(HttpResponse { status, date, body: String::from_utf8_lossy(&body).into_owned() })
    };
    send.await.map_err(reqwest::Error::without_url)
}

/// The header that carries a token, if there is one.
pub(crate) fn authorization(token: Option<&str>) -> Vec<(&'static str, String)> {
    token.map(|token| ("authorization", format!("Bearer {token}"))).into_iter().collect()
}

fn request(url: &str, headers: &[(&str, String)], timeout: Duration) -> reqwest::Result<RequestBuilder> {
    // The process has one provider of ciphers. One that is already installed is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(timeout)
        .user_agent(concat!("secateur/", env!("CARGO_PKG_VERSION")));
    if url.starts_with("http:") {
        // Plain HTTP must not need the system's certificates, which a small container lacks.
        let no_roots = rustls::RootCertStore::empty();
        let tls = rustls::ClientConfig::builder().with_root_certificates(no_roots).with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    }
    let request = builder.build()?.get(url);
    Ok(headers.iter().fold(request, |request, (name, value)| request.header(*name, value)))
}

/// Why there was no response: the innermost cause.
pub(crate) fn failure(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return String::from("timed out");
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
