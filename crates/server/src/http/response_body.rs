//! A response on its way to the client: frame by frame as it comes, never read first, held back or changed.
//!
//! No frame is requested from the provider before the last one is sent, so a slow client slows the provider down. If the
//! client disconnects, the body is dropped, and the provider's stream with it. If the provider breaks off, so does the
//! response: a client must be able to tell half a response from a whole one.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::limits::WaitTimer;
use super::request_body::longer;
use super::socket::Disconnect;
use crate::metrics::OpenResponse;

/// Keeps browsers from giving the proxy's own responses to pages of other origins.
pub(crate) const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
pub(crate) const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

/// The body of a response to a client.
pub(crate) struct ProxyResponseBody {
    source: BodySource,
    /// The request counts as in flight until this body is dropped.
    _guard: Option<Arc<()>>,
}

/// Where a body comes from.
enum BodySource {
    /// The proxy itself.
    Own(Option<Bytes>),
    /// The API.
    Api(axum::body::Body),
    /// A provider.
    Provider(Box<ProviderStream>),
}

/// Sees a provider's response while it is sent to the client. Dropped when nothing more is to be seen, or when the
/// response ends, however it ends.
pub(crate) trait Observer: Send {
    /// The next bytes of the body.
    fn observe(&mut self, data: &[u8]);

    /// Whether the rest of the body does not matter.
    fn is_done(&self) -> bool;
}

