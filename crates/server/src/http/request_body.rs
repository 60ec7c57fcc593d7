//! The body of a request: read whole from the client, or passed on to the provider as it comes.

use std::collections::VecDeque;
use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, TRAILER};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::limits::{MinRate, WaitTimer};
use crate::outcome::PassReason;
use crate::quota::MemoryShare;
use crate::settings::Settings;

/// The most memory that is reserved because of a Content-Length alone.
const MAX_RESERVED: u64 = 16 << 20;

/// Why a body was not read to its end.
pub(crate) enum UnreadBody {
    /// It is too long, or there is no memory for it: what was read, and the rest. It can still be passed on.
    Unread(PassReason, Vec<Bytes>, Incoming),
    /// The client broke off.
    Broken,
    /// The client sends nothing, or too slowly, or what is no body.
    Faulty(BodyFault),
}

/// Reads a body whole, if it is not too long and there is memory for it. Its bytes are copied once at most.
pub(crate) async fn read_whole(
    mut body: Incoming,
    settings: &Settings,
    memory: &mut MemoryShare,
) -> Result<Bytes, UnreadBody> {
    let (rate, began, hint) = (MinRate::of(settings), Instant::now(), body.size_hint());
    if hint.lower() > settings.most_body {
        return Err(UnreadBody::Unread(PassReason::Large, vec![], body));
    }
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while !body.is_end_stream() {
        let read = (first.len() + all.len()) as u64;
        let wait = rate.time_left(began.elapsed(), read).min(settings.patience);
        let frame = match timeout(wait, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => {
                return Err(BodyFault::of(&error).map_or(UnreadBody::Broken, UnreadBody::Faulty));
            }
            Err(_) => return Err(UnreadBody::Faulty(BodyFault::TooSlow)),
        };
        let Ok(data) = frame.into_data() else { continue };
        if memory.grow(data.len() as u64).is_err() {
            return Err(UnreadBody::Unread(PassReason::Busy, vec![first, all.into(), data], body));
        }
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                let expected = hint.lower().min(MAX_RESERVED).max((first.len() + data.len()) as u64);
                all.reserve_exact(usize::try_from(expected).unwrap_or(0));
                all.extend_from_slice(&first);
                first = Bytes::new();
            }
            all.extend_from_slice(&data);
        }
        if (first.len() + all.len()) as u64 > settings.most_body {
            let read = if all.is_empty() { first } else { Bytes::from(all) };
            return Err(UnreadBody::Unread(PassReason::Large, vec![read], body));
        }
    }
    Ok(if all.is_empty() { first } else { Bytes::from(all) })
}

/// Why a body with these headers must be passed on unread; none if it may be read.
pub(crate) fn unreadable(headers: &HeaderMap) -> Option<PassReason> {
    // A signed body must not change, and trailers come only after it.
    let signed = ["content-md5", "content-digest", "digest", "repr-digest"];
    if headers.contains_key(TRAILER) || signed.iter().any(|name| headers.contains_key(*name)) {
        return Some(PassReason::Signed);
    }
    let kind = headers.get(CONTENT_TYPE)?.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_json = kind.is_empty()
        || kind.eq_ignore_ascii_case("application/json")
        || kind.eq_ignore_ascii_case("text/json")
        || kind.to_ascii_lowercase().ends_with("+json");
    (!is_json).then_some(PassReason::ContentType)
}

/// A request body on its way to a provider: the pieces that were read, then what the client still has to send.
pub(crate) struct UpstreamBody {
    read: VecDeque<Bytes>,
    left: u64,
    rest: Option<UnsentRest>,
    progress: Arc<SendProgress>,
}

/// What the client still has to send.
struct UnsentRest {
    body: Incoming,
    limits: BodyLimits,
    /// How long the client was waited for. Time that the provider takes does not count.
    waited: Duration,
    timer: WaitTimer,
}

