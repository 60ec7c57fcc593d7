//! The proxy: where HTTP and conversations meet.
//!
//! ```text
//!   request ─▶ admission ─┬─ /healthz, /readyz, /metrics ─▶ health
//!                         ├─ /api ────────────────────────▶ api
//!                         └─ anything else ───────────────▶ exchange ─▶ provider
//! ```

mod content_encoding;
mod early_refusal;
mod exchange;
mod guard;
mod response_observer;
mod usage_reader;

use std::sync::Arc;

use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::{Body, Incoming};
use secateur_engine::provider::Connector;
use secateur_store::Store;
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::http::accept::Handler;
use crate::http::admission::{Admission, AdmissionError, Admitted, check_origin};
use crate::http::health::{HealthEndpoint, StoreReadiness};
use crate::http::request_body::BodyFault;
use crate::http::response_body::ProxyResponseBody;
use crate::http::socket::{ClientGone, Peer};
use crate::http::upstream::UpstreamClient;
use crate::http::{hop_headers, refusal};
use crate::metrics::Metrics;
use crate::outcome::Denial;
use crate::quota::Quotas;
use crate::route::{Provider, Route};
use crate::settings::Settings;
use crate::tenants::Tenants;

/// What every request needs.
pub(crate) struct Proxy {
    pub settings: Arc<Settings>,
    pub client: UpstreamClient,
    pub tenants: Arc<Tenants>,
    pub api: Api,
    /// Connections for summaries.
    pub connector: Connector,
    pub store: Arc<dyn Store>,
    pub readiness: StoreReadiness,
    pub metrics: Arc<Metrics>,
    /// What each client may take up.
    pub quotas: Quotas,
    /// Tasks that go on after their request is answered. The proxy waits for them when it stops.
    pub tasks: TaskTracker,
}

/// A response, unless the client disconnected.
type ExchangeResult = Result<Response<ProxyResponseBody>, ClientGone>;

impl Handler for Proxy {
    async fn handle(&self, request: Request<Incoming>, peer: Peer) -> ExchangeResult {
        self.metrics.request();
        let (mut parts, body) = request.into_parts();
        if let Some(refusal) = self.reject(&parts, &body, &peer) {
            return Ok(refusal);
        }
        let admitted = Admission::of(&self.settings).admit(&mut parts);
        let health = HealthEndpoint::of(parts.uri.path());
        let is_api = Api::owns(parts.uri.path());
        let is_own = health.is_some() || is_api;
        let admitted = admitted.and_then(|admitted| {
            if is_own {
                check_origin(&parts)?;
            }
            if health == Some(HealthEndpoint::Metrics) {
                admitted.caller.check_metrics()?;
            }
            Ok(admitted)
        });
        let Admitted { caller, run } = match admitted {
            Ok(admitted) => admitted,
            Err(error) => return Ok(self.deny(&parts, error)),
        };
        if let Some(health) = health {
            let (store, metrics) = (&*self.store, &*self.metrics);
            return Ok(health.answer(&parts.method, store, &self.readiness, metrics).await);
        }
        let request = Request::from_parts(parts, body);
        if is_api {
            return Ok(Box::pin(self.api.answer(request, caller)).await);
        }
        // Boxed, so that a connection does not carry the memory for it while a response streams.
        Box::pin(self.exchange(request, peer, self.tenants.get(caller.tenant), run)).await
    }
}

impl Proxy {
    /// Refuses a request that is wrong whatever its path is.
    fn reject(&self, parts: &Parts, body: &Incoming, peer: &Peer) -> Option<Response<ProxyResponseBody>> {
        // Counted when the connection ends, which follows.
        if peer.is_flawed() {
            let message = "ambiguous request head: another program could read it differently";
            return Some(refusal::last(refusal::refuse(Provider::OpenAi, StatusCode::BAD_REQUEST, message)));
        }
        if hop_headers::has_unknown_coding(&parts.headers) {
            self.metrics.denied(Denial::Malformed);
            let message = "unknown transfer coding; the proxy knows only `chunked` (compressed bodies have a Content-Encoding)";
            return Some(refusal::last(refusal::refuse(
                Provider::OpenAi,
                StatusCode::NOT_IMPLEMENTED,
                message,
            )));
        }
        if parts.method == Method::CONNECT {
            self.metrics.denied(Denial::Connect);
            let message = "this is a proxy for model providers; set it as the provider's base URL instead";
            return Some(refusal::refuse(Provider::OpenAi, StatusCode::METHOD_NOT_ALLOWED, message));
        }
        if body.size_hint().lower() > self.settings.most_passed {
            let route = Route::of(parts.uri.path(), &parts.headers);
            return Some(self.refuse_body(route.provider, BodyFault::TooLong));
        }
        None
    }

    /// The response to a client whose body is too long, arrives too slowly, or is malformed.
    fn refuse_body(&self, provider: Provider, fault: BodyFault) -> Response<ProxyResponseBody> {
        match fault {
            BodyFault::TooLong => {
                self.metrics.denied(Denial::TooLong);
                refusal::too_long(provider, self.settings.most_passed)
            }
            BodyFault::TooSlow => {
                self.metrics.denied(Denial::Slow);
                refusal::too_slow(provider)
            }
            BodyFault::Malformed => {
                self.metrics.denied(Denial::Malformed);
                refusal::malformed(provider)
            }
        }
    }

    /// The response to a request that is not let in.
    fn deny(&self, parts: &Parts, error: AdmissionError) -> Response<ProxyResponseBody> {
        self.metrics.denied(error.denial());
        let route = Route::of(parts.uri.path(), &parts.headers);
        let mut refusal = if Api::owns(parts.uri.path()) {
            Api::deny(error)
        } else {
            refusal::refuse(route.provider, error.status(), &error.to_string())
        };
        if error.status() == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer realm=\"secateur\"");
            refusal.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        refusal
    }
}
