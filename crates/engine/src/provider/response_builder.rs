//! A response while it arrives.

use std::mem;

use secateur::Usage;
use secateur_formats::response::{FinishReason, ResponseEvent};

use super::error_response;
use super::secret::SecretFilter;
use super::{Delta, Deltas, Finish, ModelError, ModelResponse};

/// What has arrived of a response. One for each request, across retries.
pub(super) struct ResponseBuilder<'d> {
    deltas: &'d mut Deltas<'d>,
    secrets: &'d SecretFilter,
    most: usize,
    max_tokens: u64,
    text: String,
    finish: Option<Finish>,
    usage: Option<Usage>,
    is_refused: bool,
    has_ended: bool,
}

impl<'d> ResponseBuilder<'d> {
    /// An empty response of at most `most` bytes, to a request that allows `max_tokens`.
    pub(super) fn new(
        deltas: &'d mut Deltas<'d>,
        secrets: &'d SecretFilter,
        most: usize,
        max_tokens: u64,
    ) -> Self {
        let (text, finish, usage) = (String::new(), None, None);
        let (is_refused, has_ended) = (false, false);
        Self { deltas, secrets, most, max_tokens, text, finish, usage, is_refused, has_ended }
    }

    /// Starts over. If any text was passed on, it is retracted.
    pub(super) fn restart(&mut self) {
        if !self.text.is_empty() {
            (self.deltas)(Delta::Restart);
        }
        self.text.clear();
        self.finish = None;
        self.usage = None;
        self.is_refused = false;
        self.has_ended = false;
    }

    /// Adds the next event of the response.
    pub(super) fn take(&mut self, event: ResponseEvent<'_>) -> Result<(), ModelError> {
        match event {
            ResponseEvent::Text(text) => self.say(&text.as_str().unwrap_or_default())?,
            ResponseEvent::Refusal => self.is_refused = true,
            ResponseEvent::ToolCall(_) | ResponseEvent::ToolInput => return Err(ModelError::CalledTool),
            ResponseEvent::Usage(usage) => self.usage = Some(usage),
            ResponseEvent::ProviderEdited(_) => {}
            ResponseEvent::Finish { reason, .. } => {
                self.finish = Some(match reason {
                    FinishReason::Complete => Finish::Complete,
                    FinishReason::Length => Finish::Length,
                    FinishReason::Filtered => Finish::Filtered,
                    FinishReason::Other => Finish::Other,
                    FinishReason::ToolCall => return Err(ModelError::CalledTool),
                    FinishReason::Failed => return Err(broken()),
                });
            }
            ResponseEvent::Error(body) => return Err(error_response::judge_event(&body, self.secrets)),
            ResponseEvent::Unreadable(reason) => return Err(self.malformed(&reason)),
            ResponseEvent::End => self.has_ended = true,
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        if text.len() > self.most.saturating_sub(self.text.len()) {
            return Err(ModelError::TooLong { limit: self.most });
        }
        self.text.push_str(text);
        (self.deltas)(Delta::Text(text));
        Ok(())
    }

    /// Whether the provider has said that nothing more comes.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the model has finished. Later errors do not matter.
    pub(super) fn is_done(&self) -> bool {
        self.finish.is_some()
    }

    /// The complete response.
    pub(super) fn finish(&mut self) -> Result<ModelResponse, ModelError> {
        let Some(finish) = self.finish else { return Err(self.cut_off()) };
        let finish = match finish {
            _ if self.is_refused => Finish::Filtered,
            // Some servers always report "completed" (llama.cpp does, in Responses).
            Finish::Complete if self.is_full() => Finish::Length,
            finish => finish,
        };
        if self.text.trim().is_empty() {
            return Err(ModelError::Empty { finish });
        }
        Ok(ModelResponse { text: mem::take(&mut self.text), finish, usage: self.usage })
    }

    /// Whether the text took all allowed tokens.
    fn is_full(&self) -> bool {
        let output = self.usage.and_then(|usage| u64::try_from(usage.output).ok());
        output.is_some_and(|output| output > 0 && output >= self.max_tokens)
    }

    /// The response broke off here.
    pub(super) fn cut_off(&self) -> ModelError {
        ModelError::CutOff { received: self.text.len() }
    }

    /// The response cannot be read.
    pub(super) fn malformed(&self, reason: &str) -> ModelError {
        ModelError::Malformed { reason: self.secrets.clean(reason) }
    }
}

/// The error of a provider that stopped without giving a reason.
fn broken() -> ModelError {
    let message = "the response ended with an unexplained error".to_owned();
    ModelError::Server { status: 500, retry_after: None, message }
}
