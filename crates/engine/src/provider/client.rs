//! A model behind an endpoint.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};
use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url, redirect, retry};
use secateur::Limits;
use sse_stream::SseByteStream;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::address;
use super::censor::{Censor, Secret};
use super::dialect::{Dialect, Step};
use super::draft::Draft;
use super::endpoint::{ConnectError, Endpoint};
use super::refusal;
use super::source::{Source, network, read_refusal};
use super::wait::retry_after;
use super::{Answer, AskError, Deltas, Model, Question};

/// The version of Anthropic's interface that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The longest that a connection may take to come about. After that it may be tried again, as no question was asked.
const CONNECT: Duration = Duration::from_secs(10);

/// A model behind an endpoint. Connections are kept and used again; clones share them.
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
        dialect: Dialect,
        key: Option<&Secret>,
    ) -> Result<Self, ConnectError> {
        let positive = |name, value| if value == 0 { Err(ConnectError::Zero { name }) } else { Ok(()) };
        positive("timeout_ms", endpoint.timeout_ms)?;
        positive("patience_ms", endpoint.patience_ms)?;
        positive("most_bytes", endpoint.most_bytes.into())?;
        let url = address::resolve(&endpoint.url, dialect, &endpoint.model)?;
        let headers = headers(endpoint, dialect, key)?;
        let values = endpoint.headers.values().map(String::as_str);
        let censor = Censor::new(key.map(Secret::reveal).into_iter().chain(values));
        let http =
            http(&url).map_err(|error| ConnectError::System { reason: censor.clean(&error.to_string()) })?;
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

/// A client that follows nobody, asks no proxy and repeats nothing by itself.
fn http(url: &Url) -> Result<reqwest::Client, reqwest::Error> {
    // There is one provider of ciphers for the process. If somebody else was first, theirs is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT)
        .user_agent(concat!("secateur/", env!("CARGO_PKG_VERSION")));
    if url.scheme() == "http" {
        // A model on the same machine must not need the system's certificates, which a small container lacks.
        let nobody = rustls::RootCertStore::empty();
        let tls = rustls::ClientConfig::builder().with_root_certificates(nobody).with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    }
    builder.build()
}

fn headers(endpoint: &Endpoint, dialect: Dialect, key: Option<&Secret>) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if dialect == Dialect::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    for (name, value) in &endpoint.headers {
        let header = || ConnectError::Header { name: name.clone() };
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| header())?;
        headers.insert(parsed, secret_value(value).ok_or_else(header)?);
    }
    if let Some(key) = key {
        let (name, value) = match &endpoint.key_header {
            Some(name) => {
                let parsed = HeaderName::from_bytes(name.as_bytes());
                let name = parsed.map_err(|_| ConnectError::Header { name: name.clone() })?;
                (name, key.reveal().to_owned())
            }
            None if dialect == Dialect::Anthropic => {
                (HeaderName::from_static("x-api-key"), key.reveal().to_owned())
            }
            None if dialect == Dialect::Gemini => {
                (HeaderName::from_static("x-goog-api-key"), key.reveal().to_owned())
            }
            None => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
        };
        headers.insert(name, secret_value(&value).ok_or(ConnectError::BadKey)?);
    }
    Ok(headers)
}

/// A header's value that is not shown in anybody's log.
fn secret_value(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Different for everybody who waits: those who failed together must not come back together.
fn seed() -> u64 {
    uuid::Uuid::now_v7().as_u64_pair().1
}
