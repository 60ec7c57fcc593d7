//! What people and programs may ask the proxy about the sessions that it keeps: everything under `/api`.
//!
//! ```text
//!   request ─▶ owns ─┬─ no ──▶ the proxy
//!                    └─ yes ─▶ router ─▶ engine, store ─▶ JSON, or a problem
//! ```
//!
//! A path under `/api` is ours and never passed on, also one that nobody knows. A question changes nothing: sessions are
//! [viewed](Engine::view), not opened. The document of all this (`/api/openapi.json`) is made from the handlers
//! themselves, so it says what they do.

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

use crate::http::admission::Denied;
use crate::http::response_body::Answer;
use crate::proxy::response_observer::Books;
use crate::settings::Settings;
use configuration::Configured;
use problem::Problem;

/// The longest that an answer may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything under `/api`.
pub(crate) struct Api {
    engine: Engine,
    router: Router,
    books: Books,
    closing: watch::Sender<bool>,
}

/// What every handler can use.
#[derive(Clone)]
struct Desk {
    engine: Engine,
    books: Books,
    configuration: Arc<Vec<Configured>>,
    /// The document about all paths, once they are known.
    document: Arc<OnceLock<Bytes>>,
    closing: watch::Receiver<bool>,
}

impl Api {
    /// An API on the sessions of an engine.
    pub(crate) fn new(engine: Engine, settings: &Settings, books: Books) -> Self {
        let (closing, _) = watch::channel(false);
        let mut api = Self { engine, router: Router::new(), books, closing };
        api.configure(configuration::of(settings));
        api
    }

    /// Shows these values as the configuration.
    pub(crate) fn configure(&mut self, configuration: Vec<Configured>) {
        self.router = document::router(Desk {
            engine: self.engine.clone(),
            books: self.books.clone(),
            configuration: Arc::new(configuration),
            document: Arc::default(),
            closing: self.closing.subscribe(),
        });
    }

    /// Whether a path is one of ours.
    pub(crate) fn owns(path: &str) -> bool {
        path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Answers a request. Whatever goes wrong, it is answered.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Answer> {
        let mut router = self.router.clone();
        let work = AssertUnwindSafe(router.call(request)).catch_unwind();
        let response = match timeout(PATIENCE, work).await {
            Ok(Ok(answered)) => answered.unwrap_or_else(|never: Infallible| match never {}),
            Ok(Err(_)) => Problem::broken().into_response(),
            Err(_) => Problem::late().into_response(),
        };
        // What is asked for may be in the path, and is nobody else's business.
        tracing::debug!(status = response.status().as_u16(), "asked about sessions");
        private(response)
    }

    /// The answer for somebody who is not let in.
    pub(crate) fn turn_away(denied: Denied) -> Response<Answer> {
        private(Problem::from(denied).into_response())
    }

    /// Ends the streams of events: they would go on for ever.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }
}

/// What was said in a session is nobody else's business.
fn private(mut response: Response) -> Response<Answer> {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response.map(Answer::Own)
}

/// The one word that a value is written as, where it is one; its tag, where it has more to say.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(object)) => object.into_iter().next().map(|(tag, _)| tag).unwrap_or_default(),
        _ => String::new(),
    }
}
