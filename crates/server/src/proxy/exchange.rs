//! One request and its answer.
//!
//! ```text
//!   request ─▶ Route ─┬─ no conversation ───────────────────────────▶ sent as it comes ─▶ answer
//!                     └─ read whole ─▶ Conversations::prepare ─▶ sent ─┬─▶ answer
//!                                             ▲                        │
//!                                             └── Talk::overflowed ◀───┘ refused as too long
//! ```

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::{Body, Incoming};
use secateur_engine::provider::Connector;
use secateur_formats::Wire;
use secateur_store::Store;
use tokio_util::task::TaskTracker;

use super::{early_overflow, outcome_headers};
use crate::api::Api;
use crate::conversation::{Asked, Conversations, Lender, Note, Ready, TooDeep};
use crate::http::memory_budget::Room;
use crate::http::request_body::{Collected, collect, unreadable};
use crate::http::response_body::{Answer, Stream, Watch};
use crate::http::socket::Peer;
use crate::http::upstream::{Client, Head, progress_of};
use crate::http::upstream_body::{Limit, Limits, Outgoing};
use crate::http::{hop_headers, refusal, tunnel};
use crate::proxy::content_encoding::Packed;
use crate::proxy::guard::{guard, unless_gone};
use crate::proxy::response_observer::{Books, Ear};
use crate::route::{Kind, Provider, Route};
use crate::settings::Settings;
use crate::usage::Reader;

/// How often a request is made shorter before the provider's refusal is passed on.
const ROUNDS: usize = 4;

/// What every exchange needs.
pub(crate) struct Proxy {
    pub settings: Settings,
    pub client: Client,
    pub conversations: Conversations,
    pub api: Api,
    /// The connections on which summaries are asked for.
    pub connector: Connector,
    pub store: Arc<dyn Store>,
    pub books: Books,
    /// Where bodies that are read whole lie.
    pub room: Arc<Room>,
    /// What goes on when its request is answered: whoever stops the proxy waits for it.
    pub later: TaskTracker,
}

/// The client is gone, and nobody waits for an answer.
#[derive(Debug, thiserror::Error)]
#[error("the client is gone")]
pub(crate) struct Gone;

pub(crate) type Reply = Result<Response<Answer>, Gone>;

/// Where a conversation goes, and how it is spelled.
struct Place {
    provider: Provider,
    wire: Wire,
    kind: Kind,
    model: Option<String>,
    /// The run of an agent that it belongs to, if the client says so.
    run: Option<String>,
}

impl Proxy {
    /// Passes a request on to its provider, and the answer back.
    pub(crate) async fn exchange(
        &self,
        mut request: Request<Incoming>,
        peer: Peer,
        run: Option<String>,
    ) -> Reply {
        // Over HTTP/2 a client that gives up says so, and the whole exchange is dropped.
        let peer = Some(peer).filter(|_| request.version() <= Version::HTTP_11);
        let route = Route::of(request.uri().path(), request.headers());
        let upstream = self.settings.upstream(route.provider);
        let tunnel = hop_headers::upgrade(request.headers()).filter(|_| peer.is_some());
        if tunnel.is_some()
            && let Some(refusal) = tunnel::decline(&route, request.headers())
        {
            return Ok(refusal);
        }
        let client = tunnel.as_ref().map(|_| hyper::upgrade::on(&mut request));
        let (mut parts, body) = request.into_parts();
        let headers = hop_headers::strip(std::mem::take(&mut parts.headers));
        let uri = parts.uri.clone();
        let Ok(mut head) = Head::new(parts, headers, upstream) else {
            self.books.tally.denied("malformed");
            let message = "the path of the request is none";
            return Ok(refusal::refuse(route.provider, StatusCode::BAD_REQUEST, message));
        };
        if let Some((protocol, client)) = tunnel.zip(client) {
            tunnel::ask(&mut head.headers, protocol);
            let answer = self.pass(head, vec![], body, peer.clone(), route.provider).await?;
            return Ok(self.join(answer, client, peer));
        }
        let (reply, note) = match route.talk.filter(|_| head.method == Method::POST) {
            None => (self.pass(head, vec![], body, peer, route.provider).await, None),
            Some((wire, kind)) => {
                let place = Place { provider: route.provider, wire, kind, model: route.model, run };
                // Boxed, so that requests without a conversation do not carry the room for one.
                let (reply, note) = Box::pin(self.converse(head, body, peer, place)).await;
                (reply, Some(note))
            }
        };
        self.close(reply, note, uri.path())
    }

