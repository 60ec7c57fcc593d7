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
use super::censor::Censor;
use super::connector::Connector;
use super::credentials::Credentials;
use super::dialect::{Dialect, Step};
use super::draft::Draft;
use super::endpoint::{ConnectError, Endpoint};
use super::refusal;
use super::source::{Source, network, read_refusal};
use super::wait::retry_after;
use super::{Answer, AskError, Deltas, Model, Question};

/// A model behind an endpoint. Connections are kept and used again; clones share them, and so do clients that were
/// made through one [`Connector`].
#[derive(Clone)]
pub struct Client {
    endpoint: Endpoint,
    dialect: Dialect,
    http: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    censor: Censor,
}

impl Client {
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
        let censor = Censor::new(secrets);
        let http = connector.client(&url)?;
        Ok(Self { endpoint: endpoint.clone(), dialect, http, url, headers, censor })
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(self.endpoint.patience_ms)
    }

    /// Asks until there is an answer, or an error that does not pass.
    async fn persist(
        &self,
        body: &Bytes,
        draft: &mut Draft<'_>,
        deadline: Instant,
    ) -> Result<Answer, AskError> {
        let mut waits = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(self.endpoint.first_wait_ms))
            .with_max_delay(Duration::from_millis(self.endpoint.longest_wait_ms))
            .with_max_times(usize::try_from(self.endpoint.retries).unwrap_or(usize::MAX))
            .with_jitter()
            .with_jitter_seed(seed())
            .build();
        loop {
            let error = match self.attempt(body.clone(), draft).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let wait = if error.is_worth_retrying() { waits.next() } else { None };
            let Some(wait) = wait.and_then(|wait| self.wait(wait, &error, deadline)) else {
                return Err(error);
            };
            tracing::debug!(model = self.endpoint.model, %error, ?wait, "asking again");
            sleep(wait).await;
            draft.restart();
        }
    }

    /// How long to wait before asking again: never less than the provider wants. Nothing if that is too long.
    fn wait(&self, planned: Duration, error: &AskError, deadline: Instant) -> Option<Duration> {
        let longest = Duration::from_millis(self.endpoint.longest_wait_ms);
        let wanted = error.retry_after().unwrap_or_default();
        let wait = planned.min(longest).max(wanted);
        let ends = Instant::now().checked_add(wait)?;
        (wanted <= longest && ends < deadline).then_some(wait)
    }

    /// Asks once.
    async fn attempt(&self, body: Bytes, draft: &mut Draft<'_>) -> Result<Answer, AskError> {
        let request = self.http.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let response = timeout(self.patience(), request.send()).await;
        let response = response.map_err(|_| AskError::Silent { after: self.patience() })?;
        let response = response.map_err(|error| network(error, &self.censor))?;
        let status = response.status();
        if !status.is_success() {
            let wait = retry_after(response.headers(), SystemTime::now());
            let body = read_refusal(response, self.patience()).await;
            return Err(refusal::judge(status.as_u16(), &body, wait, &self.censor));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if kind.contains("json") {
            self.read_whole(response, draft).await?;
        } else if kind.contains("html") {
            return Err(draft.malformed("it is a web page; see whether the url is right"));
        } else {
            self.read_stream(response, draft).await?;
        }
        draft.finish()
    }

    async fn read_whole(&self, response: Response, draft: &mut Draft<'_>) -> Result<(), AskError> {
        let pending = AtomicUsize::new(0);
        let body = self.source(response, &pending).read().await?;
        let body = str::from_utf8(&body).map_err(|error| draft.malformed(&error.to_string()))?;
        self.dialect.whole(body, draft)
    }

    async fn read_stream(&self, response: Response, draft: &mut Draft<'_>) -> Result<(), AskError> {
        let pending = AtomicUsize::new(0);
        let source = self.source(response, &pending).stream();
        let mut events = pin!(SseByteStream::new(source));
        while let Some(event) = events.next().await {
            let data = match event {
                Ok(event) => event.data.unwrap_or_default(),
                Err(_) if draft.is_done() => return Ok(()),
                Err(error) => return Err(explain(error, draft)),
            };
            pending.store(0, Ordering::Relaxed);
            if !data.trim().is_empty() && self.dialect.event(&data, draft)? == Step::Last {
                break;
            }
        }
        Ok(())
    }

    fn source<'s>(&'s self, response: Response, pending: &'s AtomicUsize) -> Source<'s> {
        Source::new(response, self.patience(), self.most_bytes(), &self.censor, pending)
    }

    fn most_bytes(&self) -> usize {
        usize::try_from(self.endpoint.most_bytes).unwrap_or(usize::MAX)
    }
}

#[async_trait]
impl Model for Client {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn limits(&self) -> Limits {
        self.endpoint.limits()
    }

    async fn ask(&self, question: &Question<'_>, deltas: &mut Deltas<'_>) -> Result<Answer, AskError> {
        let after = Duration::from_millis(self.endpoint.timeout_ms);
        let most = self.endpoint.output.map_or(u64::MAX, u64::from);
        let question = Question { max_tokens: question.max_tokens.min(most), ..*question };
        let body = Bytes::from(self.dialect.body(&self.endpoint, &question).to_string());
        let mut draft = Draft::new(deltas, &self.censor, self.most_bytes(), question.max_tokens);
        let now = Instant::now();
        // A time beyond all clocks is as good as a year.
        let deadline = now.checked_add(after).unwrap_or(now + Duration::from_secs(31_536_000));
        let answer = timeout_at(deadline, self.persist(&body, &mut draft, deadline)).await;
        answer.unwrap_or(Err(AskError::Timeout { after }))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.endpoint).finish()
    }
}

/// What an error of the stream's is: one of ours, wrapped, or text that is none.
fn explain(error: sse_stream::Error, draft: &Draft<'_>) -> AskError {
    match error {
        sse_stream::Error::Body(inner) => match inner.downcast::<AskError>().map(|error| *error) {
            Ok(AskError::CutOff { .. }) => draft.cut_off(),
            Ok(error) => error,
            Err(inner) => draft.malformed(&inner.to_string()),
        },
        error => draft.malformed(&error.to_string()),
    }
}

/// Different for everybody who waits: those who failed together must not come back together.
fn seed() -> u64 {
    uuid::Uuid::now_v7().as_u64_pair().1
}