/// Limits for a body that is passed on as it comes.
#[derive(Clone, Copy)]
pub(crate) struct BodyLimits {
    /// The most bytes. A longer body is cut off there.
    pub bytes: u64,
    pub rate: MinRate,
}

/// Why a body ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error(transparent)]
    Broken(hyper::Error),
    #[error("the request body cannot be passed on: {0:?}")]
    Faulty(BodyFault),
}

/// What is wrong with a body that a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFault {
    TooLong,
    TooSlow,
    /// It is not framed as HTTP demands.
    Malformed,
}

impl BodyFault {
    /// What is wrong with a body if reading it failed; none if the client broke off.
    fn of(error: &hyper::Error) -> Option<Self> {
        let cause = error.source()?.downcast_ref::<io::Error>()?;
        matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)
            .then_some(Self::Malformed)
    }
}

/// How much of a body was sent.
#[derive(Default)]
pub(crate) struct SendProgress {
    bytes: AtomicU64,
    fault: OnceLock<BodyFault>,
    end: Notify,
}

impl SendProgress {
    /// How many bytes were sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// What is wrong with the body, if that is why it was not sent.
    pub(crate) fn fault(&self) -> Option<BodyFault> {
        self.fault.get().copied()
    }

    /// Waits for the end. Only one task may wait.
    pub(crate) async fn end(&self) {
        self.end.notified().await;
    }
}

impl UnsentRest {
    /// The next frame, unless the client, which has sent this many bytes, takes too long for it.
    fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
        bytes: u64,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.waited += self.timer.stop();
            let failed = |error| match BodyFault::of(&error) {
                Some(fault) => BodyError::Faulty(fault),
                None => BodyError::Broken(error),
            };
            return Poll::Ready(frame.map(|frame| frame.map_err(failed)));
        }
        ready!(self.timer.poll(cx, self.limits.rate.time_left(self.waited, bytes)));
        Poll::Ready(Some(Err(BodyError::Faulty(BodyFault::TooSlow))))
    }
}

impl UpstreamBody {
    /// A body that is complete.
    pub(crate) fn whole(read: Vec<Bytes>) -> Self {
        let mut read = VecDeque::from(read);
        read.retain(|piece| !piece.is_empty());
        let left = read.iter().map(|piece| piece.len() as u64).sum();
        Self { read, left, rest: None, progress: Arc::default() }
    }

    /// What was read, then the rest as it comes.
    pub(crate) fn with_rest(read: Vec<Bytes>, body: Incoming, limits: BodyLimits) -> Self {
        let rest = UnsentRest { body, limits, waited: Duration::ZERO, timer: WaitTimer::default() };
        let rest = Some(rest).filter(|rest| !rest.body.is_end_stream());
        Self { rest, ..Self::whole(read) }
    }

    /// How much of it was sent, also while it is being sent.
    pub(crate) fn progress(&self) -> Arc<SendProgress> {
        Arc::clone(&self.progress)
    }

    /// Whether the client still has to send some of it.
    pub(crate) fn has_rest(&self) -> bool {
        self.rest.is_some()
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
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
            Some(Ok(_)) if this.rest.as_ref().is_some_and(|rest| bytes > rest.limits.bytes) => {
                Some(Err(BodyError::Faulty(BodyFault::TooLong)))
            }
            frame => frame,
        };
        if let Some(Err(BodyError::Faulty(fault))) = &frame {
            this.progress.fault.get_or_init(|| *fault);
        }
        // Nothing is polled again after the last frame.
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
        longer(&rest, self.left)
    }
}

/// A size hint for a body that comes after this many bytes.
pub(super) fn longer(rest: &SizeHint, bytes: u64) -> SizeHint {
    let mut hint = SizeHint::new();
    hint.set_lower(rest.lower().saturating_add(bytes));
    if let Some(upper) = rest.upper() {
        hint.set_upper(upper.saturating_add(bytes));
    }
    hint
}
