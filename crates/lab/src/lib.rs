//! Replays recorded sessions of LLM agents under pruning policies and says what each would have cost and missed.
//!
//! ```text
//! log ──formats──▶ Trace ──replay under a profile──▶ ReplayRun ──many of both──▶ Study ──▶ table, page data, tuned profile
//!                    └──needs of later actions──▶ misses
//! ```
//!
//! Thresholds chosen by feel can make a bill higher: each cut breaks the provider's cached prefix, and what is cut may
//! be needed again. Both can be computed afterwards, because logs keep everything. A [`Trace`] is a session as the sequence
//! of its model calls; [`replay`] plays a policy from the first call on, by the same kernel that runs in production;
//! [`find_needs`] finds what later actions took from tool results, so that a cut which would have hurt is counted as a miss;
//! [`optimum`] says what hindsight could have saved; a [`Study`] pools sessions and says how sure the result is.
//!
//! Recorded behaviour is frozen: after a cut an agent would have acted differently. Only verbatim reuse is seen.
//!
//! ```
//! use secateur::Measures;
//! use secateur_lab::{CommonWords, TraceLabel, PriceSheets, ReplayTerms, Trace, find_needs, profiles, replay};
//!
//! let log = concat!(
//!     r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"hello"}}"#, "\n",
//!     r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"id":"m","role":"assistant","#,
//!     r#""content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":9,"output_tokens":2}}}"#, "\n",
//! );
//! let transcript = secateur_formats::read(log.as_bytes(), &Measures { source: true, excerpt: true, ..Default::default() })?;
//! let traces = Trace::of(&transcript, &TraceLabel::default());
//! let needs = find_needs(&traces, &CommonWords::of(&traces));
//! let sheets = PriceSheets::builtin();
//! let terms = ReplayTerms { sheet: sheets.billed(&traces[0])?, as_billed: true, window: None };
//! let run = replay(&traces[0], &profiles().get("balanced")?, &needs[0], &terms);
//! assert_eq!((run.steps.len(), run.misses.len()), (1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bootstrap;
mod needs;
pub mod optimum;
mod policies;
mod price_sheet;
mod pricing;
mod replay;
mod replayed_session;
mod study;
mod trace;
mod tune;

pub use needs::{CommonWords, TextNeed, find_needs};
pub use policies::{DEFAULT_POLICIES, profiles};
pub use price_sheet::{PriceSheet, PriceSheetError, PriceSheets, SheetBand};
pub use pricing::{Charge, Pricing};
pub use replay::{Miss, ReplayRun, ReplayStep, ReplayTerms, replay};
pub use replayed_session::{PolicyResult, ReplayedSession};
pub use study::data::{
    ContextLine, ContextLines, ContextSession, SheetUse, StudyData, StudyPolicy, StudySession, StudyView,
};
pub use study::{ALL, LEAST_CALLS, ReplayAccuracy, Study, StudyError, StudyOptions, StudyRow};
pub use trace::{Trace, TraceCall, TraceLabel};
pub use tune::{
    Claim, ComparedValue, ParameterChange, SplitUnit, TuneError, TuneOptions, Tuned, TuningComparison, tune,
};
