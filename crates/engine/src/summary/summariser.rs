//! Asks a model for a summary, in as many questions as it takes and no more than a few.
//!
//! If the material does not fit one question, it comes in chunks, and each question holds the summary so far: the
//! model brings it up to date. So there is nothing to merge in the end, and a summary of a summary is never made
//! without the conversation that it is about. Only if the last answer is too long there is one more question, which
//! asks to shorten it.
//!
//! A provider counts tokens, we estimate them. If it says that a question is too large although it should fit, its
//! own numbers correct the estimate, or the room is halved if it gives none. Every such round makes the next question
//! smaller, and there are at most [`OVERFLOWS`]. Every question has at most one second attempt, which asks to be
//! briefer. So there are never more than [`CALLS`] calls.

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

/// Most chunks that material is divided into.
pub const CHUNKS: usize = 16;

/// Most times that a question is made smaller because a provider says that it does not fit.
pub const OVERFLOWS: u32 = 4;

/// Most calls that one summary takes: two for each chunk, for each refusal and for shortening it in the end.
pub const CALLS: u32 = 2 * (CHUNKS as u32 + OVERFLOWS + 1);

/// The smallest budget, in tokens; a smaller one is raised to it.
pub const LEAST_BUDGET: u64 = 64;

/// What is to be summarised, and how.
#[derive(Clone, Copy)]
pub struct SummaryInput<'j> {
    /// The conversation.
    pub pieces: &'j [SummaryPiece],
    /// The summary of what came before.
    pub previous: Option<&'j str>,
    /// What matters most, in the user's words; at most [`FOCUS_LIMIT`](super::FOCUS_LIMIT) code points count.
    pub focus: Option<&'j str>,
    /// Background that hooks add; at most [`CONTEXT_LIMIT`](super::CONTEXT_LIMIT) code points count.
    pub context: Option<&'j str>,
    /// A hook's task in place of ours; at most [`TASK_LIMIT`](super::TASK_LIMIT) code points count. The rules hold
    /// all the same.
    pub task: Option<&'j str>,
    /// Texts that the summary must hold word for word.
    pub carry: &'j [&'j str],
    /// The tokens that the summary may have. A small window allows for less.
    pub budget: u64,
    /// Characters per token, as learned; [`CHARS_PER_TOKEN`](super::CHARS_PER_TOKEN) before that.
    pub chars_per_token: f64,
    /// Replaces credentials, in everything that goes to the model or comes from it.
    pub redact: &'j RedactFn<'j>,
}

/// A finished summary. Whether it is of any use, [`check`](super::check) says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// How often the model was asked.
    pub calls: u32,
    /// What that cost, as far as the provider said.
    pub usage: Usage,
    /// How many chunks the material came in.
    pub chunks: u32,
    /// How many pieces the model was not shown, for want of room.
    pub left_out: u32,
}

/// Which chunk of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPosition {
    /// The chunk, from 1 on.
    pub chunk: usize,
    /// How many there are.
    pub chunks: usize,
}

/// What happens on the way to a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryProgress<'p> {
    /// The model is asked; what was shown of earlier answers does not count any more.
    Asking {
        /// How often it was asked, this time included.
        call: u32,
        /// Which chunk it is given; none if it is only to shorten what it wrote.
        place: Option<ChunkPosition>,
    },
    /// A finished line of the answer, redacted.
    Line(&'p str),
    /// The answer begins anew.
    Restart,
    /// The question was too large and is made smaller.
    Overflow,
    /// The answer was too long, the model is asked to be briefer.
    Briefer,
}

/// Why there is no summary.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// There is no material.
    #[error("there is nothing to summarise")]
    Nothing,
    /// The window is too small for the question itself.
    #[error(
        "a summary needs a question of at least {needed} tokens, model {model} can take {room}; \
         use a model with a larger window"
    )]
    NoRoom {
        /// The model.
        model: String,
        /// What the question takes without any material, and the least that material takes.
        needed: u64,
        /// What may be asked.
        room: u64,
    },
    /// The provider refused every question as too large.
    #[error(
        "model {model} refused {attempts} questions as too large, the last one of about {tokens} tokens; \
         configure its window"
    )]
    Overflow {
        /// The model.
        model: String,
        /// How many questions it refused.
        attempts: u32,
        /// What the last one was estimated to have.
        tokens: u64,
    },
    /// The answer was too long, also after the model was asked to be briefer.
    #[error("the summary has {tokens} tokens where {budget} are allowed, also when asked to be briefer")]
    TooLong {
        /// What came.
        tokens: u64,
        /// What was allowed.
        budget: u64,
    },
    /// The answer was cut off because it may not be longer, also after the model was asked to be briefer. How long the
    /// summary would have been, nobody knows.
    #[error(
        "the answer of model {model} was cut off by its length limit of {limit} tokens, also when asked to be \
         briefer; raise {bound}"
    )]
    CutOff {
        /// The model.
        model: String,
        /// The most tokens that it was asked for.
        limit: u64,
        /// What that comes from.
        bound: OutputBound,
    },
    /// The answer was blank.
    #[error("model {model} answered nothing")]
    Empty {
        /// The model.
        model: String,
    },
    /// The answer did not end as answers end.
    #[error("model {model} did not finish its answer ({})", ending(*finish))]
    Unfinished {
        /// The model.
        model: String,
        /// How it ended.
        finish: Finish,
    },
    /// There was no answer.
    #[error("model {model} cannot be asked for a summary: {source}")]
    Ask {
        /// The model.
        model: String,
        /// Why.
        source: ModelError,
    },
}

/// How an answer ended, in a word.
pub(super) fn ending(finish: Finish) -> &'static str {
    match finish {
        Finish::Complete => "complete",
        Finish::Length => "cut by its length",
        Finish::Filtered => "filtered",
        Finish::Other => "for an unknown reason",
    }
}

/// Makes a summary. Nothing is stored; dropping the future gives up.
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
        let done = work.chunks();
        let most = if layout.is_single { 1 } else { CHUNKS.saturating_sub(done).max(1) };
        let chunks = divide(rest, layout.rooms, most, work.ruler());
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
