//! Connections that become something else, such as a web socket. What goes through them is not looked at, so
//! conversations are asked to go another way.

use http::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use http::{Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use crate::answer::Answer;
use crate::refusal;
use crate::route::Provider;

/// The answer to a client that wants to talk where nobody could keep its conversation small. Clients that can do both
/// take it as a hint to go on without.
pub(crate) fn refuse(provider: Provider) -> Response<Answer> {
    let message = "conversations are read on their way, which they cannot be inside of another protocol; use HTTP requests";
    let mut refusal = refusal::refuse(provider, StatusCode::UPGRADE_REQUIRED, message);
    refusal.headers_mut().insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
    refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    refusal
}

/// Asks the provider for the same.
pub(crate) fn ask(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, protocol);
}

/// Joins both connections, if the provider agrees.
pub(crate) fn join(mut answer: Response<Answer>, client: OnUpgrade) -> Response<Answer> {
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return answer;
    }
    let provider = hyper::upgrade::on(&mut answer);
    tokio::spawn(async move {
        let (Ok(client), Ok(provider)) = tokio::join!(client, provider) else { return };
        let (mut client, mut provider) = (TokioIo::new(client), TokioIo::new(provider));
        if let Err(error) = copy_bidirectional(&mut client, &mut provider).await {
            tracing::debug!(%error, "a tunnel broke off");
        }
    });
    answer
}