    /// Says what was done, to the client, the log and the counters.
    fn close(&self, reply: Reply, note: Option<Note>, path: &str) -> Reply {
        let mut reply = reply?;
        let status = reply.status().as_u16();
        let Some(note) = note else {
            tracing::debug!(path, status, "passed on");
            return Ok(reply);
        };
        self.books.tally.talked(&note, status);
        tracing::debug!(
            path,
            status,
            did = note.did,
            cause = note.cause,
            session = note.session,
            cuts = note.cuts,
            bytes_in = note.bytes_in,
            bytes_out = note.bytes_out,
            "answered"
        );
        if self.settings.headers {
            outcome_headers::write(&note, reply.headers_mut());
        }
        Ok(reply)
    }

    /// Passes a request on as it comes.
    async fn pass(
        &self,
        head: Head,
        read: Vec<Bytes>,
        rest: Incoming,
        peer: Option<Peer>,
        provider: Provider,
    ) -> Reply {
        let limits = Limits { most: self.settings.most_passed, pace: self.settings.pace() };
        let request = head.with_rest(read, rest, limits);
        let sent = progress_of(&request);
        let grace = self.settings.grace;
        let mut watch: Option<Watch> = peer.map(|peer| match sent {
            None => peer.gone(grace).boxed(),
            Some(sent) => async move {
                sent.end().await;
                peer.gone(grace).await;
            }
            .boxed(),
        });
        match self.ask(request, &mut watch, provider).await? {
            Ok(answer) => Ok(self.stream(answer, watch).map(|stream| Answer::Stream(Box::new(stream)))),
            Err(refusal) => Ok(refusal),
        }
    }

