//! Reads usage from a response while it is sent to the client, then records it and settles the exchange.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::usage_reader::UsageReader;
use crate::conversation::PendingExchange;
use crate::http::response_body::Observer;
use crate::metrics::Recorders;
use crate::outcome::ExchangeReport;

/// Observes a response. The exchange is settled when this is dropped: exactly once, however the response ends.
pub(super) struct ResponseObserver {
    /// None if the response has an encoding that cannot be read.
    pub reader: Option<UsageReader>,
    pub pending: Option<PendingExchange>,
    pub report: ExchangeReport,
    /// The run of an agent that the request belongs to.
    pub run: Option<String>,
    pub recorders: Recorders,
}

impl Observer for ResponseObserver {
    fn observe(&mut self, data: &[u8]) {
        if let Some(reader) = &mut self.reader {
            reader.push(data);
        }
    }

    fn is_done(&self) -> bool {
        self.reader.as_ref().is_some_and(UsageReader::has_all)
    }
}

impl Drop for ResponseObserver {
    fn drop(&mut self) {
        let response = self.reader.take().map(UsageReader::report).unwrap_or_default();
        let settle = |pending: PendingExchange| {
            // The response must reach the client even if this fails.
            let settled = catch_unwind(AssertUnwindSafe(|| pending.settle(response)));
            settled.unwrap_or_else(|_| {
                tracing::error!("panic while a response was settled");
                None
            })
        };
        let effect = self.pending.take().and_then(settle);
        self.recorders.record(&self.report, self.run.as_deref(), response.usage.as_ref(), effect.as_ref());
    }
}
