//! The model that the client itself talks to, asked on the client's account.
//!
//! A summary is made through the same door as the request that needs it: the same upstream, the same model, the same
//! credentials. They are in memory for as long as the request and the summary take, and nowhere else.

use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue};
use secateur::Limits;
use secateur_engine::provider::{
    Connector, Deltas, Endpoint, LanguageModel, ModelError, ModelRequest, ModelResponse, Secret,
};
use secateur_formats::Wire;

/// Where a request goes.
#[derive(Clone)]
pub(crate) struct Lender {
    /// The whole address.
    pub url: String,
    pub connector: Connector,
}

impl Lender {
    /// The model of a request with these headers.
    pub(crate) fn lend(
        self,
        wire: Wire,
        model: &str,
        limits: Limits,
        headers: &HeaderMap,
    ) -> Option<Arc<dyn LanguageModel>> {
        let headers = lent(headers);
        Some(Arc::new(Lent { lender: self, wire, model: model.to_owned(), limits, headers }))
    }
}

/// The headers that speak of who asks, and not of this one request.
fn lent(headers: &HeaderMap) -> HeaderMap {
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
    let is_lent = |name: &str| !OTHERS.contains(&name) && !name.starts_with("content-");
    headers
        .iter()
        .filter(|(name, _)| is_lent(name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

struct Lent {
    lender: Lender,
    wire: Wire,
    model: String,
    limits: Limits,
    headers: HeaderMap,
}

#[async_trait]
impl LanguageModel for Lent {
    fn name(&self) -> &str {
        &self.model
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    async fn send(
        &self,
        question: &ModelRequest<'_>,
        deltas: &mut Deltas<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let tokens = |limit: i64| u32::try_from(limit).unwrap_or(u32::MAX);
        let endpoint = Endpoint {
            context: tokens(self.limits.context),
            output: self.limits.output.map(tokens),
            ..Endpoint::new(self.wire, &self.lender.url, &self.model)
        };
        let text = |value: &HeaderValue| value.to_str().map(Secret::new).ok();
        let headers = self.headers.iter().filter_map(|(name, value)| Some((name.as_str(), text(value)?)));
        let headers: Vec<(&str, Secret)> = headers.collect();
        let client = endpoint.connect_through(&self.lender.connector, &headers);
        let client = client.map_err(|error| ModelError::Network { reason: error.to_string() })?;
        client.send(question, deltas).await
    }
}
