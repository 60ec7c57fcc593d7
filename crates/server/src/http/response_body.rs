//! An answer on its way to the client: frame by frame as it comes, never read first, held back or changed.
//!
//! The client's pace is the provider's pace: no frame is asked for before the last one is gone. If the client goes,
//! this is dropped and the provider's stream with it. If the provider breaks off, so does the answer: a client must be
//! able to tell half an answer from a whole one.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::metrics::Open;
use crate::proxy::response_observer::Ear;

/// Ends when the client has given up.
pub(crate) type Watch = BoxFuture<'static, ()>;

/// The body of an answer.
pub(crate) enum Answer {
    /// One of our own.
    Whole(Option<Bytes>),
    /// One of the API's.
    Own(axum::body::Body),
    /// One of a provider's.
    Stream(Box<Stream>),
}

/// Why an answer has no proper end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// The provider broke off.
    #[error("the provider broke off: {0}")]
    Upstream(#[from] hyper::Error),
    /// The provider fell silent.
    #[error("the provider said nothing for {after:?}")]
    Silent { after: Duration },
    /// One of our own broke off.
    #[error("an answer of the API broke off: {0}")]
    Own(#[from] axum::Error),
    /// The client is gone.
    #[error("the client is gone")]
    Gone,
}

/// A provider's answer: what was read of it already, and then the rest.
pub(crate) struct Stream {
    read: VecDeque<Bytes>,
    end: Option<Result<HeaderMap, Broken>>,
    rest: Option<Incoming>,
    watch: Option<Watch>,
    patience: Duration,
    /// Since when the provider is silent, while it is.
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
    has_paused: bool,
    ear: Option<Ear>,
    open: Open,
}

impl Answer {
    /// An answer of our own.
    pub(crate) fn ours(status: StatusCode, kind: HeaderValue, body: String) -> Response<Self> {
        let length = body.len();
        let mut response = Response::new(Self::Whole(Some(body.into())));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
        response
    }
}

impl Stream {
    /// A provider's answer.
    pub(crate) fn new(rest: Incoming, open: Open, watch: Option<Watch>, patience: Duration) -> Self {
        let (read, end, rest) = (VecDeque::new(), None, Some(rest));
        Self {
            read,
            end,
            rest,
            watch,
            patience,
            since: None,
            alarm: None,
            has_paused: false,
            ear: None,
            open,
        }
    }

    /// Somebody who wants to hear how it went.
    pub(crate) fn heard_by(&mut self, ear: Ear) {
        self.ear = Some(ear);
    }

    /// Reads up to so many bytes ahead. They are still passed on. All of it, if it is no more than that.
    pub(crate) async fn peek(&mut self, most: usize) -> Option<Vec<u8>> {
        let mut seen = Vec::new();
        while let Some(data) = self.read_ahead().await {
            seen.extend_from_slice(&data);
            if seen.len() > most {
                return None;
            }
        }
        // What broke off is not all of it.
        (!matches!(self.end, Some(Err(_)))).then_some(seen)
    }

    /// Reads the next piece ahead. It is still passed on. None at the end.
    pub(crate) async fn read_ahead(&mut self) -> Option<Bytes> {
        while let Some(frame) = std::future::poll_fn(|cx| self.poll_rest(cx)).await {
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) => {
                    self.read.push_back(data.clone());
                    return Some(data);
                }
                Ok(Err(frame)) => self.end = frame.into_trailers().ok().map(Ok),
                Err(broken) => self.end = Some(Err(broken)),
            }
            if matches!(self.end, Some(Err(_))) {
                break;
            }
        }
        self.rest = None;
        None
    }

    /// What is left of it if nobody wants it: the watch over the client.
    pub(crate) fn into_watch(self) -> Option<Watch> {
        self.watch
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        match Pin::new(rest).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.since = None;
                Poll::Ready(frame.map(|frame| frame.map_err(Broken::from)))
            }
            Poll::Pending if self.watch.as_mut().is_some_and(|watch| watch.as_mut().poll(cx).is_ready()) => {
                self.watch = None;
                Poll::Ready(Some(Err(Broken::Gone)))
            }
            Poll::Pending => self.poll_alarm(cx).map(|after| Some(Err(Broken::Silent { after }))),
        }
    }

    /// Rings when the provider has been silent for too long. A frame costs no timer: the alarm that was set for an
    /// earlier silence rings too early, and is set again.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<Duration> {
        let since = *self.since.get_or_insert_with(Instant::now);
        // A time beyond all clocks never comes.
        let Some(deadline) = since.checked_add(self.patience) else { return Poll::Pending };
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        while alarm.as_mut().poll(cx).is_ready() {
            if alarm.deadline() >= deadline {
                return Poll::Ready(self.patience);
            }
            alarm.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let frame = match self.read.pop_front() {
            Some(data) => Some(Ok(Frame::data(data))),
            None => match self.poll_rest(cx) {
                Poll::Ready(Some(frame)) => Some(frame),
                Poll::Ready(None) => self.end.take().map(|end| end.map(Frame::trailers)),
                Poll::Pending => return Poll::Pending,
            },
        };
        let frame = match frame {
            // What came before must go out before the connection is dropped. It does while we wait.
            Some(Err(broken)) if !self.has_paused => {
                self.has_paused = true;
                self.end = Some(Err(broken));
                self.rest = None;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            frame => frame,
        };
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.open.tally().answered(data.len());
            if let Some(ear) = &mut self.ear {
                ear.hear(data);
            }
        }
        // The client may send its next request as soon as it has the last frame. What is to be known of this one must
        // be known by then.
        let is_data = frame.as_ref().is_some_and(|frame| frame.as_ref().is_ok_and(Frame::is_data));
        if !is_data || self.is_end() || self.ear.as_ref().is_some_and(Ear::has_all) {
            self.ear = None;
        }
        Poll::Ready(frame)
    }

    fn is_end(&self) -> bool {
        self.read.is_empty() && self.end.is_none() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match &mut *self {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Own(body) => {
                Pin::new(body).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(Broken::from)))
            }
            Self::Stream(stream) => {
                let frame = stream.poll_next(cx);
                if let Poll::Ready(Some(Err(error))) = &frame {
                    tracing::debug!(%error, "an answer broke off");
                }
                frame
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_none(),
            Self::Own(body) => body.is_end_stream(),
            Self::Stream(stream) => stream.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Self::Own(body) => body.size_hint(),
            Self::Stream(stream) => {
                let read: u64 = stream.read.iter().map(|data| data.len() as u64).sum();
                let rest = stream.rest.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint);
                let mut hint = SizeHint::new();
                hint.set_lower(rest.lower().saturating_add(read));
                if let Some(upper) = rest.upper().filter(|_| stream.end.is_none()) {
                    hint.set_upper(upper.saturating_add(read));
                }
                hint
            }
        }
    }
}
