//! Sends requests to providers.
//!
//! Connections are pooled. Nothing is added to a request, no redirect is followed, and proxy variables of the environment
//! are ignored. A request is repeated only if its pooled connection turned out to be closed before a byte of it was sent.

use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use http::{Extensions, Method, Request, Response, Uri, Version};
use hyper::body::{Body, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::timeout;
use tower_service::Service;

use super::request_body::{BodyLimits, UpstreamBody};
use crate::settings::{Settings, Upstream};

/// How much of a response a provider may send over HTTP/2 before it is read. One slow client must not hold up the others
/// on the same connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 256 << 20;

/// The most bytes read at once, and with it the longest head of a response.
const READ_BUFFER: usize = 64 << 10;

/// Sends requests to providers.
pub(crate) struct UpstreamClient {
    pooled: PooledClient,
    /// HTTP/1 only, for requests that upgrade their connection.
    upgradable: PooledClient,
    patience: Duration,
}

type PooledClient = legacy::Client<ConnectTimeout<HttpsConnector<HttpConnector>>, UpstreamBody>;

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// No connection could be made.
    #[error("cannot connect: {reason}")]
    Unreachable { reason: String },
    /// It sent nothing for too long.
    #[error("no response within {after:?}")]
    Timeout { after: Duration },
    /// It closed the connection, or its response is not HTTP.
    #[error("the response broke off or is not HTTP: {reason}")]
    Broken { reason: String },
}

/// The head of a request to a provider. It stays the same when the request is sent again with another body.
#[derive(Clone)]
pub(crate) struct RequestHead {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub extensions: Extensions,
}

impl RequestHead {
    /// The head of a client's request, addressed to a provider.
    pub(crate) fn new(
        mut parts: http::request::Parts,
        headers: HeaderMap,
        to: &Upstream,
    ) -> Result<Self, http::Error> {
        let uri = to.join(parts.uri.path_and_query())?;
        let mut headers = headers;
        if to.is_plain() {
            headers.insert(HOST, to.host());
        } else {
            // Over HTTP/2 the host is part of the URI. For HTTP/1 the client below adds it.
            headers.remove(HOST);
        }
        let extensions = std::mem::take(&mut parts.extensions);
        Ok(Self { method: parts.method, uri, headers, extensions })
    }

    /// The request with this body.
    pub(crate) fn with(self, body: UpstreamBody) -> Request<UpstreamBody> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = self.headers;
        *request.extensions_mut() = self.extensions;
        request
    }

    /// The request with this complete body.
    pub(crate) fn with_whole(mut self, body: Vec<Bytes>) -> Request<UpstreamBody> {
        let body = UpstreamBody::whole(body);
        let length = body.size_hint().exact().unwrap_or(0);
        self.headers.insert(CONTENT_LENGTH, length.into());
        self.with(body)
    }

    /// The request with a body that is passed on as it arrives.
    pub(crate) fn with_rest(
        mut self,
        read: Vec<Bytes>,
        rest: Incoming,
        limits: BodyLimits,
    ) -> Request<UpstreamBody> {
        let body = UpstreamBody::with_rest(read, rest, limits);
        if body.has_rest() && body.size_hint().exact().is_none() {
            // Without it the body of a GET would be left out.
            self.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        self.with(body)
    }
}

impl UpstreamClient {
    pub(crate) fn new(settings: &Settings) -> Result<Self, rustls::Error> {
        let tls = tls(settings)?;
        let builder =
            || HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http().enable_http1();
        Ok(Self {
            pooled: build(builder().enable_http2().wrap_connector(tcp()), settings),
            upgradable: build(builder().wrap_connector(tcp()), settings),
            patience: settings.patience,
        })
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(
        &self,
        request: Request<UpstreamBody>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let progress = request.body().progress();
        let client = if request.headers().contains_key(UPGRADE) { &self.upgradable } else { &self.pooled };
        let mut response = client.request(request);
        loop {
            let before = progress.bytes();
            match timeout(self.patience, &mut response).await {
                Ok(response) => return response.map_err(|error| UpstreamError::of(&error)),
                // A long body may take longer, as long as it moves.
                Err(_) if progress.bytes() != before => {}
                Err(_) => return Err(UpstreamError::Timeout { after: self.patience }),
            }
        }
    }
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(Duration::from_secs(60)));
    tcp
}

fn build(connector: HttpsConnector<HttpConnector>, settings: &Settings) -> PooledClient {
    legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(60))
        .pool_max_idle_per_host(256)
        .timer(TokioTimer::new())
        .http1_preserve_header_case(true)
        .http1_max_buf_size(READ_BUFFER)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .build(ConnectTimeout { connector, limit: settings.connect })
}

impl UpstreamError {
    /// What an error of the HTTP client means. Its text has neither path nor headers.
    fn of(error: &legacy::Error) -> Self {
        let causes = std::iter::successors(error.source(), |error| (*error).source());
        let mut reason = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        if reason.is_empty() {
            reason = error.to_string();
        }
        if error.is_connect() { Self::Unreachable { reason } } else { Self::Broken { reason } }
    }
}

fn tls(settings: &Settings) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    let all = [&settings.anthropic, &settings.openai, &settings.gemini];
    let builder = if all.iter().all(|upstream| upstream.is_plain()) {
        // A small container with models on the same machine has no system certificates, and needs none.
        builder.with_root_certificates(rustls::RootCertStore::empty())
    } else {
        builder.with_platform_verifier()?
    };
    Ok(builder.with_no_client_auth())
}

/// A connector with a time limit for name lookup, connection and handshake together.
#[derive(Clone)]
struct ConnectTimeout<C> {
    connector: C,
    limit: Duration,
}

type Boxed = Box<dyn StdError + Send + Sync>;

impl<C> Service<Uri> for ConnectTimeout<C>
where
    C: Service<Uri>,
    C::Error: Into<Boxed>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = Boxed;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, Boxed>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Boxed>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connection = self.connector.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            let late = || io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {limit:?}"));
            timeout(limit, connection).await.map_err(|_| late())?.map_err(Into::into)
        })
    }
}
