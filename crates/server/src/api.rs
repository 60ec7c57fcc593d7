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

use std::collections::BTreeMap;
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
use secateur_store::LOCAL_TENANT;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;
use tower_service::Service;

use crate::http::admission::{AdmissionError, Caller, CallerRights};
use crate::http::response_body::{ProxyResponseBody, RESOURCE_POLICY, SAME_ORIGIN};
use crate::metrics::Recorders;
use crate::settings::Settings;
use crate::tenants::Tenants;
use configuration::Configured;
use problem::ApiProblem;

/// How long a response may take to begin.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Everything under `/api`. Each tenant has its own router, whose handlers know its sessions only; operators have one for
/// all sessions.
pub(crate) struct Api {
    tenants: Arc<Tenants>,
    routers: BTreeMap<String, Router>,
    operator: Router,
    closing: watch::Sender<bool>,
}

/// What every handler can use.
#[derive(Clone)]
struct ApiState {
    engine: Engine,
    /// The figures of the tenant, or of all of them.
    recorders: Vec<Recorders>,
    configuration: Arc<Vec<Configured>>,
    /// The OpenAPI document, once all paths are known.
    document: Arc<OnceLock<Bytes>>,
    closing: watch::Receiver<bool>,
}

impl Api {
    /// The API for the sessions of these tenants.
    pub(crate) fn new(tenants: Arc<Tenants>, settings: &Settings) -> Self {
        let (closing, _) = watch::channel(false);
        let mut api = Self { tenants, routers: BTreeMap::new(), operator: Router::new(), closing };
        api.configure(configuration::of(settings));
        api
    }

    /// Shows these settings as the configuration; those about tokens, which name the tenants, only to operators and to the
    /// only user.
    pub(crate) fn configure(&mut self, configuration: Vec<Configured>) {
        let about_others = |setting: &Configured| setting.is_about_tokens();
        let of_tenants: Vec<_> =
            configuration.iter().filter(|setting| !about_others(setting)).cloned().collect();
        let (all, of_tenants) = (Arc::new(configuration), Arc::new(of_tenants));
        let state =
            |engine: &Engine, recorders: Vec<Recorders>, configuration: &Arc<Vec<Configured>>| ApiState {
                engine: engine.clone(),
                recorders,
                configuration: Arc::clone(configuration),
                document: Arc::default(),
                closing: self.closing.subscribe(),
            };
        let each = self.tenants.all().map(|(name, parts)| {
            let shown = if name == LOCAL_TENANT { &all } else { &of_tenants };
            let state = state(&parts.engine, vec![parts.recorders.clone()], shown);
            (name.to_owned(), document::router(state))
        });
        let routers = each.collect();
        let recorders = self.tenants.all().map(|(_, parts)| parts.recorders.clone()).collect();
        self.operator = document::router(state(self.tenants.operator(), recorders, &all));
        self.routers = routers;
    }

    /// Whether a path belongs to the API.
    pub(crate) fn owns(path: &str) -> bool {
        path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Answers a request of this caller, also if its handler panics or takes too long.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        caller: Caller<'_>,
    ) -> Response<ProxyResponseBody> {
        let router = match caller.rights {
            CallerRights::Operator => Some(&self.operator),
            CallerRights::Tenant | CallerRights::OnlyUser => self.routers.get(caller.tenant),
        };
        // There is one for every tenant that has a token.
        let Some(mut router) = router.cloned() else {
            return private(ApiProblem::broken().into_response());
        };
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
    response.headers_mut().insert(RESOURCE_POLICY, SAME_ORIGIN);
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
