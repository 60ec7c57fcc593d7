//! The client's own model, which writes summaries on the client's account.
//!
//! A summary is requested from the same upstream and model as the request that needs it, with the same credentials. They
//! are in memory while the request and the summary take, and nowhere else.

use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue};
use parking_lot::Mutex;
use secateur::{Limits, Usage};
use secateur_engine::provider::{
    Connector, Deltas, Endpoint, LanguageModel, ModelError, ModelRequest, ModelResponse, Secret,
};
use secateur_formats::Wire;

use crate::quota::ClientQuota;

/// Where a client's request goes.
#[derive(Clone)]
pub(crate) struct ClientEndpoint {
    /// The whole URL.
    pub url: String,
    pub connector: Connector,
}

impl ClientEndpoint {
    /// The model of a request with these headers.
    pub(crate) fn model(
        self,
        wire: Wire,
        name: &str,
        limits: Limits,
        headers: &HeaderMap,
        quota: Arc<ClientQuota>,
        spent: SummaryUsage,
    ) -> Arc<dyn LanguageModel> {
        let headers = client_headers(headers);
        Arc::new(ClientModel { endpoint: self, wire, name: name.to_owned(), limits, headers, quota, spent })
    }
}

/// The usage of summaries on a client's account, while they are made.
#[derive(Clone, Default)]
pub(crate) struct SummaryUsage(Arc<Mutex<Usage>>);

impl SummaryUsage {
    fn add(&self, usage: Usage) {
        let mut sum = self.0.lock();
        sum.input += usage.input;
        sum.output += usage.output;
        sum.reasoning += usage.reasoning;
        sum.cache_read += usage.cache_read;
        sum.cache_write += usage.cache_write;
    }

    /// What was used since this was last called. None if nothing was, and no summary is being made any more.
    pub(super) fn take(&self) -> Option<Usage> {
        let sum = std::mem::take(&mut *self.0.lock());
        (sum != Usage::default() || Arc::strong_count(&self.0) > 1).then_some(sum)
    }
}

/// The headers that identify the client. Those about one connection or one request are left out.
fn client_headers(headers: &HeaderMap) -> HeaderMap {
    const OTHERS: [&str; 12] = [
        "host",
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
        "user-agent",
        "accept",
        "accept-encoding",
    ];
    let is_kept = |name: &str| !OTHERS.contains(&name) && !name.starts_with("content-");
    headers
        .iter()
        .filter(|(name, _)| is_kept(name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

struct ClientModel {
    endpoint: ClientEndpoint,
    wire: Wire,
    name: String,
    limits: Limits,
    headers: HeaderMap,
    quota: Arc<ClientQuota>,
    spent: SummaryUsage,
}

#[async_trait]
impl LanguageModel for ClientModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    async fn send(
        &self,
        request: &ModelRequest<'_>,
        deltas: &mut Deltas<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let _turn = self.quota.begin_summary().await;
        let tokens = |limit: i64| u32::try_from(limit).unwrap_or(u32::MAX);
        let endpoint = Endpoint {
            context: tokens(self.limits.context),
            output: self.limits.output.map(tokens),
            ..Endpoint::new(self.wire, &self.endpoint.url, &self.name)
        };
        let text = |value: &HeaderValue| value.to_str().map(Secret::new).ok();
        let headers = self.headers.iter().filter_map(|(name, value)| Some((name.as_str(), text(value)?)));
        let headers: Vec<(&str, Secret)> = headers.collect();
        let client = endpoint.connect_through(&self.endpoint.connector, &headers);
        let client = client.map_err(|error| ModelError::Network { reason: error.to_string() })?;
        let response = client.send(request, deltas).await?;
        if let Some(usage) = response.usage {
            self.spent.add(usage);
        }
        Ok(response)
    }
}
