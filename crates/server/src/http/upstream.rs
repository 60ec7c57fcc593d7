//! The way to the providers.
//!
//! Connections are kept and used again. Nothing is added to a request, no redirect is followed and no proxy of the
//! environment's is asked. A request is sent again by itself only if the connection that it was given turned out to be
//! closed before a byte of it was sent.

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

use crate::http::upstream_body::{Limits, Outgoing, Progress};
use crate::settings::{Settings, Upstream};

/// How much of an answer may lie here unread, so that one slow client does not hold up the others of a connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 256 << 20;

/// The most that is read at once, and with it the longest head of an answer.
const MOST_BUFFERED: usize = 64 << 10;

/// The way to the providers.
pub(crate) struct Client {
    http: Http,
    /// For connections that are to become something else, which those of HTTP/2 cannot.
    single: Http,
    patience: Duration,
}

type Http = legacy::Client<Bounded<HttpsConnector<HttpConnector>>, Outgoing>;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// There is no connection.
    #[error("it cannot be reached: {reason}")]
    Unreachable { reason: String },
    /// It said nothing for too long.
    #[error("it did not answer within {after:?}")]
    Silent { after: Duration },
    /// It closed the connection, or answered with something that is not HTTP.
    #[error("its answer broke off or is not HTTP: {reason}")]
    Broken { reason: String },
}

/// What of a request stays the same however often it is sent.
pub(crate) struct Head {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub extensions: Extensions,
}

impl Head {
    /// Makes a client's head one for a provider: the host is the provider's.
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
            // In HTTP/2 the host is part of the address. For HTTP/1 the client adds it.
            headers.remove(HOST);
        }
        let extensions = std::mem::take(&mut parts.extensions);
        Ok(Self { method: parts.method, uri, headers, extensions })
    }

    /// The request with this body.
    pub(crate) fn with(self, body: Outgoing) -> Request<Outgoing> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = self.headers;
        *request.extensions_mut() = self.extensions;
        request
    }

    /// The request with this body, which is known to the last byte.
    pub(crate) fn with_whole(mut self, body: Vec<Bytes>) -> Request<Outgoing> {
        let body = Outgoing::whole(body);
        let length = body.size_hint().exact().unwrap_or(0);
        self.headers.insert(CONTENT_LENGTH, length.into());
        self.with(body)
    }

    /// The request with a body that is passed on as it comes, within limits.
    pub(crate) fn with_rest(mut self, read: Vec<Bytes>, rest: Incoming, limits: Limits) -> Request<Outgoing> {
        let body = Outgoing::with_rest(read, rest, limits);
        if body.has_rest() && body.size_hint().exact().is_none() {
            // Or the body of a GET would be left out.
            self.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        self.with(body)
    }
}

impl Clone for Head {
    fn clone(&self) -> Self {
        Self {
            method: self.method.clone(),
            uri: self.uri.clone(),
            headers: self.headers.clone(),
            extensions: self.extensions.clone(),
        }
    }
}

impl Client {
    pub(crate) fn new(settings: &Settings) -> Result<Self, rustls::Error> {
        let tls = tls(settings)?;
        let builder =
            || HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http().enable_http1();
        Ok(Self {
            http: build(builder().enable_http2().wrap_connector(tcp()), settings),
            single: build(builder().wrap_connector(tcp()), settings),
            patience: settings.patience,
        })
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn send(&self, request: Request<Outgoing>) -> Result<Response<Incoming>, Failure> {
        let progress = request.body().progress();
        let http = if request.headers().contains_key(UPGRADE) { &self.single } else { &self.http };
        let mut answer = http.request(request);
        loop {
            let before = progress.bytes();
            match timeout(self.patience, &mut answer).await {
                Ok(answer) => return answer.map_err(|error| judge(&error)),
                // A long body may take longer than that, if only it moves.
                Err(_) if progress.bytes() != before => {}
                Err(_) => return Err(Failure::Silent { after: self.patience }),
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

fn build(connector: HttpsConnector<HttpConnector>, settings: &Settings) -> Http {
    legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(60))
        .pool_max_idle_per_host(256)
        .timer(TokioTimer::new())
        .http1_preserve_header_case(true)
        .http1_max_buf_size(MOST_BUFFERED)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .build(Bounded { connector, limit: settings.connect })
}

/// What an error of the client's means. Its words hold neither path nor headers.
fn judge(error: &legacy::Error) -> Failure {
    let mut reason = String::new();
    let mut next: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(error) = next {
        if !reason.is_empty() {
            reason.push_str(": ");
        }
        reason.push_str(&error.to_string());
        next = error.source();
    }
    if reason.is_empty() {
        reason = error.to_string();
    }
    if error.is_connect() { Failure::Unreachable { reason } } else { Failure::Broken { reason } }
}

fn tls(settings: &Settings) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    let all = [&settings.anthropic, &settings.openai, &settings.gemini];
    let builder = if all.iter().all(|upstream| upstream.is_plain()) {
        // Models on the same machine must not need the system's certificates, which a small container lacks.
        builder.with_root_certificates(rustls::RootCertStore::empty())
    } else {
        builder.with_platform_verifier()?
    };
    Ok(builder.with_no_client_auth())
}

/// A connector that gives up after a while, whether it waits for a name, a connection or a handshake.
#[derive(Clone)]
struct Bounded<C> {
    connector: C,
    limit: Duration,
}

type Boxed = Box<dyn StdError + Send + Sync>;

impl<C> Service<Uri> for Bounded<C>
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

/// Used by whoever waits for a body to have gone out before it looks after the client.
pub(crate) fn progress_of(request: &Request<Outgoing>) -> Option<Arc<Progress>> {
    request.body().has_rest().then(|| request.body().progress())
}
