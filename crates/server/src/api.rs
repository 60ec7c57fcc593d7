//! What people and programs may ask the proxy about the sessions that it keeps: everything under `/api`.
//!
//! ```text
//!   request ─▶ owns ─┬─ no ──▶ the proxy
//!                    └─ yes ─▶ admit ─▶ router ─▶ engine, store ─▶ JSON, or a problem
//! ```
//!
//! A path under `/api` is ours and never passed on, also one that nobody knows. A question changes nothing: sessions are
//! [viewed](Engine::view), not opened. The document of all this (`/api/openapi.json`) is made from the handlers
//! themselves, so it says what they do.

mod ask;
pub(crate) mod configuration;
mod document;
mod events;
mod operations;
mod outline;
mod page;
mod plan;
mod problem;
mod recall;
mod sessions;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, HOST, HeaderValue, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use http::uri::Authority;
use http::{HeaderMap, Request, Uri};
use hyper::body::Incoming;
use secateur_engine::Engine;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;
use tower_service::Service;

use crate::answer::Answer;
use crate::settings::Settings;
use configuration::Configured;
use problem::Problem;

/// The longest that an answer may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything under `/api`.
pub(crate) struct Api {
    engine: Engine,
    router: Router,
    /// Whether only programs on this machine can get here.
    is_local: bool,
    closing: watch::Sender<bool>,
}

/// What every handler can use.
#[derive(Clone)]
struct Desk {
    engine: Engine,
    configuration: Arc<Vec<Configured>>,
    /// The document about all paths, once they are known.
    document: Arc<OnceLock<Bytes>>,
    closing: watch::Receiver<bool>,
}

impl Api {
    /// An API on the sessions of an engine.
    pub(crate) fn new(engine: Engine, settings: &Settings) -> Self {
        let (closing, _) = watch::channel(false);
        let is_local = settings.listen.ip().is_loopback();
        let mut api = Self { engine, router: Router::new(), is_local, closing };
        api.configure(configuration::of(settings));
        api
    }

    /// Shows these values as the configuration.
    pub(crate) fn configure(&mut self, configuration: Vec<Configured>) {
        self.router = document::router(Desk {
            engine: self.engine.clone(),
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
        let path = request.uri().path().to_owned();
        let mut response = match self.admit(request.uri(), request.headers()) {
            Err(problem) => problem.into_response(),
            Ok(()) => {
                let mut router = self.router.clone();
                let work = AssertUnwindSafe(router.call(request)).catch_unwind();
                match timeout(PATIENCE, work).await {
                    Ok(Ok(answered)) => answered.unwrap_or_else(|never: Infallible| match never {}),
                    Ok(Err(_)) => Problem::broken().into_response(),
                    Err(_) => Problem::late().into_response(),
                }
            }
        };
        tracing::debug!(path, status = response.status().as_u16(), "asked about sessions");
        // What was said in a session is nobody else's business.
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response.map(Answer::Own)
    }

    /// Ends the streams of events: they would go on for ever.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Keeps pages of other sites out, which a browser on this machine may have open. One way in is a request to our
    /// address, which names its page as the origin; the other a name that is made to mean our address.
    fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
        let host = uri.authority().map(Authority::as_str).or_else(|| text(HOST)).unwrap_or_default();
        if let Some(origin) = text(ORIGIN)
            && origin.split_once("://").is_none_or(|(_, from)| !from.eq_ignore_ascii_case(host))
        {
            return Err(Problem::forbidden(
                "the page that asks is of another site; ask without a header Origin",
            ));
        }
        let name = host.parse().map_or(host.to_owned(), |host: Authority| host.host().to_owned());
        let is_number = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
        if self.is_local && !is_number && !name.is_empty() && !name.eq_ignore_ascii_case("localhost") {
            return Err(Problem::forbidden(
                "the proxy listens on this machine alone; name it localhost or by its number in the header Host",
            ));
        }
        Ok(())
    }
}

/// The one word that a value is written as, where it is one; its tag, where it has more to say.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(object)) => object.into_iter().next().map(|(tag, _)| tag).unwrap_or_default(),
        _ => String::new(),
    }
}
