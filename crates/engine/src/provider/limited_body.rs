//! The body of a response, limited in size and time.

use std::time::Duration;

use bytes::Bytes;
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
pub(super) struct LimitedBody<'s> {
    response: Response,
    patience: Duration,
    secrets: &'s SecretFilter,
    received: usize,
    most: usize,
}

impl<'s> LimitedBody<'s> {
    /// The body of `response`, of at most as many bytes as `text` bytes of text may take.
    pub(super) fn new(
        response: Response,
        patience: Duration,
        text: usize,
        secrets: &'s SecretFilter,
    ) -> Self {
        let most = text.saturating_mul(OVERHEAD).max(EVENT);
        Self { response, patience, secrets, received: 0, most }
    }

    /// The next bytes, or none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
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
        Ok(Some(chunk))
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
