//! Which requests are let in, and what stands before the provider's own path.
//!
//! With tokens every request must have one of them, and is its tenant's. Without any the proxy listens on this machine only, and a request must name
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
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

use secateur_store::LOCAL_TENANT;

use crate::outcome::Denial;
use crate::settings::Settings;
use crate::settings::token::TenantToken;

const X_TOKEN: HeaderName = HeaderName::from_static("x-secateur-token");

/// What browsers say about a request, and pages cannot change.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The longest name of a run.
const LONGEST_RUN: usize = 64;

/// The rules by which requests are let in.
pub(crate) struct Admission<'s> {
    tokens: &'s [TenantToken],
    /// Further host names of this machine.
    hosts: &'s [String],
}

/// A request that is let in.
#[derive(Debug)]
pub(crate) struct Admitted<'s> {
    /// Who sent it.
    pub caller: Caller<'s>,
    /// The name of the run that it belongs to.
    pub run: Option<String>,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller<'s> {
    /// The tenant whose sessions it sees and adds to.
    pub tenant: &'s str,
    pub rights: CallerRights,
}

/// What a caller may see besides the sessions of its tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallerRights {
    /// The only user of a proxy without tokens: the metrics.
    OnlyUser,
    /// Nothing.
    Tenant,
    /// The metrics and the sessions of all tenants.
    Operator,
}

impl Caller<'_> {
    /// Refuses the metrics to a tenant: they count what all tenants do.
    pub(crate) fn check_metrics(self) -> Result<(), AdmissionError> {
        if self.rights == CallerRights::Tenant { Err(AdmissionError::NoOperator) } else { Ok(()) }
    }
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
    #[error("the metrics count what all tenants do, and this token is not an operator's")]
    NoOperator,
    #[error(
        "the Host header does not name this machine; use localhost or an IP address, or add the name to serve.hosts"
    )]
    ForeignHost,
    #[error(
        "the request comes from a web page of another origin; send it without the headers Origin and Sec-Fetch-Site"
    )]
    ForeignOrigin,
}

impl AdmissionError {
    /// The same for metrics.
    pub(crate) fn denial(self) -> Denial {
        match self {
            Self::NoToken => Denial::NoToken,
            Self::WrongToken => Denial::WrongToken,
            Self::NoOperator => Denial::NoOperator,
            Self::ForeignHost => Denial::Host,
            Self::ForeignOrigin => Denial::Origin,
        }
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::NoToken | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::NoOperator | Self::ForeignHost | Self::ForeignOrigin => StatusCode::FORBIDDEN,
        }
    }
}

impl<'s> Admission<'s> {
    pub(crate) fn of(settings: &'s Settings) -> Self {
        Self { tokens: &settings.tokens, hosts: &settings.hosts }
    }

    /// Checks a request. Removes the token and whatever else is meant for the proxy from it.
    pub(crate) fn admit(&self, parts: &mut Parts) -> Result<Admitted<'s>, AdmissionError> {
        let PathPrefix { tokens, run, uri } = PathPrefix::split(&parts.uri);
        if let Some(uri) = uri {
            parts.uri = uri;
        }
        let caller = match self.tokens {
            [] if !self.names_this_machine(parts) => return Err(AdmissionError::ForeignHost),
            [] => Caller { tenant: LOCAL_TENANT, rights: CallerRights::OnlyUser },
            known => take_token(known, &tokens, &mut parts.headers)?,
        };
        parts.headers.remove(X_TOKEN);
        Ok(Admitted { caller, run })
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

/// Refuses requests for the proxy's own paths from web pages of other origins. A page can send some without an Origin,
/// as for an image or a script; browsers say then where they come from. Following a link shows the answer to the user
/// only.
pub(crate) fn check_origin(parts: &Parts) -> Result<(), AdmissionError> {
    let text = |name| parts.headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let is_link = text(SEC_FETCH_MODE) == Some("navigate")
        && text(SEC_FETCH_DEST) == Some("document")
        && parts.method == Method::GET;
    if text(SEC_FETCH_SITE).is_some_and(|site| !matches!(site, "same-origin" | "none")) && !is_link {
        return Err(AdmissionError::ForeignOrigin);
    }
    let Some(origin) = text(ORIGIN) else { return Ok(()) };
    let host = parts.uri.authority().map(Authority::as_str).or_else(|| text(HOST)).unwrap_or_default();
    let is_ours = origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host));
    if is_ours { Ok(()) } else { Err(AdmissionError::ForeignOrigin) }
}

/// Looks for a token in all its places, and removes it from the headers. Tokens of two tenants in one request are refused.
fn take_token<'s>(
    known: &'s [TenantToken],
    in_path: &[String],
    headers: &mut HeaderMap,
) -> Result<Caller<'s>, AdmissionError> {
    let mut shown = !in_path.is_empty();
    let mut found: Vec<&TenantToken> = in_path.iter().filter_map(|word| find(known, word)).collect();
    for value in headers.get_all(X_TOKEN) {
        shown = true;
        found.extend(value.to_str().ok().and_then(|word| find(known, word)));
    }
    for name in [PROXY_AUTHORIZATION, AUTHORIZATION] {
        let word = |value: &HeaderValue| value.to_str().ok().and_then(bearer).map(str::to_owned);
        let token = |value: &HeaderValue| word(value).and_then(|word| find(known, &word));
        let is_token = |value: &HeaderValue| token(value).is_some();
        // In Authorization, a wrong token may be a key for the provider.
        shown |=
            name == PROXY_AUTHORIZATION && headers.get_all(&name).iter().any(|value| word(value).is_some());
        if !headers.get_all(&name).iter().any(is_token) {
            continue;
        }
        found.extend(headers.get_all(&name).iter().filter_map(token));
        let others: Vec<HeaderValue> =
            headers.get_all(&name).iter().filter(|value| !is_token(value)).cloned().collect();
        headers.remove(&name);
        for value in others {
            headers.append(&name, value);
        }
    }
    match found.split_first() {
        Some((first, others)) if others.iter().all(|other| other.tenant == first.tenant) => {
            let is_operator = found.iter().any(|token| token.is_operator);
            let rights = if is_operator { CallerRights::Operator } else { CallerRights::Tenant };
            Ok(Caller { tenant: &first.tenant, rights })
        }
        None if !shown => Err(AdmissionError::NoToken),
        _ => Err(AdmissionError::WrongToken),
    }
}

/// The token with this text. Looks at all of them, so that the time does not tell which it is.
fn find<'s>(known: &'s [TenantToken], word: &str) -> Option<&'s TenantToken> {
    known.iter().fold(None, |found, token| if token.token.is(word) { Some(token) } else { found })
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
