//! Stands in for the models of `provider`, with the same names and shapes.

use async_trait::async_trait;

/// A model that can be asked for a text.
#[async_trait]
pub trait Model: Send + Sync {
    /// What it is called.
    fn name(&self) -> &str;

    /// What it can take.
    fn limits(&self) -> secateur::Limits;

    /// Asks one question. What arrives on the way goes to `deltas`.
    async fn ask(
        &self,
        question: &Question<'_>,
        deltas: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<Answer, AskError>;
}

/// A piece of an answer that is still being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'d> {
    /// More text.
    Text(&'d str),
    /// What came so far does not count: the question is asked again.
    Restart,
}

/// What a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'q> {
    /// The instructions.
    pub system: &'q str,
    /// The text that they are about.
    pub text: &'q str,
    /// The longest answer.
    pub max_tokens: u64,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// How it ended.
    pub finish: Finish,
    /// What it cost, if the provider says so.
    pub usage: Option<secateur::Usage>,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Complete,
    /// It had no room left.
    Length,
    /// The provider held it back.
    Filtered,
    /// In another way.
    Other,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The question does not fit the window.
    #[error("the question does not fit the model's window")]
    Overflow {
        /// The tokens that the provider counted, if it says so.
        tokens: Option<u64>,
        /// The tokens that it would take, if it says so.
        limit: Option<u64>,
    },
    /// Anything else.
    #[error("the model cannot be asked: {reason}")]
    Unavailable {
        /// What went wrong.
        reason: String,
    },
}
