//! What happens to a request before it is anybody's: whether it can be one, who sends it, and whether it is for us.

use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::{Body, Incoming};

use crate::api::Api;
use crate::http::admission::{Denied, check_origin};
use crate::http::health::Question;
use crate::http::refusal;
use crate::http::response_body::Answer;
use crate::http::socket::Peer;
use crate::http::upstream_body::Limit;
use crate::proxy::exchange::{Proxy, Reply};
use crate::route::{Provider, Route};

impl Proxy {
    /// Answers a request.
    pub(crate) async fn serve(&self, request: Request<Incoming>, peer: Peer) -> Reply {
        self.books.tally.request();
        let (mut parts, body) = request.into_parts();
        if let Some(refusal) = self.reject(&parts, &body, &peer) {
            return Ok(refusal);
        }
        let admitted = self.settings.gate().admit(&mut parts);
        let (question, is_api) = (Question::of(parts.uri.path()), Api::owns(parts.uri.path()));
        let is_ours = question.is_some() || is_api;
        let admitted =
            admitted.and_then(|run| if is_ours { check_origin(&parts).map(|()| run) } else { Ok(run) });
        let run = match admitted {
            Ok(run) => run,
            Err(denied) => return Ok(self.turn_away(&parts, denied)),
        };
        if let Some(question) = question {
            return Ok(question.answer(&parts.method, &*self.store, &self.books.tally).await);
        }
        let request = Request::from_parts(parts, body);
        if is_api {
            return Ok(Box::pin(self.api.answer(request)).await);
        }
        // Boxed, so that a connection does not carry the room for it while an answer streams.
        Box::pin(self.exchange(request, peer, run)).await
    }

    /// The answer to what can be no request of anybody's.
    fn reject(&self, parts: &Parts, body: &Incoming, peer: &Peer) -> Option<Response<Answer>> {
        // It is counted when the connection ends, which it does after this.
        if peer.is_flawed() {
            let message = "the head of the request can be read in two ways";
            return Some(refusal::last(refusal::refuse(Provider::OpenAi, StatusCode::BAD_REQUEST, message)));
        }
        if parts.method == Method::CONNECT {
            self.books.tally.denied("connect");
            let message = "this is a proxy for model providers; name it as the provider's base URL instead";
            return Some(refusal::refuse(Provider::OpenAi, StatusCode::METHOD_NOT_ALLOWED, message));
        }
        if body.size_hint().lower() > self.settings.most_passed {
            let route = Route::of(parts.uri.path(), &parts.headers);
            return Some(self.overstepped(route.provider, Limit::TooLong));
        }
        None
    }

    /// The answer for a client whose body is more than may be passed on, or comes too slowly.
    pub(crate) fn overstepped(&self, provider: Provider, limit: Limit) -> Response<Answer> {
        match limit {
            Limit::TooLong => {
                self.books.tally.denied("too-long");
                refusal::too_long(provider, self.settings.most_passed)
            }
            Limit::TooSlow => {
                self.books.tally.denied("slow");
                refusal::too_slow(provider)
            }
        }
    }

    /// The answer for somebody who is not let in.
    fn turn_away(&self, parts: &Parts, denied: Denied) -> Response<Answer> {
        self.books.tally.denied(denied.name());
        let route = Route::of(parts.uri.path(), &parts.headers);
        let mut refusal = if Api::owns(parts.uri.path()) {
            Api::turn_away(denied)
        } else {
            refusal::refuse(route.provider, denied.status(), &denied.to_string())
        };
        if denied.status() == StatusCode::UNAUTHORIZED {
            let wanted = HeaderValue::from_static("Bearer realm=\"secateur\"");
            refusal.headers_mut().insert(WWW_AUTHENTICATE, wanted);
        }
        refusal
    }
}
