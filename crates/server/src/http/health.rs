//! Questions that the proxy answers itself: is it alive, is it ready, what has it counted.

use std::time::Duration;

use http::header::ALLOW;
use http::{HeaderValue, Method, Response, StatusCode};
use secateur_store::Store;
use serde_json::json;
use tokio::time::timeout;

use crate::http::response_body::Answer;
use crate::metrics::Tally;

/// How long the store may take to show that it is there.
const PATIENCE: Duration = Duration::from_secs(2);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// A question for the proxy itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Is it alive, and who is it?
    Health,
    /// Can it do its work?
    Readiness,
    /// What has it counted?
    Metrics,
}

impl Question {
    /// The question that a path asks.
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path {
            "/healthz" => Some(Self::Health),
            "/readyz" => Some(Self::Readiness),
            "/metrics" => Some(Self::Metrics),
            _ => None,
        }
    }

    pub(crate) async fn answer(self, method: &Method, store: &dyn Store, tally: &Tally) -> Response<Answer> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut refusal = Answer::ours(StatusCode::METHOD_NOT_ALLOWED, JSON, "{}".to_owned());
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refusal;
        }
        let reply = match self {
            Self::Health => {
                let said = json!({ "program": "secateur", "version": env!("CARGO_PKG_VERSION") });
                Answer::ours(StatusCode::OK, JSON, said.to_string())
            }
            Self::Readiness => match timeout(PATIENCE, store.sessions(1)).await {
                Ok(Ok(_)) => Answer::ours(StatusCode::OK, JSON, json!({ "ready": true }).to_string()),
                failed => {
                    // Its words may name hosts and files, so they go to the log.
                    let why = match failed {
                        Ok(Err(error)) => error.to_string(),
                        _ => format!("no answer within {PATIENCE:?}"),
                    };
                    tracing::warn!(why, "the store is not there");
                    let said = json!({ "ready": false, "why": "the store cannot be reached; see the log" });
                    Answer::ours(StatusCode::SERVICE_UNAVAILABLE, JSON, said.to_string())
                }
            },
            Self::Metrics => Answer::ours(StatusCode::OK, METRICS, tally.text()),
        };
        if *method == Method::HEAD { reply.map(|_| Answer::Whole(None)) } else { reply }
    }
}
