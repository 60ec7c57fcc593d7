//! A model behind an endpoint.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};
use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Url};
use secateur::Limits;
use sse_stream::SseByteStream;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::address;
use super::connector::Connector;
use super::credentials::Credentials;
use super::dialect::{Dialect, Step};
use super::endpoint::{ConnectError, Endpoint};
use super::error_response;
use super::response_body::{ResponseBody, network, read_refusal};
use super::response_builder::ResponseBuilder;
use super::retry_after::retry_after;
use super::secret::SecretFilter;
use super::{Deltas, LanguageModel, ModelError, ModelRequest, ModelResponse};

/// A model behind an endpoint. Connections are reused; clones share them, and so do clients made through one
/// [`Connector`].
#[derive(Clone)]
pub struct ModelClient {
    endpoint: Endpoint,
    dialect: Dialect,
    http: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    secrets: SecretFilter,
}

impl ModelClient {
    pub(super) fn new(
        endpoint: &Endpoint,
        credentials: Credentials<'_>,
        connector: &Connector,
    ) -> Result<Self, ConnectError> {
        let positive = |name, value| if value == 0 { Err(ConnectError::Zero { name }) } else { Ok(()) };
        positive("timeout_ms", endpoint.timeout_ms)?;
        positive("patience_ms", endpoint.patience_ms)?;
        positive("most_bytes", endpoint.most_bytes.into())?;
        let dialect = Dialect::of(endpoint.wire);
        let url = address::resolve(&endpoint.url, dialect, &endpoint.model)?;
        let headers = credentials.headers(endpoint, dialect)?;
        let values = endpoint.headers.values().map(String::as_str);
        let asked = address::query_values(&url);
        let secrets = credentials.secrets().chain(values).chain(asked.iter().map(String::as_str));
        let secrets = SecretFilter::new(secrets);
        let http = connector.client(&url)?;
        Ok(Self { endpoint: endpoint.clone(), dialect, http, url, headers, secrets })
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(self.endpoint.patience_ms)
    }

    /// Sends the request until there is a response, or an error that is not transient.
    async fn persist(
        &self,
        body: &Bytes,
        builder: &mut ResponseBuilder<'_>,
        deadline: Instant,
    ) -> Result<ModelResponse, ModelError> {
        let mut waits = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(self.endpoint.first_wait_ms))
            .with_max_delay(Duration::from_millis(self.endpoint.longest_wait_ms))
            .with_max_times(usize::try_from(self.endpoint.retries).unwrap_or(usize::MAX))
            .with_jitter()
            .with_jitter_seed(seed())
            .build();
        loop {
            let error = match self.attempt(body.clone(), builder).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let wait = if error.is_worth_retrying() { waits.next() } else { None };
            let Some(wait) = wait.and_then(|wait| self.wait(wait, &error, deadline)) else {
                return Err(error);
            };
            tracing::debug!(model = self.endpoint.model, %error, ?wait, "asking again");
            sleep(wait).await;
            builder.restart();
        }
    }

    /// How long to wait before the next attempt: at least what the provider asks for; `None` if that is too long.
    fn wait(&self, planned: Duration, error: &ModelError, deadline: Instant) -> Option<Duration> {
        let longest = Duration::from_millis(self.endpoint.longest_wait_ms);
        let wanted = error.retry_after().unwrap_or_default();
        let wait = planned.min(longest).max(wanted);
        let ends = Instant::now().checked_add(wait)?;
        (wanted <= longest && ends < deadline).then_some(wait)
    }

    /// Sends the request once.
    async fn attempt(
        &self,
        body: Bytes,
        builder: &mut ResponseBuilder<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let request = self.http.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let response = timeout(self.patience(), request.send()).await;
        let response = response.map_err(|_| ModelError::Silent { after: self.patience() })?;
        let response = response.map_err(|error| network(error, &self.secrets))?;
        let status = response.status();
        if !status.is_success() {
            let wait = retry_after(response.headers(), SystemTime::now());
            let body = read_refusal(response, self.patience()).await;
            return Err(error_response::judge(status.as_u16(), &body, wait, &self.secrets));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if kind.contains("json") {
            self.read_whole(response, builder).await?;
        } else if kind.contains("html") {
            return Err(builder.malformed("it is a web page; check the url"));
        } else {
            self.read_stream(response, builder).await?;
        }
        builder.finish()
    }

    async fn read_whole(
        &self,
        response: Response,
        builder: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelError> {
        let pending = AtomicUsize::new(0);
        let body = self.source(response, &pending).read().await?;
        let body = str::from_utf8(&body).map_err(|error| builder.malformed(&error.to_string()))?;
        self.dialect.whole(body, builder)
    }

    async fn read_stream(
        &self,
        response: Response,
        builder: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelError> {
        let pending = AtomicUsize::new(0);
        let source = self.source(response, &pending).stream();
        let mut events = pin!(SseByteStream::new(source));
        while let Some(event) = events.next().await {
            let data = match event {
                Ok(event) => event.data.unwrap_or_default(),
                Err(_) if builder.is_done() => return Ok(()),
                Err(error) => return Err(explain(error, builder)),
            };
            pending.store(0, Ordering::Relaxed);
            if !data.trim().is_empty() && self.dialect.event(&data, builder)? == Step::Last {
                break;
            }
        }
        Ok(())
    }

    fn source<'s>(&'s self, response: Response, pending: &'s AtomicUsize) -> ResponseBody<'s> {
        ResponseBody::new(response, self.patience(), self.most_bytes(), &self.secrets, pending)
    }

    fn most_bytes(&self) -> usize {
        usize::try_from(self.endpoint.most_bytes).unwrap_or(usize::MAX)
    }
}

#[async_trait]
impl LanguageModel for ModelClient {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn limits(&self) -> Limits {
        self.endpoint.limits()
    }

    async fn send(
        &self,
        request: &ModelRequest<'_>,
        deltas: &mut Deltas<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let after = Duration::from_millis(self.endpoint.timeout_ms);
        let most = self.endpoint.output.map_or(u64::MAX, u64::from);
        let request = ModelRequest { max_tokens: request.max_tokens.min(most), ..*request };
        let body = Bytes::from(self.dialect.body(&self.endpoint, &request).to_string());
        let mut builder = ResponseBuilder::new(deltas, &self.secrets, self.most_bytes(), request.max_tokens);
        let now = Instant::now();
        // A deadline beyond the clock's range is replaced by a year.
        let deadline = now.checked_add(after).unwrap_or(now + Duration::from_secs(31_536_000));
        let answer = timeout_at(deadline, self.persist(&body, &mut builder, deadline)).await;
        answer.unwrap_or(Err(ModelError::Timeout { after }))
    }
}

impl fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelClient").field(&self.endpoint).finish()
    }
}

/// Turns an error of the event stream into ours, unwrapping our own.
fn explain(error: sse_stream::Error, builder: &ResponseBuilder<'_>) -> ModelError {
    match error {
        sse_stream::Error::Body(inner) => match inner.downcast::<ModelError>().map(|error| *error) {
            Ok(ModelError::CutOff { .. }) => builder.cut_off(),
            Ok(error) => error,
            Err(inner) => builder.malformed(&inner.to_string()),
        },
        error => builder.malformed(&error.to_string()),
    }
}

/// Different for every caller: requests that failed together must not be repeated together.
fn seed() -> u64 {
    uuid::Uuid::now_v7().as_u64_pair().1
}