    /// Sends a request with a conversation in it, shorter if need be.
    async fn converse(&self, head: Head, body: Incoming, peer: Option<Peer>, place: Place) -> (Reply, Note) {
        let length = body.size_hint().lower();
        if let Some(cause) = unreadable(&head.headers) {
            return (
                self.pass(head, vec![], body, peer, place.provider).await,
                outcome_headers::passed(cause, length),
            );
        }
        let mut held = self.room.enter();
        let body = match collect(body, &self.settings, &mut held).await {
            Collected::Whole(body) => body,
            Collected::Long(read, rest) => {
                let passed = outcome_headers::passed("large", length);
                return (self.pass(head, read, rest, peer, place.provider).await, passed);
            }
            Collected::Busy(read, rest) => {
                let passed = outcome_headers::passed("busy", length);
                self.books.tally.busy();
                return (self.pass(head, read, rest, peer, place.provider).await, passed);
            }
            Collected::Broken => return (Err(Gone), Note::default()),
            Collected::Silent => {
                let refusal = self.overstepped(place.provider, Limit::TooSlow);
                return (Ok(refusal), Note { did: "refused", ..Note::default() });
            }
        };
        let (packed, body) = Packed::open(&head.headers, body, self.settings.most_body.min(held.left()));
        if packed.is_open() {
            // Somebody else may have been faster. This one is there already.
            let _ = held.grow(body.len() as u64);
        }
        let mut watch: Option<Watch> = peer.map(|peer| peer.gone(self.settings.grace).boxed());
        let patience = self.settings.patience;
        let began = Instant::now();
        let preparing = self.prepare(&head, body, &place);
        let mut ready = match unless_gone(preparing, &mut watch).await {
            Some(Ok(ready)) => ready,
            Some(Err(why)) => {
                self.books.tally.denied("too-deep");
                let refusal = refusal::refuse(place.provider, StatusCode::BAD_REQUEST, &why.to_string());
                return (Ok(refusal), Note { did: "refused", ..Note::default() });
            }
            None => return (Err(Gone), Note::default()),
        };
        self.books.tally.planned(began.elapsed());
        let mut round = 0;
        loop {
            round += 1;
            let Ready { body, mut note, talk, is_tight } = ready;
            self.books.tally.happened(&mut note);
            let request = packed.wrap(head.clone(), body, &mut note);
            let answer = match self.ask(request, &mut watch, place.provider).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(refusal)) => return (Ok(refusal), note),
                Err(gone) => return (Err(gone), note),
            };
            let mut answer = self.stream(answer, watch.take());
            let mut talk = talk;
            let is_late = is_tight && place.wire == Wire::OpenAiResponses && answer.status().is_success();
            if (answer.status().as_u16() >= 400 || is_late)
                && let Some(said) = early_overflow::refused(&mut answer).await
                && let Some(waiting) = talk.take()
                && round < ROUNDS
                && let Some(next) = guard(waiting.overflowed(said), patience).await.ok().flatten()
            {
                self.books.tally.overflow();
                watch = answer.into_body().into_watch();
                ready = next;
                continue;
            }
            if let Some(talk) = &mut talk {
                talk.accepted();
            }
            if answer.status().is_success() && place.kind == Kind::Generate {
                let reader = Reader::new(place.wire, answer.headers());
                let books = self.books.clone();
                answer.body_mut().heard_by(Ear::new(reader, talk, note.clone(), place.run, books));
            }
            return (Ok(answer.map(|stream| Answer::Stream(Box::new(stream)))), note);
        }
    }

    /// What is to be sent. The original, if that cannot be found out.
    async fn prepare(&self, head: &Head, body: Bytes, place: &Place) -> Result<Ready, TooDeep> {
        let model = place.model.as_deref();
        let lender = Lender { url: head.uri.to_string(), connector: self.connector.clone() };
        let (wire, kind, headers) = (place.wire, place.kind, &head.headers);
        let asked = Asked { wire, kind, model, headers, body: &body, lender };
        match guard(self.conversations.prepare(asked), self.settings.patience).await {
            Ok(ready) => ready,
            Err(cause) => {
                let note = outcome_headers::passed(cause, body.len() as u64);
                Ok(Ready { body: vec![body], note, talk: None, is_tight: false })
            }
        }
    }

    /// Sends a request, and waits for the answer's head or until the client is gone. Where there is none, for one of
    /// our own.
    async fn ask(
        &self,
        request: Request<Outgoing>,
        watch: &mut Option<Watch>,
        provider: Provider,
    ) -> Result<Result<Response<Incoming>, Response<Answer>>, Gone> {
        let (began, sent) = (Instant::now(), request.body().progress());
        let mut answer = pin!(self.client.send(request));
        let answer = poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(Ok(answer));
            }
            match watch.as_mut().map(|watch| watch.as_mut().poll(cx)) {
                Some(Poll::Ready(())) => Poll::Ready(Err(Gone)),
                _ => Poll::Pending,
            }
        });
        let answer = answer.await?;
        self.books.tally.waited(began.elapsed());
        self.books.tally.sent(sent.bytes());
        Ok(answer.map_err(|failure| {
            if let Some(limit) = sent.over() {
                return self.overstepped(provider, limit);
            }
            self.books.tally.failure();
            let upstream = self.settings.upstream(provider);
            tracing::warn!(?provider, %failure, "a request was not answered");
            refusal::failed(provider, upstream, &failure)
        }))
    }

    fn stream(&self, answer: Response<Incoming>, watch: Option<Watch>) -> Response<Stream> {
        let (mut parts, body) = answer.into_parts();
        if parts.status != StatusCode::SWITCHING_PROTOCOLS {
            parts.headers = hop_headers::strip(parts.headers);
        }
        // The client is answered in the version that it speaks.
        parts.version = Version::HTTP_11;
        let stream = Stream::new(body, self.books.tally.open(), watch, self.settings.patience);
        Response::from_parts(parts, stream)
    }
}
