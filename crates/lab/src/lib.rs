//! Replays recorded sessions of LLM agents under pruning policies and says what each would have cost and missed.
//!
//! ```text
//! log ──formats──▶ Trace ──replay under a profile──▶ Run ──many of both──▶ Study ──▶ table, page, tuned profile
//!                    └──needs of later actions──▶ misses
//! ```
//!
//! Thresholds chosen by feel can make a bill higher: each cut breaks the provider's cached prefix, and what is cut may
//! be needed again. Both can be told afterwards, because logs keep everything. A [`Trace`] is a session as the sequence
//! of its model calls; [`replay`] plays a policy from the first call on, by the same kernel that runs in production;
//! [`needs`] finds what later actions took from tool results, so that a cut which would have hurt is counted as a miss;
//! [`optimum`] says what hindsight could have saved; a [`Study`] pools sessions and says how sure the result is.
//!
//! Recorded behaviour is frozen: after a cut an agent would have acted differently. Only verbatim reuse is seen.
//!
//! ```
//! use secateur::Measures;
//! use secateur_lab::{General, Label, Sheets, Terms, Trace, needs, profiles, replay};
//!
//! let log = concat!(
//!     r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"hello"}}"#, "\n",
//!     r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"id":"m","role":"assistant","#,
//!     r#""content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":9,"output_tokens":2}}}"#, "\n",
//! );
//! let transcript = secateur_formats::read(log.as_bytes(), &Measures { source: true, digest: true, ..Default::default() })?;
//! let traces = Trace::of(&transcript, &Label::default());
//! let needs = needs(&traces, &General::of(&traces));
//! let sheets = Sheets::builtin();
//! let terms = Terms { sheet: sheets.billed(&traces[0])?, as_billed: true, window: None };
//! let run = replay(&traces[0], &profiles().get("balanced")?, &needs[0], &terms);
//! assert_eq!((run.steps.len(), run.misses.len()), (1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bill;
pub mod bootstrap;
mod case;
mod crew;
mod harm;
pub mod optimum;
mod page;
mod policies;
mod replay;
mod sheet;
mod study;
mod trace;
mod tune;

pub use bill::{Bill, Billed};
pub use case::{Case, Outcome};
pub use crew::each;
pub use harm::{General, Need, needs};
pub use page::page;
pub use policies::{USUAL, profiles};
pub use replay::{Miss, Run, Step, Terms, replay};
pub use sheet::{Sheet, SheetError, Sheets};
pub use study::{ALL, LEAST_CALLS, Nearness, Options, Row, Study, StudyError};
pub use trace::{Call, Label, Trace};
pub use tune::{Change, Claim, Compared, Comparison, Together, TuneError, TuneOptions, Tuned, tune};
