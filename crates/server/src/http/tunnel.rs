//! Upgraded connections, such as web sockets. Their content is not read. The connection counts as open, and its response
//! too, until both sides are closed.
//!
//! Codex would hold whole conversations over a web socket. If the upgrade is refused, it falls back to plain HTTP at
//! once, where conversations can be managed; so it is refused.

use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, UPGRADE, USER_AGENT};
use http::{Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio_util::task::TaskTracker;

use super::refusal;
use super::response_body::ProxyResponseBody;
use super::socket::Peer;
use crate::metrics::OpenResponse;
use crate::route::Route;

/// Headers in which Codex names itself; programs built around it change one of them.
const AGENT_HEADERS: [HeaderName; 2] = [USER_AGENT, HeaderName::from_static("originator")];

/// Refuses the upgrade for a client that would hold a conversation over it and is known to fall back to plain HTTP.
pub(crate) fn decline(route: &Route, headers: &HeaderMap) -> Option<Response<ProxyResponseBody>> {
    route.conversation?;
    let is_codex =
        |name: &HeaderName| headers.get(name).is_some_and(|name| name.as_bytes().starts_with(b"codex"));
    if !AGENT_HEADERS.iter().any(is_codex) {
        return None;
    }
    let message = "secateur reads conversations over plain HTTP only";
    let mut refusal = refusal::refuse(route.provider, StatusCode::UPGRADE_REQUIRED, message);
    // This status requires the name of a protocol that would be accepted.
    request_upgrade(refusal.headers_mut(), HeaderValue::from_static("HTTP/1.1"));
    Some(refusal)
}

/// Sets the headers that request an upgrade.
pub(crate) fn request_upgrade(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, protocol);
}

/// Connects client and provider, if the provider agreed to the upgrade.
pub(crate) fn connect(
    mut response: Response<ProxyResponseBody>,
    client: OnUpgrade,
    peer: Option<Peer>,
    open: OpenResponse,
    tasks: &TaskTracker,
) -> Response<ProxyResponseBody> {
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    // The client may speak the new protocol as soon as it has this response.
    if let Some(peer) = peer {
        peer.set_upgraded();
    }
    let provider = hyper::upgrade::on(&mut response);
    tasks.spawn(async move {
        let (Ok(client), Ok(provider)) = tokio::join!(client, provider) else { return };
        let (mut client, mut provider) = (TokioIo::new(client), TokioIo::new(provider));
        if let Err(error) = copy_bidirectional(&mut client, &mut provider).await {
            tracing::debug!(%error, "tunnel broke off");
        }
        drop(open);
    });
    response
}
