//! Writes a summary of a conversation with a model.
//!
//! ```text
//! Transcript ──gather──▶ pieces ──divide──▶ chunks ──prompt──▶ requests ──▶ a model
//!                        (redacted,          (each fits)        (fenced)        │
//!                         labelled)                                             ▼
//!              the session ◀──check── Summary ◀───────── responses, each an update of the one before
//! ```
//!
//! A summary is text by a model about text by anyone, and an agent will believe it for the rest of the session.
//! Therefore: everything that is summarised is data behind a fence that it cannot close; credentials are redacted
//! before anything is cut, and again in the result; the number and size of requests are bounded whatever the
//! conversation contains; and a summary is only used after [`check`] has found no [`SummaryFlaw`].
//!
//! Nothing here uses the network or a store. [`gather`] and [`check`] are plain functions, and [`summarise`] uses the
//! [`LanguageModel`](crate::provider::LanguageModel) that it is given.

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
