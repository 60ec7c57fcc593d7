//! Paths that the proxy answers itself: health, readiness and metrics.

use std::time::Duration;

use http::header::ALLOW;
use http::{HeaderValue, Method, Response, StatusCode};
use secateur_store::Store;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::response_body::ProxyResponseBody;
use crate::metrics::Metrics;

/// How long the store may take to answer a readiness check.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the result of a check is used again. A check writes to the store, and anyone may ask often.
const FRESH: Duration = Duration::from_secs(1);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// A path that the proxy answers itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HealthEndpoint {
    /// Whether it runs, and its version.
    Health,
    /// Whether it can write to its store.
    Readiness,
    /// Its counters.
    Metrics,
}

/// Whether the store can be written, as the last check found.
#[derive(Default)]
pub(crate) struct StoreReadiness {
    /// When it was checked, and why the store cannot be written. One check runs at a time; others wait for it.
    last: Mutex<Option<(Instant, Option<String>)>>,
}

impl StoreReadiness {
    /// Why the store cannot be written; none if it can.
    pub(crate) async fn fault(&self, store: &dyn Store, metrics: &Metrics) -> Option<String> {
        let mut last = self.last.lock().await;
        if let Some((time, fault)) = &*last
            && time.elapsed() < FRESH
        {
            return fault.clone();
        }
        let fault = match timeout(PATIENCE, store.check_writable()).await {
            Ok(checked) => checked.err().map(|error| error.to_string()),
            Err(_) => Some(format!("the store did not answer within {PATIENCE:?}")),
        };
        if let Some(why) = &fault {
            tracing::warn!(why, "store unavailable");
        }
        metrics.set_store_ready(fault.is_none());
        *last = Some((Instant::now(), fault.clone()));
        fault
    }
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
        readiness: &StoreReadiness,
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
            Self::Readiness => match readiness.fault(store, metrics).await {
                None => ProxyResponseBody::own(StatusCode::OK, JSON, json!({ "ready": true }).to_string()),
                // Errors of a store have no content and no credentials, and those who are let in may see the settings.
                Some(why) => {
                    let said = json!({ "ready": false, "why": why });
                    ProxyResponseBody::own(StatusCode::SERVICE_UNAVAILABLE, JSON, said.to_string())
                }
            },
            Self::Metrics => {
                readiness.fault(store, metrics).await;
                ProxyResponseBody::own(StatusCode::OK, OPEN_METRICS, metrics.text())
            }
        };
        if *method == Method::HEAD { response.map(|_| ProxyResponseBody::empty()) } else { response }
    }
}
