//! The headers that authenticate a request.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secateur_formats::KeyHeader;

use super::endpoint::{ConnectError, Endpoint};
use super::secret::Secret;

/// Headers that belong to one request and its connection. They would be wrong in another request: a wrong length
/// breaks it, and a response in an encoding that only the client accepts cannot be read.
const NOT_OURS: [&str; 17] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What authenticates a request.
#[derive(Clone, Copy)]
pub(super) enum Credentials<'c> {
    /// A key, or nothing.
    Key(Option<&'c Secret>),
    /// The headers of a client's request.
    Headers(&'c [(&'c str, Secret)]),
}

impl<'c> Credentials<'c> {
    /// The values that must not be shown.
    pub(super) fn secrets(self) -> impl Iterator<Item = &'c str> {
        let (key, headers) = match self {
            Self::Key(key) => (key, Default::default()),
            Self::Headers(headers) => (None, headers),
        };
        key.into_iter().chain(headers.iter().map(|(_, value)| value)).map(Secret::reveal)
    }

    /// The headers of a request.
    pub(super) fn headers(self, endpoint: &Endpoint) -> Result<HeaderMap, ConnectError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        for (name, value) in endpoint.wire.spec().headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        for (name, value) in &endpoint.headers {
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
        }
        match self {
            Self::Key(None) => {}
            Self::Key(Some(key)) => {
                let (name, value) = key_header(endpoint, key)?;
                headers.insert(name, value);
            }
            Self::Headers(given) => headers.extend(pass_on(given)?),
        }
        Ok(headers)
    }
}

/// Keeps the client's headers that fit another request. A header that occurs twice is sent twice.
fn pass_on(given: &[(&str, Secret)]) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let (name, value) = header(name, value.reveal())?;
        if !NOT_OURS.contains(&name.as_str()) {
            headers.append(name, value);
        }
    }
    Ok(headers)
}

fn key_header(endpoint: &Endpoint, key: &Secret) -> Result<(HeaderName, HeaderValue), ConnectError> {
    let (name, value) = match &endpoint.key_header {
        Some(name) => (parse_name(name)?, key.reveal().to_owned()),
        None => {
            let KeyHeader { name, prefix } = endpoint.wire.spec().key_header;
            (HeaderName::from_static(name), format!("{prefix}{}", key.reveal()))
        }
    };
    Ok((name, secret_value(&value).ok_or(ConnectError::BadKey)?))
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ConnectError> {
    let value = secret_value(value).ok_or_else(|| ConnectError::Header { name: name.to_owned() })?;
    Ok((parse_name(name)?, value))
}

fn parse_name(name: &str) -> Result<HeaderName, ConnectError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| ConnectError::Header { name: name.to_owned() })
}

/// A header value that is not shown in logs.
fn secret_value(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
