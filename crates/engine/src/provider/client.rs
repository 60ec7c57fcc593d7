//! A model behind an endpoint.

use std::fmt;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Url};
use secateur::Limits;
use secateur_formats::TextRequest;
use secateur_formats::response::{Framing, ResponseEvent, ResponseReader};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::address;
use super::connector::Connector;
use super::credentials::Credentials;
use super::endpoint::{ConnectError, Endpoint};
use super::error_response;
use super::limited_body::{EVENT, LimitedBody, network, read_refusal};
use super::response_builder::ResponseBuilder;
use super::retry_after::retry_after;
use super::secret::SecretFilter;
use super::{Deltas, LanguageModel, ModelError, ModelRequest, ModelResponse};

/// A model behind an endpoint. Connections are reused; clones share them, and so do clients made through one
/// [`Connector`].
#[derive(Clone)]
pub struct ModelClient {
    endpoint: Endpoint,
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
        let url = address::resolve(&endpoint.url, endpoint.wire, &endpoint.model)?;
        let headers = credentials.headers(endpoint)?;
        let values = endpoint.headers.values().map(String::as_str);
        let asked = address::query_values(&url);
        let secrets = credentials.secrets().chain(values).chain(asked.iter().map(String::as_str));
        let secrets = SecretFilter::new(secrets);
        let http = connector.client(&url)?;
        Ok(Self { endpoint: endpoint.clone(), http, url, headers, secrets })
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
        if kind.contains("html") {
            return Err(builder.malformed("it is a web page; check the url"));
        }
        let framing = if kind.contains("json") { Framing::Json } else { Framing::Events };
        self.read(response, framing, builder).await?;
        builder.finish()
    }

    async fn read(
        &self,
        response: Response,
        framing: Framing,
        builder: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelError> {
        let mut source = LimitedBody::new(response, self.patience(), self.most_bytes(), &self.secrets);
        let mut reader = ResponseReader::new(self.endpoint.wire, framing, EVENT);
        loop {
            let chunk = match source.next().await {
                Ok(chunk) => chunk,
                Err(_) if framing == Framing::Events && builder.is_done() => return Ok(()),
                Err(ModelError::CutOff { .. }) if framing == Framing::Events => return Err(builder.cut_off()),
                Err(error) => return Err(error),
            };
            let mut taken = Ok(());
            let mut take = |event: ResponseEvent<'_>| {
                // Nothing counts behind an error or behind the end.
                if taken.is_ok() && !builder.has_ended() {
                    taken = builder.take(event);
                }
            };
            match &chunk {
                Some(chunk) => reader.push(chunk, &mut take),
                // The last event of a stream may be half of one; what came whole is read at its end.
                None if framing == Framing::Json => reader.finish(&mut take),
                None => {}
            }
            taken?;
            if reader.has_skipped() {
                return Err(ModelError::TooLong { limit: EVENT });
            }
            if chunk.is_none() || reader.has_ended() {
                return Ok(());
            }
        }
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
        let max_tokens = request.max_tokens.min(most);
        let body = self.endpoint.wire.text_request(&TextRequest {
            model: &self.endpoint.model,
            system: request.system,
            text: request.text,
            max_tokens,
            max_tokens_field: self.endpoint.tokens_field.name(),
            include_usage: self.endpoint.include_usage,
        });
        let body = Bytes::from(body.to_string());
        let mut builder = ResponseBuilder::new(deltas, &self.secrets, self.most_bytes(), max_tokens);
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

/// Different for every caller: requests that failed together must not be repeated together.
fn seed() -> u64 {
    uuid::Uuid::now_v7().as_u64_pair().1
}
