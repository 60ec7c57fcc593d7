//! Has a model write a summary, in as few requests as possible and a bounded number.
//!
//! If the material does not fit one request, it is sent in chunks, and each request contains the summary so far,
//! which the model updates. So nothing has to be merged, and a summary is never summarised without the conversation
//! that it is about. If the last summary is too long, one more request shortens it.
//!
//! A provider counts tokens, we estimate them. If it refuses a request as too large that should fit, its own numbers
//! correct the estimate, or the budget is halved if it gives none. Each such round makes the next request smaller,
//! and there are at most [`OVERFLOWS`]. Each request has at most one second attempt, which asks for a briefer
//! summary. So there are never more than [`CALLS`] calls.

mod call_budget;
mod progress_lines;
mod run;

use secateur::Usage;
use thiserror::Error;

use super::chunk::divide;
use super::piece::{RedactFn, SummaryPiece};
use crate::provider::{Finish, LanguageModel, ModelError};
pub use call_budget::OutputBound;
use run::{SummaryRun, Taken};

/// The most chunks of material.
pub const CHUNKS: usize = 16;

/// How often a request is made smaller because a provider refuses it.
pub const OVERFLOWS: u32 = 4;

/// The most calls for one summary: two for each chunk, for each refusal and for the final shortening.
pub const CALLS: u32 = 2 * (CHUNKS as u32 + OVERFLOWS + 1);

/// The smallest budget, in tokens; a smaller one is raised to it.
pub const LEAST_BUDGET: u64 = 64;

/// What is to be summarised, and how.
#[derive(Clone, Copy)]
pub struct SummaryInput<'j> {
    /// The conversation.
    pub pieces: &'j [SummaryPiece],
    /// The previous summary.
    pub previous: Option<&'j str>,
    /// What matters most, in the user's words; cut at [`FOCUS_LIMIT`](super::FOCUS_LIMIT) code points.
    pub focus: Option<&'j str>,
    /// Background from hooks; cut at [`CONTEXT_LIMIT`](super::CONTEXT_LIMIT) code points.
    pub context: Option<&'j str>,
    /// A hook's task in place of the default one; cut at [`TASK_LIMIT`](super::TASK_LIMIT) code points. The rules
    /// still apply.
    pub task: Option<&'j str>,
    /// Texts that the summary must contain word for word.
    pub carry: &'j [&'j str],
    /// The tokens that the summary may have. A small window allows fewer.
    pub budget: u64,
    /// Characters per token from calibration; [`CHARS_PER_TOKEN`](super::CHARS_PER_TOKEN) before that.
    pub chars_per_token: f64,
    /// Redacts credentials in everything that goes to the model or comes from it.
    pub redact: &'j RedactFn<'j>,
}

/// A finished summary. [`check`](super::check) decides whether it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// How many requests were sent.
    pub calls: u32,
    /// The usage that the provider reported.
    pub usage: Usage,
    /// The number of chunks.
    pub chunks: u32,
    /// How many pieces were left out for lack of space.
    pub left_out: u32,
}

/// Which chunk of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPosition {
    /// The chunk, from 1.
    pub chunk: usize,
    /// The number of chunks.
    pub chunks: usize,
}

/// Progress of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryProgress<'p> {
    /// A request is sent; lines of earlier responses are void.
    Asking {
        /// The number of this request, from 1.
        call: u32,
        /// Its chunk; none if the summary is only to be shortened.
        place: Option<ChunkPosition>,
    },
    /// A complete line of the response, redacted.
    Line(&'p str),
    /// The response starts over.
    Restart,
    /// The request was too large and is made smaller.
    Overflow,
    /// The response was too long; a briefer one is requested.
    Briefer,
}

/// Why there is no summary.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// There is no material.
    #[error("there is nothing to summarise")]
    Nothing,
    /// The window is too small for the prompt itself.
    #[error(
        "a summary needs a request of at least {needed} tokens, but model {model} can take {room}; \
         use a model with a larger window"
    )]
    NoRoom {
        /// The model.
        model: String,
        /// The tokens of the prompt without material, plus the least that material takes.
        needed: u64,
        /// The tokens that a request may have.
        room: u64,
    },
    /// The provider refused every request as too large.
    #[error(
        "model {model} refused {attempts} requests as too large, the last one of about {tokens} tokens; \
         configure its window"
    )]
    Overflow {
        /// The model.
        model: String,
        /// How many requests it refused.
        attempts: u32,
        /// The estimated tokens of the last one.
        tokens: u64,
    },
    /// The summary was too long, even after a briefer one was requested.
    #[error("the summary has {tokens} tokens, {budget} allowed, even after a briefer one was requested")]
    TooLong {
        /// The tokens of the summary.
        tokens: u64,
        /// The allowed tokens.
        budget: u64,
    },
    /// The response was cut off at its limit, even after a briefer one was requested. How long the summary would have
    /// been is unknown.
    #[error(
        "the response of model {model} was cut off at its limit of {limit} tokens, even after a briefer one was \
         requested; raise {bound}"
    )]
    CutOff {
        /// The model.
        model: String,
        /// The requested limit in tokens.
        limit: u64,
        /// What sets that limit.
        bound: OutputBound,
    },
    /// The response was blank.
    #[error("the response of model {model} is blank")]
    Empty {
        /// The model.
        model: String,
    },
    /// The response ended abnormally.
    #[error("model {model} did not finish its response ({})", ending(*finish))]
    Unfinished {
        /// The model.
        model: String,
        /// How it ended.
        finish: Finish,
    },
    /// The request failed.
    #[error("model {model} gave no summary: {source}")]
    Ask {
        /// The model.
        model: String,
        /// Why.
        source: ModelError,
    },
}

/// How a response ended, in words.
pub(super) fn ending(finish: Finish) -> &'static str {
    match finish {
        Finish::Complete => "complete",
        Finish::Length => "cut off at its limit",
        Finish::Filtered => "filtered",
        Finish::Other => "for an unknown reason",
    }
}

/// Writes a summary. Nothing is stored; dropping the future cancels it.
pub async fn summarise(
    model: &dyn LanguageModel,
    job: &SummaryInput<'_>,
    progress: &mut (dyn FnMut(SummaryProgress<'_>) + Send),
) -> Result<Summary, SummaryError> {
    if job.pieces.is_empty() {
        return Err(SummaryError::Nothing);
    }
    let mut work = SummaryRun::new(model, job);
    let mut next = 0;
    while let Some(rest) = job.pieces.get(next..).filter(|rest| !rest.is_empty()) {
        let layout = work.lay_out()?;
        let done = work.chunks;
        let most = if layout.is_single { 1 } else { CHUNKS.saturating_sub(done).max(1) };
        let chunks = divide(rest, layout.rooms, most, work.ruler);
        let start = next;
        for (index, chunk) in chunks.iter().enumerate() {
            let place = ChunkPosition { chunk: done + index + 1, chunks: done + chunks.len() };
            match work.take(&layout, chunk, place, progress).await? {
                Taken::Done => next = start + chunk.end,
                Taken::TooMuch => break,
            }
        }
    }
    work.finish(progress).await
}

#[cfg(test)]
mod tests;
