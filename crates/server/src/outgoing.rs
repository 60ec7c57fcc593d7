//! The body of a request on its way to a provider.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::Notify;

/// A body: what was read of it, and then what was not.
pub(crate) struct Outgoing {
    read: VecDeque<Bytes>,
    left: u64,
    rest: Option<Incoming>,
    most: u64,
    progress: Arc<Progress>,
}

/// Why a body does not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cut {
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    #[error("it is too long")]
    TooLong,
}

/// How far a body has come.
#[derive(Default)]
pub(crate) struct Progress {
    bytes: AtomicU64,
    is_too_long: AtomicBool,
    end: Notify,
}

impl Progress {
    /// How many bytes went out.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether it was cut off because it does not end.
    pub(crate) fn is_too_long(&self) -> bool {
        self.is_too_long.load(Ordering::Relaxed)
    }

    /// Waits for the end. Only one may wait.
    pub(crate) async fn end(&self) {
        self.end.notified().await;
    }
}

impl Outgoing {
    /// What was read, and then the rest, which is cut off where both have become longer than `most` bytes.
    pub(crate) fn new(mut read: VecDeque<Bytes>, rest: Option<Incoming>, most: u64) -> Self {
        read.retain(|piece| !piece.is_empty());
        let left = read.iter().map(|piece| piece.len() as u64).sum();
        let rest = rest.filter(|rest| !rest.is_end_stream());
        Self { read, left, rest, most, progress: Arc::default() }
    }

    /// How far it has come, to be asked while it is on its way.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Whether the client has still to send some of it.
    pub(crate) fn has_rest(&self) -> bool {
        self.rest.is_some()
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let this = &mut *self;
        let frame = if let Some(piece) = this.read.pop_front() {
            this.left -= piece.len() as u64;
            Some(Ok(Frame::data(piece)))
        } else if let Some(rest) = &mut this.rest {
            ready!(Pin::new(rest).poll_frame(cx)).map(|frame| Ok(frame?))
        } else {
            None
        };
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let length = data.len() as u64;
            let before = this.progress.bytes.fetch_add(length, Ordering::Relaxed);
            if before + length > this.most {
                this.progress.is_too_long.store(true, Ordering::Relaxed);
                return Poll::Ready(Some(Err(Cut::TooLong)));
            }
        }
        // Whoever is told that the end has come does not ask again.
        if !matches!(frame, Some(Err(_))) && (frame.is_none() || this.is_end_stream()) {
            this.progress.end.notify_one();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(self.left));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(self.left));
        }
        hint
    }
}
