//! Requests of one connection that are not answered to the end yet.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::http::response_body::{Answer, Broken};

/// The requests of a connection.
#[derive(Default)]
pub(crate) struct Visits {
    begun: AtomicU64,
    open: Arc<()>,
}

/// One of them, until its answer is gone.
pub(crate) struct Visit(#[expect(dead_code, reason = "it counts while it lives")] Arc<()>);

/// An answer that ends a visit with its last byte.
pub(crate) struct Visited {
    answer: Answer,
    _visit: Visit,
}

impl Visits {
    pub(crate) fn begin(&self) -> Visit {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Visit(Arc::clone(&self.open))
    }

    /// How many there were.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Whether all are over.
    pub(crate) fn are_over(&self) -> bool {
        Arc::strong_count(&self.open) == 1
    }
}

impl Visit {
    pub(crate) fn answered(self, answer: Answer) -> Visited {
        Visited { answer, _visit: self }
    }
}

impl Body for Visited {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        Pin::new(&mut self.answer).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.answer.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.answer.size_hint()
    }
}
