//! The pure kernel of Secateur: it decides what to prune, what overflows and where a history pivots.
//!
//! An LLM agent resends its whole conversation with every request, and most of it is old tool output. This crate
//! decides which of it is still sent, and does nothing else:
//!
//! ```text
//! Outline + Policy + Situation + Memory  ──plan──▶  Plan
//! (facts,   (which    (this         (earlier        (cuts with reasons,
//!  no text)  rule)     request)      cuts)           or why there are none)
//! ```
//!
//! **Policies never see text.** An [`Outline`] is one small row of facts per part: kind, tool, status, sizes. A reader
//! (the crate `secateur-formats` has some) makes it while it reads the text. So one planning function serves every format
//! and every store, a plan costs nanoseconds per part, and a plan can be tested, stored and explained without the text.
//!
//! **A [`Plan`] is data.** It changes nothing. Every cut has a [`Reason`]; for every other part [`Policy::verdict`] says
//! why it is kept; if nothing is cut, [`Plan::idle`] says why. After the request, [`Memory::commit`] remembers the cuts,
//! so that later requests repeat them byte for byte and the provider's prompt cache stays warm.
//!
//! **Systems are parameters.** OpenCode, OpenClaw, openagentic-sdk, Qwery and Anthropic's own context editing differ
//! in comparisons, rounding and boundaries, not in kind. Three families cover them: [`Watermark`], [`Ratio`] and
//! [`KeepLast`]; Secateur's own is [`Rent`]. A [`Profile`] is a TOML file with a family and its parameters; [`Profiles`]
//! finds it by name.
//!
//! **Pure.** No I/O, no clock, no environment, no randomness, and no panic on any input. Time and model are handed in as
//! a [`Situation`].
//!
//! ```
//! use secateur::{PartKind, Memory, MessageFacts, Outline, PartFacts, Profiles, Role, Situation, Sizes, ToolStatus, Verdict};
//!
//! // Two old results of 120,000 and 150,000 characters, then two more user messages.
//! let profile = Profiles::builtin().get("opencode")?;
//! let mut outline = Outline::new(profile.policy.measures());
//! outline.push_message(MessageFacts { role: Role::User, ..Default::default() });
//! outline.push_message(MessageFacts { role: Role::Assistant, ..Default::default() });
//! let mut result = |units| outline.push_part(PartFacts {
//!     kind: PartKind::Result,
//!     status: ToolStatus::Completed,
//!     tool: Some("read"),
//!     sizes: Sizes { units, ..Default::default() },
//!     ..Default::default()
//! });
//! let (old, newer) = (result(120_000), result(150_000));
//! outline.push_message(MessageFacts { role: Role::User, ..Default::default() });
//! outline.push_message(MessageFacts { role: Role::User, ..Default::default() });
//!
//! let mut memory = Memory::default();
//! let plan = profile.policy.plan(&outline, &Situation::default(), &memory);
//! assert!(matches!(profile.policy.verdict(&outline, &memory, &plan, old), Verdict::Cut(_)));
//! assert!(matches!(profile.policy.verdict(&outline, &memory, &plan, newer), Verdict::Kept(_)));
//!
//! // Decided once: after the commit there is nothing left to do.
//! memory.commit(&plan, &outline, &profile.policy.placeholder);
//! assert!(profile.policy.plan(&outline, &Situation::default(), &memory).is_empty());
//! # Ok::<(), secateur::ProfileError>(())
//! ```
//!
//! [`PlanIndex`] plans one more turn of a long session without scanning all of it again. [`OverflowRule`] says when a
//! context overflows, [`PivotRule`] which messages are visible after a compaction, [`Catalogue`] what models can take and
//! cost.

mod amount;
#[cfg(feature = "bpe")]
mod bpe;
mod budget;
mod cache;
mod calibration;
mod catalogue;
mod compaction;
mod excerpt;
mod keep_last;
mod limits;
mod line_range;
mod measure;
mod memory;
mod meter;
mod names;
mod outline;
mod pivot;
mod placeholder;
mod plan;
mod plan_index;
mod policy;
mod price;
mod profile;
mod ratio;
mod rent;
pub mod session;
mod situation;
mod staleness;
mod tail;
mod timeline;
mod tool_class;
mod tool_filter;
mod usage;
mod watermark;
mod weight;
mod window;

pub use amount::Amount;
#[cfg(feature = "bpe")]
pub use bpe::count_tokens;
pub use budget::Budget;
pub use cache::{Cache, Lifetime};
pub use calibration::Calibration;
pub use catalogue::{Catalogue, CatalogueError, ModelInfo, claude_version};
pub use compaction::{
    CompactionSettings, Fallback, ForModel, MarkerAt, Occasion, OverflowOrder, RecentTail, Replay, ResumeWhen,
};
pub use excerpt::excerpt;
pub use keep_last::{KeepLast, KeepLastTrigger};
pub use limits::{Comparison, Exhausted, Given, Limits, Overflow, OverflowRule, Reserve, Term};
pub use line_range::LineRange;
pub use measure::{Measures, Sizes, SurrogatePairs, Trim, TrimMeasure, Unit, Vocabulary};
pub use memory::{Memory, RememberedCut};
pub use meter::{Meter, Rounding};
pub use names::{Name, Names};
pub use outline::{
    Category, MessageFacts, MessageIx, MessagePick, ModelCall, Outline, PartFacts, PartIx, PartKind, Role,
    ToolStatus,
};
pub use pivot::{MARKER, PivotRule, PivotStart, Tail, Unfinished};
pub use placeholder::{HANDLE_LETTERS, fill_excerpt, fill_handle, fill_placeholder, recall_note};
pub use plan::{Action, Bounds, Cut, Floor, Idle, Keep, Plan, Reason, Scale, Totals, Verdict};
pub use plan_index::PlanIndex;
pub use policy::{Family, Lasting, PLACEHOLDER, Policy};
pub use price::{BandLimits, Price, PriceBand, PriceList};
pub use profile::{Layer, Profile, ProfileError, Profiles, Reproduces};
pub use ratio::{Characters, IMAGE_REMOVED, Images, Ratio, RatioMode, TRIM_GAP, trim_note};
pub use rent::{Ages, Cap, Inputs, Pressure, Rent};
pub use situation::{CutPurpose, Pass, Rethinking, Situation, Thinking};
pub use staleness::Stale;
pub use tail::{TailRule, tail_start};
pub use timeline::TimelinePoint;
pub use tool_class::ToolClass;
pub use tool_filter::{Fold, ToolFilter, is_js_space};
pub use usage::Usage;
pub use watermark::{AtSummary, Crossing, Extent, FirstCheck, Obstacle, TurnMessage, Watermark};
pub use weight::{weighted_len, wide_len};
pub use window::{DEFAULT_WINDOW, WindowHints, WindowOrder, WindowRule, WindowSource};
