//! The few values that labels of counters have, all known beforehand.

use secateur::session::CompactionFailure;
use secateur::{Occasion, Reason};

/// Why less was done to a request with a conversation than might have been. What is not in this list counts as `other`.
pub(super) const CAUSES: [&str; 15] = [
    "large",
    "busy",
    "encoded",
    "type",
    "signed",
    "internal",
    "slow",
    "not-understood",
    "store",
    "kept-by-provider",
    "managed-by-provider",
    "client-compacts",
    "no-room",
    "lint",
    "other",
];

/// Why a request was not let in, or a client not at all.
pub(super) const DENIED: [&str; 11] = [
    "no-token",
    "wrong-token",
    "host",
    "origin",
    "ambiguous",
    "malformed",
    "connect",
    "too-long",
    "too-deep",
    "slow",
    "full",
];

/// What may have been done to a request.
pub(super) const DID: [&str; 6] = ["passed", "kept", "replayed", "pruned", "compacted", "refused"];

/// What may have come of a compaction.
pub(super) const OUTCOMES: [&str; 9] = [
    "summary",
    "digest",
    "vetoed",
    "nothing-to-summarise",
    "model-failed",
    "flawed",
    "no-progress",
    "cancelled",
    "other",
];

/// When cuts are made.
pub(super) const OCCASIONS: [Occasion; 6] = [
    Occasion::SessionStart,
    Occasion::BeforeRequest,
    Occasion::TurnEnd,
    Occasion::Overflow,
    Occasion::Arrival,
    Occasion::Emergency,
];

/// The name of an occasion.
pub(super) fn name(occasion: Occasion) -> &'static str {
    match occasion {
        Occasion::SessionStart => "session-start",
        Occasion::BeforeRequest => "before-request",
        Occasion::TurnEnd => "turn-end",
        Occasion::Overflow => "overflow",
        Occasion::Arrival => "arrival",
        Occasion::Emergency => "emergency",
    }
}

/// Why cuts are made. What is not said counts as `other`.
pub(super) const REASONS: [&str; 12] = [
    "beyond-protected",
    "over-soft-ratio",
    "over-hard-ratio",
    "aggressive",
    "older-than-kept",
    "byte-budget",
    "media-budget",
    "rent",
    "cache-cold",
    "pressure",
    "too-long",
    "other",
];

/// The name of a reason.
pub(super) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::BeyondProtected => "beyond-protected",
        Reason::OverSoftRatio => "over-soft-ratio",
        Reason::OverHardRatio => "over-hard-ratio",
        Reason::Aggressive => "aggressive",
        Reason::OlderThanKept => "older-than-kept",
        Reason::ByteBudget => "byte-budget",
        Reason::MediaBudget => "media-budget",
        Reason::Rent => "rent",
        Reason::CacheCold => "cache-cold",
        Reason::Pressure => "pressure",
        Reason::TooLong => "too-long",
    }
}

/// What came of a compaction that failed for this reason.
pub(super) fn outcome(why: &CompactionFailure) -> &'static str {
    match why {
        CompactionFailure::Vetoed => "vetoed",
        CompactionFailure::NothingToSummarise => "nothing-to-summarise",
        CompactionFailure::Model { .. } => "model-failed",
        CompactionFailure::Flawed { .. } => "flawed",
        CompactionFailure::NoProgress { .. } => "no-progress",
        CompactionFailure::Cancelled => "cancelled",
        _ => "other",
    }
}
