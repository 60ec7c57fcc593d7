//! Makes a summary of a conversation through a model.
//!
//! ```text
//! Transcript ──gather──▶ pieces ──divide──▶ chunks ──prompt──▶ questions ──▶ a model
//!                        (redacted,          (each fits)        (fenced)         │
//!                         labelled)                                              ▼
//!              the session ◀──check── Summary ◀──────────── answers, each an update of the one before
//! ```
//!
//! A summary is text by a model about text by anybody, and an agent will believe it for the rest of the session. That
//! decides how it is made: everything that is summarised is data behind a fence that it cannot close; credentials are
//! replaced before anything is cut and again on the way out; the number and size of the questions are bounded
//! whatever the conversation holds; and nothing relies on a summary before [`check`] has found no [`SummaryFlaw`].
//!
//! Nothing here talks to the network or a store. [`gather`] and [`check`] are plain functions, and [`summarise`] asks
//! whatever [`LanguageModel`](crate::provider::LanguageModel) it is given.

mod check;
mod chunk;
mod material;
mod piece;
mod prompt;
mod summariser;

pub use check::{ReplacedHistory, SummaryCandidate, SummaryFlaw, check};
pub use chunk::{CHARS_PER_TOKEN, TokenRuler};
pub use material::gather;
pub use piece::{RedactFn, SummaryPiece, Voice};
pub use prompt::{CONTEXT_LIMIT, FOCUS_LIMIT, TASK, TASK_LIMIT};
pub use summariser::{
    CALLS, CHUNKS, ChunkPosition, LEAST_BUDGET, OVERFLOWS, OutputBound, Summary, SummaryError, SummaryInput,
    SummaryProgress, summarise,
};
