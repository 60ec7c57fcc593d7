//! A response while it arrives.

use std::mem;

use secateur::Usage;
use serde_json::Value;

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
    held_back: bool,
}

impl<'d> ResponseBuilder<'d> {
    /// An empty response of at most `most` bytes, to a request that allows `max_tokens`.
    pub(super) fn new(
        deltas: &'d mut Deltas<'d>,
        secrets: &'d SecretFilter,
        most: usize,
        max_tokens: u64,
    ) -> Self {
        let (text, finish, usage, held_back) = (String::new(), None, None, false);
        Self { deltas, secrets, most, max_tokens, text, finish, usage, held_back }
    }

    /// Starts over. If any text was passed on, it is retracted.
    pub(super) fn restart(&mut self) {
        if !self.text.is_empty() {
            (self.deltas)(Delta::Restart);
        }
        self.text.clear();
        self.finish = None;
        self.usage = None;
        self.held_back = false;
    }

    /// Adds text.
    pub(super) fn say(&mut self, text: &str) -> Result<(), ModelError> {
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

    /// The model refuses, in text that is not part of the response.
    pub(super) fn hold_back(&mut self) {
        self.held_back = true;
    }

    /// Records why the response ends. The first reason counts.
    pub(super) fn end(&mut self, finish: Finish) {
        self.finish.get_or_insert(finish);
    }

    /// Records why the response ends, possibly not for the last time: the last reason counts.
    pub(super) fn end_for_now(&mut self, finish: Finish) {
        self.finish = Some(finish);
    }

    /// The usage reported so far.
    pub(super) fn counted(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    /// Replaces the reported usage.
    pub(super) fn count(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// Whether no text has arrived yet.
    pub(super) fn is_silent(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the model has finished. Later errors do not matter.
    pub(super) fn is_done(&self) -> bool {
        self.finish.is_some()
    }

    /// The complete response.
    pub(super) fn finish(&mut self) -> Result<ModelResponse, ModelError> {
        let Some(finish) = self.finish else { return Err(self.cut_off()) };
        let finish = match finish {
            _ if self.held_back => Finish::Filtered,
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

    /// The provider stopped without giving a reason.
    pub(super) fn broken(&self) -> ModelError {
        let message = "the response ended with an unexplained error".to_owned();
        ModelError::Server { status: 500, retry_after: None, message }
    }

    /// The provider reported an error within the stream.
    pub(super) fn refuse(&self, body: &Value) -> ModelError {
        error_response::judge_event(body, self.secrets)
    }
}
