//! Paths that the proxy answers itself: health, readiness and metrics.

use std::time::Duration;

use http::header::ALLOW;
use http::{HeaderValue, Method, Response, StatusCode};
use secateur_store::Store;
use serde_json::json;
use tokio::time::timeout;

use super::response_body::ProxyResponseBody;
use crate::metrics::Metrics;

/// How long the store may take to answer a readiness check.
const PATIENCE: Duration = Duration::from_secs(2);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// A path that the proxy answers itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HealthEndpoint {
    /// Whether it runs, and its version.
    Health,
    /// Whether it can reach its store.
    Readiness,
    /// Its counters.
    Metrics,
}

impl HealthEndpoint {
    /// The endpoint at a path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path {
            "/healthz" => Some(Self::Health),
            "/readyz" => Some(Self::Readiness),
            "/metrics" => Some(Self::Metrics),
            _ => None,
        }
    }

    pub(crate) async fn answer(
        self,
        method: &Method,
        store: &dyn Store,
        metrics: &Metrics,
    ) -> Response<ProxyResponseBody> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut refusal = ProxyResponseBody::own(StatusCode::METHOD_NOT_ALLOWED, JSON, "{}".to_owned());
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refusal;
        }
        let response = match self {
            Self::Health => {
                let said = json!({ "program": "secateur", "version": env!("CARGO_PKG_VERSION") });
                ProxyResponseBody::own(StatusCode::OK, JSON, said.to_string())
            }
            Self::Readiness => match timeout(PATIENCE, store.sessions(1)).await {
                Ok(Ok(_)) => {
                    ProxyResponseBody::own(StatusCode::OK, JSON, json!({ "ready": true }).to_string())
                }
                failed => {
                    // The error may name hosts and files, so only the log has it.
                    let why = match failed {
                        Ok(Err(error)) => error.to_string(),
                        _ => format!("no answer within {PATIENCE:?}"),
                    };
                    tracing::warn!(why, "store unavailable");
                    let said = json!({ "ready": false, "why": "the store cannot be reached; see the log" });
                    ProxyResponseBody::own(StatusCode::SERVICE_UNAVAILABLE, JSON, said.to_string())
                }
            },
            Self::Metrics => ProxyResponseBody::own(StatusCode::OK, OPEN_METRICS, metrics.text()),
        };
        if *method == Method::HEAD { response.map(|_| ProxyResponseBody::empty()) } else { response }
    }
}
