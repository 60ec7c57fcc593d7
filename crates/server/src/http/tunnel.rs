//! Connections that become something else, such as a web socket. What goes through them is not looked at. The
//! client keeps its place, and its answer counts as open, until both are closed.
//!
//! Codex would hold whole conversations through one. It goes on over plain HTTP at once, where they can be read and kept
//! small, if it is told that this way is not open; so it is told that.

use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, UPGRADE, USER_AGENT};
use http::{Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use crate::http::refusal;
use crate::http::response_body::Answer;
use crate::http::socket::Peer;
use crate::proxy::exchange::Proxy;
use crate::route::Route;

/// By which Codex says who it is; programs that are built around it give themselves other names in one of them.
const NAMES: [HeaderName; 2] = [USER_AGENT, HeaderName::from_static("originator")];

/// The answer for a client that would hold a conversation in here and is known to go on without; none for all others.
pub(crate) fn decline(route: &Route, headers: &HeaderMap) -> Option<Response<Answer>> {
    route.talk?;
    let is_codex =
        |name: &HeaderName| headers.get(name).is_some_and(|name| name.as_bytes().starts_with(b"codex"));
    if !NAMES.iter().any(is_codex) {
        return None;
    }
    let message = "secateur reads conversations over plain HTTP only";
    let mut refusal = refusal::refuse(route.provider, StatusCode::UPGRADE_REQUIRED, message);
    // Such an answer has to name something that is understood.
    ask(refusal.headers_mut(), HeaderValue::from_static("HTTP/1.1"));
    Some(refusal)
}

/// Asks the provider for the same.
pub(crate) fn ask(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, protocol);
}

impl Proxy {
    /// Joins both connections, if the provider agrees.
    pub(crate) fn join(
        &self,
        mut answer: Response<Answer>,
        client: OnUpgrade,
        peer: Option<Peer>,
    ) -> Response<Answer> {
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            return answer;
        }
        // The client may speak its own language as soon as it has this answer.
        if let Some(peer) = peer {
            peer.join();
        }
        let provider = hyper::upgrade::on(&mut answer);
        let open = self.books.tally.open();
        self.later.spawn(async move {
            let (Ok(client), Ok(provider)) = tokio::join!(client, provider) else { return };
            let (mut client, mut provider) = (TokioIo::new(client), TokioIo::new(provider));
            if let Err(error) = copy_bidirectional(&mut client, &mut provider).await {
                tracing::debug!(%error, "a tunnel broke off");
            }
            drop(open);
        });
        answer
    }
}
