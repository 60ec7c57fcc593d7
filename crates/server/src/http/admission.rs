//! Which requests are let in, and what stands before the provider's own path.
//!
//! With a token every request must have it. Without one the proxy listens on this machine only, and a request must name
//! this machine as its host: a web page can make its own host name point here, and its requests then carry that name.
//!
//! The token may be in four places, as agents differ in what they can send: `Authorization: Bearer …`,
//! `Proxy-Authorization: Bearer …`, `X-Secateur-Token: …`, or `/token:…` in front of the path. None of them is passed
//! on.

use std::net::IpAddr;
use std::str::FromStr;

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use crate::outcome::Denial;
use crate::settings::Settings;
use crate::settings::token::AccessToken;

const X_TOKEN: HeaderName = HeaderName::from_static("x-secateur-token");

/// The longest name of a run.
const LONGEST_RUN: usize = 64;

/// The rules by which requests are let in.
pub(crate) struct Admission<'s> {
    token: Option<&'s AccessToken>,
    /// Further host names of this machine.
    hosts: &'s [String],
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AdmissionError {
    #[error(
        "this proxy requires its token: as `X-Secateur-Token: …`, as a bearer token, or as /token:… in front of the path"
    )]
    NoToken,
    #[error("wrong token for this proxy")]
    WrongToken,
    #[error(
        "the Host header does not name this machine; use localhost or an IP address, or add the name to serve.hosts"
    )]
    ForeignHost,
    #[error("the request comes from a web page of another origin; send it without an Origin header")]
    ForeignOrigin,
}

impl AdmissionError {
    /// The same for metrics.
    pub(crate) fn denial(self) -> Denial {
        match self {
            Self::NoToken => Denial::NoToken,
            Self::WrongToken => Denial::WrongToken,
            Self::ForeignHost => Denial::Host,
            Self::ForeignOrigin => Denial::Origin,
        }
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::NoToken | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::ForeignHost | Self::ForeignOrigin => StatusCode::FORBIDDEN,
        }
    }
}

impl<'s> Admission<'s> {
    pub(crate) fn of(settings: &'s Settings) -> Self {
        Self { token: settings.token.as_ref(), hosts: &settings.hosts }
    }

    /// Checks a request. Removes the token and whatever else is meant for the proxy from it, and returns the name of the
    /// run that it belongs to.
    pub(crate) fn admit(&self, parts: &mut Parts) -> Result<Option<String>, AdmissionError> {
        let PathPrefix { tokens, run, uri } = PathPrefix::split(&parts.uri);
        if let Some(uri) = uri {
            parts.uri = uri;
        }
        match self.token {
            Some(token) => take_token(token, &tokens, &mut parts.headers)?,
            None if !self.names_this_machine(parts) => return Err(AdmissionError::ForeignHost),
            None => {}
        }
        parts.headers.remove(X_TOKEN);
        Ok(run)
    }

    fn names_this_machine(&self, parts: &Parts) -> bool {
        let mut named = parts.headers.get_all(HOST).iter();
        let header = named.next();
        if named.next().is_some() {
            return false;
        }
        let is_ours = |authority: &Authority| self.is_ours(authority.host());
        let read = |value: &HeaderValue| Authority::try_from(value.as_bytes()).ok();
        // A request of a browser always has a Host header.
        let by_header = header.is_none_or(|value| read(value).as_ref().is_some_and(is_ours));
        by_header && parts.uri.authority().is_none_or(is_ours)
    }

    /// Whether a host is this machine. A web page can claim a name, but not an IP address.
    fn is_ours(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = bare.trim_end_matches('.').to_ascii_lowercase();
        IpAddr::from_str(bare).is_ok()
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(&name))
    }
}

/// Refuses requests for the proxy's own paths from web pages of other origins.
pub(crate) fn check_origin(parts: &Parts) -> Result<(), AdmissionError> {
    let text = |name| parts.headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let Some(origin) = text(ORIGIN) else { return Ok(()) };
    let host = parts.uri.authority().map(Authority::as_str).or_else(|| text(HOST)).unwrap_or_default();
    let is_ours = origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host));
    if is_ours { Ok(()) } else { Err(AdmissionError::ForeignOrigin) }
}

/// Looks for the token in all its places, and removes it from the headers.
fn take_token(
    token: &AccessToken,
    in_path: &[String],
    headers: &mut HeaderMap,
) -> Result<(), AdmissionError> {
    let mut shown = !in_path.is_empty();
    let mut is_right = in_path.iter().any(|word| token.is(word));
    for value in headers.get_all(X_TOKEN) {
        shown = true;
        is_right |= value.to_str().is_ok_and(|word| token.is(word));
    }
    for name in [PROXY_AUTHORIZATION, AUTHORIZATION] {
        let word = |value: &HeaderValue| value.to_str().ok().and_then(bearer).map(str::to_owned);
        let is_token = |value: &HeaderValue| word(value).is_some_and(|word| token.is(&word));
        // In Authorization, a wrong token may be a key for the provider.
        shown |=
            name == PROXY_AUTHORIZATION && headers.get_all(&name).iter().any(|value| word(value).is_some());
        if !headers.get_all(&name).iter().any(is_token) {
            continue;
        }
        is_right = true;
        let others: Vec<HeaderValue> =
            headers.get_all(&name).iter().filter(|value| !is_token(value)).cloned().collect();
        headers.remove(&name);
        for value in others {
            headers.append(&name, value);
        }
    }
    match (is_right, shown) {
        (true, _) => Ok(()),
        (false, true) => Err(AdmissionError::WrongToken),
        (false, false) => Err(AdmissionError::NoToken),
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, word) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| word.trim())
}

/// What stands in front of the provider's path.
#[derive(Default)]
struct PathPrefix {
    tokens: Vec<String>,
    run: Option<String>,
    /// The URI without the prefix, if there is one.
    uri: Option<Uri>,
}

impl PathPrefix {
    fn split(uri: &Uri) -> Self {
        let mut prefix = Self::default();
        let whole = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let mut rest = whole;
        while let Some(inner) = rest.strip_prefix('/') {
            let end = inner.find(['/', '?']).unwrap_or(inner.len());
            let (segment, behind) = inner.split_at(end);
            if let Some(word) = segment.strip_prefix("token:") {
                prefix.tokens.push(word.to_owned());
            } else if let (Some(name), None) =
                (segment.strip_prefix("run:").filter(|name| is_name(name)), &prefix.run)
            {
                prefix.run = Some(name.to_owned());
            } else {
                break;
            }
            rest = behind;
        }
        if rest.len() < whole.len() {
            let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
            let mut parts = uri.clone().into_parts();
            parts.path_and_query = PathAndQuery::try_from(rest).ok();
            prefix.uri = Uri::from_parts(parts).ok();
        }
        prefix
    }
}

fn is_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=LONGEST_RUN).contains(&name.len()) && name.bytes().all(is_fit)
}

#[cfg(test)]
#[path = "admission/tests.rs"]
mod tests;
