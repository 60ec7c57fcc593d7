//! The API: everything under `/api`, about the sessions in the store.
//!
//! ```text
//!   request ─▶ owns ─┬─ no ──▶ the proxy
//!                    └─ yes ─▶ router ─▶ engine, store ─▶ JSON, or a problem
//! ```
//!
//! A path under `/api` is never passed on to a provider, even if it does not exist. Reading changes nothing: sessions are
//! [viewed](Engine::view), not opened. `/api/openapi.json` is generated from the handlers.

pub(crate) mod configuration;
mod document;
mod events;
mod operations;
mod outline;
mod page;
mod params;
mod plan;
mod problem;
mod recall;
mod runs;
mod search;
mod sessions;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use http::Request;
use http::header::{CACHE_CONTROL, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::body::Incoming;
use secateur_engine::Engine;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;
use tower_service::Service;

use crate::http::admission::AdmissionError;
use crate::http::response_body::ProxyResponseBody;
use crate::metrics::Recorders;
use crate::settings::Settings;
use configuration::Configured;
use problem::ApiProblem;

/// How long a response may take to begin.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Everything under `/api`.
pub(crate) struct Api {
    engine: Engine,
    router: Router,
    recorders: Recorders,
    closing: watch::Sender<bool>,
}

/// What every handler can use.
#[derive(Clone)]
struct ApiState {
    engine: Engine,
    recorders: Recorders,
    configuration: Arc<Vec<Configured>>,
    /// The OpenAPI document, once all paths are known.
    document: Arc<OnceLock<Bytes>>,
    closing: watch::Receiver<bool>,
}

impl Api {
    /// The API for the sessions of an engine.
    pub(crate) fn new(engine: Engine, settings: &Settings, recorders: Recorders) -> Self {
        let (closing, _) = watch::channel(false);
        let mut api = Self { engine, router: Router::new(), recorders, closing };
        api.configure(configuration::of(settings));
        api
    }

    /// Shows these settings as the configuration.
    pub(crate) fn configure(&mut self, configuration: Vec<Configured>) {
        self.router = document::router(ApiState {
            engine: self.engine.clone(),
            recorders: self.recorders.clone(),
            configuration: Arc::new(configuration),
            document: Arc::default(),
            closing: self.closing.subscribe(),
        });
    }

    /// Whether a path belongs to the API.
    pub(crate) fn owns(path: &str) -> bool {
        path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Answers a request, also if its handler panics or takes too long.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<ProxyResponseBody> {
        let mut router = self.router.clone();
        let work = AssertUnwindSafe(router.call(request)).catch_unwind();
        let response = match timeout(TIMEOUT, work).await {
            Ok(Ok(answered)) => answered.unwrap_or_else(|never: Infallible| match never {}),
            Ok(Err(_)) => ApiProblem::broken().into_response(),
            Err(_) => ApiProblem::late().into_response(),
        };
        // The path may contain private text, so it is not logged.
        tracing::debug!(status = response.status().as_u16(), "API request answered");
        private(response)
    }

    /// The response to a request that is not let in.
    pub(crate) fn deny(error: AdmissionError) -> Response<ProxyResponseBody> {
        private(ApiProblem::from(error).into_response())
    }

    /// Ends the streams of events, which would never end by themselves.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }
}

/// Sessions are private, so responses must not be cached.
fn private(mut response: Response) -> Response<ProxyResponseBody> {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response.map(ProxyResponseBody::api)
}

/// The word that a value is serialised as; its tag, where it has fields.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(object)) => object.into_iter().next().map(|(tag, _)| tag).unwrap_or_default(),
        _ => String::new(),
    }
}
