//! The body of a response, limited in size and time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, stream};
use reqwest::Response;
use tokio::time::timeout;

use super::ModelError;
use super::secret::SecretFilter;

/// The most bytes of one event, or of a response that is not streamed. Its text may be escaped, and Responses repeat
/// the request in it.
pub(super) const EVENT: usize = 8 << 20;

/// How many bytes may be received for each allowed byte of text. A stream with one event for each token, thinking
/// included, needs about sixty.
const OVERHEAD: usize = 256;

/// The most bytes of an error's body that are read.
const REFUSAL: usize = 64 << 10;

/// The body of a response while it is read.
pub(super) struct ResponseBody<'s> {
    response: Response,
    patience: Duration,
    secrets: &'s SecretFilter,
    /// The bytes received since the last complete event.
    pending: &'s AtomicUsize,
    received: usize,
    most: usize,
}

impl<'s> ResponseBody<'s> {
    /// The body of `response`, limited to what `text` bytes of text can take. The caller sets `pending` to zero after
    /// each event.
    pub(super) fn new(
        response: Response,
        patience: Duration,
        text: usize,
        secrets: &'s SecretFilter,
        pending: &'s AtomicUsize,
    ) -> Self {
        let most = text.saturating_mul(OVERHEAD).max(EVENT);
        Self { response, patience, secrets, pending, received: 0, most }
    }

    /// The next bytes, or none at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        let chunk = timeout(self.patience, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| ModelError::Silent { after: self.patience })?;
        let chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(None),
            Err(error) if self.received == 0 => return Err(network(error, self.secrets)),
            Err(_) => return Err(ModelError::CutOff { received: 0 }),
        };
        self.received = self.received.saturating_add(chunk.len());
        if self.received > self.most {
            return Err(ModelError::TooLong { limit: self.most });
        }
        if self.pending.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len() > EVENT {
            return Err(ModelError::TooLong { limit: EVENT });
        }
        Ok(Some(chunk))
    }

    /// Reads everything.
    pub(super) async fn read(mut self) -> Result<Vec<u8>, ModelError> {
        let mut body = vec![];
        while let Some(chunk) = self.next().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Streams the bytes.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Bytes, ModelError>> {
        stream::unfold(self, async |mut source| match source.next().await {
            Ok(chunk) => chunk.map(|chunk| (Ok(chunk), source)),
            Err(error) => Some((Err(error), source)),
        })
    }
}

/// Reads the body of an error as far as possible, up to a limit.
pub(super) async fn read_refusal(mut response: Response, patience: Duration) -> String {
    let mut body = vec![];
    while let Ok(Ok(Some(chunk))) = timeout(patience, response.chunk()).await {
        let room = REFUSAL - body.len();
        body.extend(chunk.iter().take(room));
        if body.len() == REFUSAL {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

/// Why the provider could not be reached, with all causes. The URL is left out, since it may have a key in its query.
pub(super) fn network(error: reqwest::Error, secrets: &SecretFilter) -> ModelError {
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
    while let Some(inner) = cause {
        reason = format!("{reason}: {inner}");
        cause = inner.source();
    }
    ModelError::Network { reason: secrets.clean(&reason) }
}
