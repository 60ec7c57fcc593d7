//! Who is let in, and what the path says before the provider's own path begins.
//!
//! With a token every request has to show it. Without one the proxy listens on this machine only, and a request must be
//! meant for this machine: a page in a browser can make its own name point here, and its requests then carry that name.
//!
//! A request shows the token in one of four places, as agents differ in what they can be told to send:
//! `Authorization: Bearer …`, `Proxy-Authorization: Bearer …`, `X-Secateur-Token: …`, or `/token:…` in front of the path.
//! None of them is passed on, also if it shows it in several.

use std::net::IpAddr;
use std::str::FromStr;

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use crate::settings::token::Token;

const X_TOKEN: HeaderName = HeaderName::from_static("x-secateur-token");

/// The longest name of a run.
const LONGEST_RUN: usize = 64;

/// Who is let in.
pub(crate) struct Gate<'s> {
    pub token: Option<&'s Token>,
    /// Names beside those of this machine by which it may be asked.
    pub hosts: &'s [String],
}

/// Why somebody is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    #[error(
        "this proxy wants its token: as `X-Secateur-Token: …`, as a bearer token, or as /token:… in front of the path"
    )]
    NoToken,
    #[error("the token is not that of this proxy")]
    WrongToken,
    #[error(
        "the header Host does not name this machine; name it localhost or by its number, or add the name to serve.hosts"
    )]
    ForeignHost,
    #[error("the page that asks is of another site; ask without a header Origin")]
    ForeignOrigin,
}

impl Denied {
    /// One word for a counter.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NoToken => "no-token",
            Self::WrongToken => "wrong-token",
            Self::ForeignHost => "host",
            Self::ForeignOrigin => "origin",
        }
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::NoToken | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::ForeignHost | Self::ForeignOrigin => StatusCode::FORBIDDEN,
        }
    }
}

impl Gate<'_> {
    /// Lets a request in: takes off what is for the gate, and gives the name of the run that it belongs to.
    pub(crate) fn admit(&self, parts: &mut Parts) -> Result<Option<String>, Denied> {
        let Peeled { tokens, run, uri } = peel(&parts.uri);
        if let Some(uri) = uri {
            parts.uri = uri;
        }
        match self.token {
            Some(wanted) => show(wanted, &tokens, &mut parts.headers)?,
            None if !self.is_here(parts) => return Err(Denied::ForeignHost),
            None => {}
        }
        parts.headers.remove(X_TOKEN);
        Ok(run)
    }

    fn is_here(&self, parts: &Parts) -> bool {
        let mut named = parts.headers.get_all(HOST).iter();
        let header = named.next();
        if named.next().is_some() {
            return false;
        }
        let is_ours = |authority: &Authority| self.is_ours(authority.host());
        let read = |value: &HeaderValue| Authority::try_from(value.as_bytes()).ok();
        // Programs from before names were sent have no page in a browser.
        let by_header = header.is_none_or(|value| read(value).as_ref().is_some_and(is_ours));
        by_header && parts.uri.authority().is_none_or(is_ours)
    }

    /// Whether a host is this machine. No page can claim an address, only a name.
    fn is_ours(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = bare.trim_end_matches('.').to_ascii_lowercase();
        IpAddr::from_str(bare).is_ok()
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(&name))
    }
}

/// Refuses pages of other sites that ask for what is ours. A browser says where such a page is from.
pub(crate) fn check_origin(parts: &Parts) -> Result<(), Denied> {
    let text = |name| parts.headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let Some(origin) = text(ORIGIN) else { return Ok(()) };
    let host = parts.uri.authority().map(Authority::as_str).or_else(|| text(HOST)).unwrap_or_default();
    let is_ours = origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host));
    if is_ours { Ok(()) } else { Err(Denied::ForeignOrigin) }
}

/// Looks for the token in all its places, and takes it off wherever it is. Those in front of the path are off already.
fn show(wanted: &Token, in_path: &[String], headers: &mut HeaderMap) -> Result<(), Denied> {
    let mut shown = !in_path.is_empty();
    let mut is_right = in_path.iter().any(|word| wanted.is(word));
    for value in headers.get_all(X_TOKEN) {
        shown = true;
        is_right |= value.to_str().is_ok_and(|word| wanted.is(word));
    }
    for name in [PROXY_AUTHORIZATION, AUTHORIZATION] {
        let word = |value: &HeaderValue| value.to_str().ok().and_then(bearer).map(str::to_owned);
        let is_token = |value: &HeaderValue| word(value).is_some_and(|word| wanted.is(&word));
        // A key of the provider's looks the same, so one that is wrong may just be that.
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
        (false, true) => Err(Denied::WrongToken),
        (false, false) => Err(Denied::NoToken),
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, word) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| word.trim())
}

/// What stood in front of the provider's path.
#[derive(Default)]
struct Peeled {
    tokens: Vec<String>,
    run: Option<String>,
    /// The rest, if there was anything.
    uri: Option<Uri>,
}

fn peel(uri: &Uri) -> Peeled {
    let mut peeled = Peeled::default();
    let whole = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let mut rest = whole;
    while let Some(inner) = rest.strip_prefix('/') {
        let end = inner.find(['/', '?']).unwrap_or(inner.len());
        let (segment, behind) = inner.split_at(end);
        if let Some(word) = segment.strip_prefix("token:") {
            peeled.tokens.push(word.to_owned());
        } else if let (Some(name), None) =
            (segment.strip_prefix("run:").filter(|name| is_name(name)), &peeled.run)
        {
            peeled.run = Some(name.to_owned());
        } else {
            break;
        }
        rest = behind;
    }
    if rest.len() < whole.len() {
        let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = PathAndQuery::try_from(rest).ok();
        peeled.uri = Uri::from_parts(parts).ok();
    }
    peeled
}

fn is_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=LONGEST_RUN).contains(&name.len()) && name.bytes().all(is_fit)
}

#[cfg(test)]
#[path = "admission/tests.rs"]
mod tests;
