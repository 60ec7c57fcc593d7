//! The body of a request on its way to a provider.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::http::min_rate::Pace;

/// A body: what was read of it, and then what was not.
pub(crate) struct Outgoing {
    read: VecDeque<Bytes>,
    left: u64,
    rest: Option<Rest>,
    progress: Arc<Progress>,
}

/// What the client has still to send.
struct Rest {
    body: Incoming,
    limits: Limits,
    /// How long the client was waited for. The provider's time is not the client's.
    waited: Duration,
    /// Since when it is waited for, while it is.
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

/// What a client may do with a body that is passed on as it comes.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Where the body is cut off, in bytes.
    pub most: u64,
    pub pace: Pace,
}

/// Why a body does not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cut {
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    #[error("it is {0:?}")]
    Over(Limit),
}

/// What a client did not keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    TooLong,
    TooSlow,
}

/// How far a body has come.
#[derive(Default)]
pub(crate) struct Progress {
    bytes: AtomicU64,
    over: OnceLock<Limit>,
    end: Notify,
}

impl Progress {
    /// How many bytes went out.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Why it was cut off, if it was.
    pub(crate) fn over(&self) -> Option<Limit> {
        self.over.get().copied()
    }

    /// Waits for the end. Only one may wait.
    pub(crate) async fn end(&self) {
        self.end.notified().await;
    }
}

impl Rest {
    /// The next frame, unless the client, which has sent so many bytes, takes too long for it.
    fn poll_frame(&mut self, cx: &mut Context<'_>, bytes: u64) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.waited += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
            return Poll::Ready(frame.map(|frame| Ok(frame?)));
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        // A time beyond all clocks never comes.
        let Some(deadline) = since.checked_add(self.limits.pace.left(self.waited, bytes)) else {
            return Poll::Pending;
        };
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // One that was set for an earlier frame rings too early, and is set again.
        while alarm.as_mut().poll(cx).is_ready() {
            if alarm.deadline() >= deadline {
                return Poll::Ready(Some(Err(Cut::Over(Limit::TooSlow))));
            }
            alarm.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

impl Outgoing {
    /// A body that is known to the last byte.
    pub(crate) fn whole(read: Vec<Bytes>) -> Self {
        let mut read = VecDeque::from(read);
        read.retain(|piece| !piece.is_empty());
        let left = read.iter().map(|piece| piece.len() as u64).sum();
        Self { read, left, rest: None, progress: Arc::default() }
    }

    /// What was read, and then the rest.
    pub(crate) fn with_rest(read: Vec<Bytes>, body: Incoming, limits: Limits) -> Self {
        let rest = Rest { body, limits, waited: Duration::ZERO, since: None, alarm: None };
        let rest = Some(rest).filter(|rest| !rest.body.is_end_stream());
        Self { rest, ..Self::whole(read) }
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
            ready!(rest.poll_frame(cx, this.progress.bytes()))
        } else {
            None
        };
        let length = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, |data| data.len() as u64),
            _ => 0,
        };
        let bytes = this.progress.bytes.fetch_add(length, Ordering::Relaxed) + length;
        let frame = match frame {
            Some(Ok(_)) if this.rest.as_ref().is_some_and(|rest| bytes > rest.limits.most) => {
                Some(Err(Cut::Over(Limit::TooLong)))
            }
            frame => frame,
        };
        if let Some(Err(Cut::Over(limit))) = &frame {
            this.progress.over.get_or_init(|| *limit);
        }
        // Whoever is told that the end has come does not ask again.
        if !matches!(frame, Some(Err(_))) && (frame.is_none() || this.is_end_stream()) {
            this.progress.end.notify_one();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && self.rest.as_ref().is_none_or(|rest| rest.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.as_ref().map_or(SizeHint::with_exact(0), |rest| rest.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(self.left));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(self.left));
        }
        hint
    }
}
