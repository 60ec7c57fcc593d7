//! One question over HTTP that is answered soon or not at all.
//!
//! No redirect is followed, no proxy of the environment's is asked and nothing is tried again: what comes back says
//! something about the one address that was named.

use std::time::Duration;

use reqwest::redirect;

/// The most of an answer that is read.
const MOST: usize = 4 << 20;

/// An answer.
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    /// The time at which the other side sent it, as it spelled it.
    pub(crate) date: Option<String>,
    pub(crate) body: String,
}

/// Asks for what lies at an address. Headers may hold a key, so no error repeats them, nor the address.
pub(crate) async fn get(
    url: &str,
    headers: &[(&str, String)],
    within: Duration,
) -> Result<HttpResponse, reqwest::Error> {
    read(url, headers, within).await.map_err(reqwest::Error::without_url)
}

async fn read(
    url: &str,
    headers: &[(&str, String)],
    within: Duration,
) -> Result<HttpResponse, reqwest::Error> {
    // There is one provider of ciphers for the process. If somebody else was first, theirs is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(within)
        .user_agent(concat!("secateur/", env!("CARGO_PKG_VERSION")));
    if url.starts_with("http:") {
        // What is on the same machine must not need the system's certificates, which a small container lacks.
        let nobody = rustls::RootCertStore::empty();
        let tls = rustls::ClientConfig::builder().with_root_certificates(nobody).with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    }
    let mut request = builder.build()?.get(url);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let mut response = request.send().await?;
    let status = response.status().as_u16();
    let date = response.headers().get("date").and_then(|date| date.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() >= MOST {
            break;
        }
    }
    Ok(HttpResponse { status, date, body: String::from_utf8_lossy(&body).into_owned() })
}

/// Why there was no answer, in the words of whoever was nearest to the cause.
pub(crate) fn failure(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return String::from("it did not answer in time");
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
