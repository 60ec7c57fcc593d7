//! The server: one request in, one answer out, whole or event by event.

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
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::answer::{Answer, Event};
use super::books::{Books, Fate};
use super::rules;
use super::scenario::{Purpose, Turn, decide};
use super::talk::Talk;
use super::wire::{Ask, Wire};

/// Answers whoever connects.
pub(super) async fn serve(listener: TcpListener, books: Arc<Books>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let books = Arc::clone(&books);
        let service = service_fn(move |request| {
            let books = Arc::clone(&books);
            async move { Ok::<_, Infallible>(reply(&books, request).await) }
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        connections.spawn(async move {
            // Whoever hangs up has read enough.
            _ = connection.await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn reply(books: &Books, request: Request<Incoming>) -> Response<Frames> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return whole(StatusCode::BAD_REQUEST, &json!({ "error": { "message": "the body broke off" } }));
    };
    if head.method == Method::GET && path == "/stats" {
        return whole(StatusCode::OK, &books.stats());
    }
    books.record(&format!("{} {}\n{:?}", head.method, head.uri, head.headers), &body);
    let talk = (head.method == Method::POST).then(|| Wire::of(&path)).flatten();
    if let Some((wire, ask)) = talk
        && let Some(talk) = Talk::read(wire, &path, &body)
    {
        return converse(books, &path, &talk, ask);
    }
    books.enter_other(head.method.as_str(), &path);
    if head.method == Method::GET && path.ends_with("/models") {
        let model = json!({ "id": "fake-model", "object": "model", "created": 1, "owned_by": "script" });
        return whole(StatusCode::OK, &json!({ "object": "list", "data": [model], "has_more": false }));
    }
    if head.method == Method::HEAD {
        return Response::new(Frames::default());
    }
    whole(StatusCode::NOT_FOUND, &json!({ "error": { "message": "not found", "type": "not_found_error" } }))
}

fn converse(books: &Books, path: &str, talk: &Talk, ask: Ask) -> Response<Frames> {
    let wire = talk.wire;
    if ask == Ask::Count {
        books.enter_other("POST", path);
        let name = if wire == Wire::Gemini { "totalTokens" } else { "input_tokens" };
        return whole(StatusCode::OK, &json!({ name: talk.tokens() }));
    }
    if let Some(window) = books.settings.window.filter(|&window| talk.tokens() > window) {
        books.enter(path, talk, Purpose::Turn, Fate::TooLong);
        return whole(StatusCode::BAD_REQUEST, &wire.overflow(talk.tokens(), window));
    }
    if let Err(why) = rules::check(talk) {
        let refusal = wire.refusal(&why);
        books.enter(path, talk, Purpose::Turn, Fate::Malformed(why));
        return whole(StatusCode::BAD_REQUEST, &refusal);
    }
    let turn: Turn = decide(talk);
    let reuse = books.enter(path, talk, turn.purpose, Fate::Answered);
    let answer = Answer::new(talk, turn, reuse);
    if talk.streams { streamed(answer.events()) } else { whole(StatusCode::OK, &answer.whole()) }
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