/// Why a response ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResponseError {
    /// The provider broke off.
    #[error("the provider broke off: {0}")]
    Provider(#[from] hyper::Error),
    /// The provider sent nothing for too long.
    #[error("the provider sent nothing for {after:?}")]
    Timeout { after: Duration },
    /// The API broke off.
    #[error("the API broke off: {0}")]
    Api(#[from] axum::Error),
    /// The client disconnected.
    #[error("the client disconnected")]
    ClientGone,
}

/// A provider's response body: what was read of it already, then the rest.
pub(crate) struct ProviderStream {
    read: VecDeque<Bytes>,
    end: Option<Result<HeaderMap, ResponseError>>,
    rest: Option<Incoming>,
    disconnect: Option<Disconnect>,
    patience: Duration,
    timer: WaitTimer,
    has_paused: bool,
    observer: Option<Box<dyn Observer>>,
    open: OpenResponse,
}

impl ProxyResponseBody {
    fn new(source: BodySource) -> Self {
        Self { source, _guard: None }
    }

    /// A response of the proxy itself.
    pub(crate) fn own(status: StatusCode, content_type: HeaderValue, body: String) -> Response<Self> {
        let length = body.len();
        let mut response = Response::new(Self::new(BodySource::Own(Some(body.into()))));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
        response.headers_mut().insert(RESOURCE_POLICY, SAME_ORIGIN);
        response
    }

    /// A body without content.
    pub(crate) fn empty() -> Self {
        Self::new(BodySource::Own(None))
    }

    /// A response of the API.
    pub(crate) fn api(body: axum::body::Body) -> Self {
        Self::new(BodySource::Api(body))
    }

    /// Keeps a guard until this body is dropped.
    pub(crate) fn with_guard(self, guard: Arc<()>) -> Self {
        Self { _guard: Some(guard), ..self }
    }
}

impl From<ProviderStream> for ProxyResponseBody {
    fn from(stream: ProviderStream) -> Self {
        Self::new(BodySource::Provider(Box::new(stream)))
    }
}

impl ProviderStream {
    /// A provider's response, given up when the client disconnects or the provider sends nothing for too long.
    pub(crate) fn new(
        rest: Incoming,
        open: OpenResponse,
        disconnect: Option<Disconnect>,
        patience: Duration,
    ) -> Self {
        Self {
            read: VecDeque::new(),
            end: None,
            rest: Some(rest),
            disconnect,
            patience,
            timer: WaitTimer::default(),
            has_paused: false,
            observer: None,
            open,
        }
    }

    /// Sets who sees the body while it is sent.
    pub(crate) fn observe_with(&mut self, observer: impl Observer + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Reads the whole body ahead, if it has at most this many bytes. It is still passed on.
    pub(crate) async fn peek(&mut self, most: usize) -> Option<Vec<u8>> {
        let mut seen = Vec::new();
        while let Some(data) = self.read_ahead().await {
            seen.extend_from_slice(&data);
            if seen.len() > most {
                return None;
            }
        }
        (!matches!(self.end, Some(Err(_)))).then_some(seen)
    }

    /// Reads the next bytes ahead. They are still passed on. None at the end.
    pub(crate) async fn read_ahead(&mut self) -> Option<Bytes> {
        while let Some(frame) = std::future::poll_fn(|cx| self.poll_rest(cx)).await {
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) => {
                    self.read.push_back(data.clone());
                    return Some(data);
                }
                Ok(Err(frame)) => self.end = frame.into_trailers().ok().map(Ok),
                Err(error) => self.end = Some(Err(error)),
            }
            if matches!(self.end, Some(Err(_))) {
                break;
            }
        }
        self.rest = None;
        None
    }

    /// Drops the response, and gives back the watch over the client.
    pub(crate) fn into_disconnect(self) -> Option<Disconnect> {
        self.disconnect
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, ResponseError>>> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        match Pin::new(rest).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.timer.stop();
                Poll::Ready(frame.map(|frame| frame.map_err(ResponseError::from)))
            }
            Poll::Pending
                if self.disconnect.as_mut().is_some_and(|gone| gone.as_mut().poll(cx).is_ready()) =>
            {
                self.disconnect = None;
                Poll::Ready(Some(Err(ResponseError::ClientGone)))
            }
            Poll::Pending => {
                let timeout = || Some(Err(ResponseError::Timeout { after: self.patience }));
                self.timer.poll(cx, self.patience).map(|()| timeout())
            }
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, ResponseError>>> {
        let frame = match self.read.pop_front() {
            Some(data) => Some(Ok(Frame::data(data))),
            None => match self.poll_rest(cx) {
                Poll::Ready(Some(frame)) => Some(frame),
                Poll::Ready(None) => self.end.take().map(|end| end.map(Frame::trailers)),
                Poll::Pending => return Poll::Pending,
            },
        };
        let frame = match frame {
            // Earlier frames must be sent before the connection is dropped. They are, during one more turn.
            Some(Err(error)) if !self.has_paused => {
                self.has_paused = true;
                self.end = Some(Err(error));
                self.rest = None;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            frame => frame,
        };
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.open.sent(data.len());
            if let Some(observer) = &mut self.observer {
                observer.observe(data);
            }
        }
        // The client may send its next request as soon as it has the last frame. By then this one must be settled.
        let is_data = frame.as_ref().is_some_and(|frame| frame.as_ref().is_ok_and(Frame::is_data));
        if !is_data || self.is_end() || self.observer.as_ref().is_some_and(|observer| observer.is_done()) {
            self.observer = None;
        }
        if let Some(Err(error)) = &frame {
            tracing::debug!(%error, "response broke off");
        }
        Poll::Ready(frame)
    }

    fn is_end(&self) -> bool {
        self.read.is_empty() && self.end.is_none() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let read: u64 = self.read.iter().map(|data| data.len() as u64).sum();
        let rest = match &self.rest {
            Some(rest) => rest.size_hint(),
            None if self.end.is_some() => SizeHint::new(),
            None => SizeHint::with_exact(0),
        };
        longer(&rest, read)
    }
}

impl Body for ProxyResponseBody {
    type Data = Bytes;
    type Error = ResponseError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ResponseError>>> {
        match &mut self.source {
            BodySource::Own(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            BodySource::Api(body) => Pin::new(body).poll_frame(cx).map_err(ResponseError::from),
            BodySource::Provider(stream) => stream.poll_next(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            BodySource::Own(body) => body.is_none(),
            BodySource::Api(body) => body.is_end_stream(),
            BodySource::Provider(stream) => stream.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            BodySource::Own(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            BodySource::Api(body) => body.size_hint(),
            BodySource::Provider(stream) => stream.size_hint(),
        }
    }
}
