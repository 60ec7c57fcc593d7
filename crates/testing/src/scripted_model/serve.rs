//! The server: one request in, one response out, whole or event by event.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use secateur_formats::Wire;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::request::ClientRequest;
use super::request_log::{Outcome, RequestLog};
use super::request_rules;
use super::response::{Event, ModelResponse};
use super::scenario::{Purpose, Reply, decide};
use super::wire::{self, Ask};

/// Serves every connection.
pub(super) async fn serve(listener: TcpListener, log: Arc<RequestLog>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let log = Arc::clone(&log);
        let service = service_fn(move |request| {
            let log = Arc::clone(&log);
            async move { Ok::<_, Infallible>(reply(&log, request).await) }
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        connections.spawn(async move {
            // A client that disconnects has read enough.
            _ = connection.await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn reply(log: &RequestLog, request: Request<Incoming>) -> Response<Frames> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return whole(StatusCode::BAD_REQUEST, &json!({ "error": { "message": "the body broke off" } }));
    };
    if head.method == Method::GET && path == "/stats" {
        return whole(StatusCode::OK, &log.stats());
    }
    log.record(&format!("{} {}\n{:?}", head.method, head.uri, head.headers), &body);
    let wire_and_ask = (head.method == Method::POST).then(|| wire::of_path(&path)).flatten();
    if let Some((wire, ask)) = wire_and_ask
        && let Some(request) = ClientRequest::read(wire, &path, &body)
    {
        let betas: Vec<_> = head.headers.get_all("anthropic-beta").iter().collect();
        let betas = betas.iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",");
        let (request, judged) = request.judged(&betas, log.settings.binding.filter(|_| ask != Ask::Count));
        return converse(log, &path, &request, ask, judged);
    }
    log.enter_other(head.method.as_str(), &path);
    if head.method == Method::GET && path.ends_with("/models") {
        let model = json!({ "id": "fake-model", "object": "model", "created": 1, "owned_by": "script" });
        return whole(StatusCode::OK, &json!({ "object": "list", "data": [model], "has_more": false }));
    }
    if head.method == Method::HEAD {
        return Response::new(Frames::default());
    }
    whole(StatusCode::NOT_FOUND, &json!({ "error": { "message": "not found", "type": "not_found_error" } }))
}

fn converse(
    log: &RequestLog,
    path: &str,
    request: &ClientRequest,
    ask: Ask,
    judged: Result<(), String>,
) -> Response<Frames> {
    let wire = request.wire;
    if ask == Ask::Count {
        log.enter_other("POST", path);
        let name = if wire == Wire::Gemini { "totalTokens" } else { "input_tokens" };
        return whole(StatusCode::OK, &json!({ name: request.tokens() }));
    }
    if let Some(window) = log.settings.window.filter(|&window| request.tokens() > window) {
        log.enter(path, request, Purpose::Turn, Outcome::TooLong);
        return whole(StatusCode::BAD_REQUEST, &wire::overflow(wire, request.tokens(), window));
    }
    if let Err(why) = judged {
        let refusal = wire::refusal(wire, &why);
        log.enter(path, request, Purpose::Turn, Outcome::Unbound(why));
        return whole(StatusCode::BAD_REQUEST, &refusal);
    }
    if let Err(why) = request_rules::check(request) {
        let refusal = wire::refusal(wire, &why);
        log.enter(path, request, Purpose::Turn, Outcome::Malformed(why));
        return whole(StatusCode::BAD_REQUEST, &refusal);
    }
    let reply: Reply = decide(request);
    let reuse = log.enter(path, request, reply.purpose, Outcome::Answered);
    let response = ModelResponse::new(request, reply, reuse);
    if request.streams { streamed(response.events()) } else { whole(StatusCode::OK, &response.whole()) }
}

/// A body of pieces that are sent one by one.
#[derive(Debug, Default)]
pub(super) struct Frames(VecDeque<Bytes>);

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    /// The length of what comes in one piece is told beforehand.
    fn size_hint(&self) -> SizeHint {
        let is_whole = self.0.len() <= 1;
        let length = self.0.iter().map(|piece| piece.len() as u64).sum();
        if is_whole { SizeHint::with_exact(length) } else { SizeHint::default() }
    }
}

fn whole(status: StatusCode, value: &Value) -> Response<Frames> {
    respond(status, "application/json", VecDeque::from([Bytes::from(value.to_string())]))
}

fn streamed(events: Vec<Event>) -> Response<Frames> {
    let pieces = events.into_iter().map(|event| Bytes::from(event.to_string()));
    respond(StatusCode::OK, "text/event-stream", pieces.collect())
}

fn respond(status: StatusCode, kind: &'static str, pieces: VecDeque<Bytes>) -> Response<Frames> {
    let mut response = Response::new(Frames(pieces));
    *response.status_mut() = status;
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}
