//! Labels for enums of the kernel. Each list here is made from the same lines as the function that names its values.

use secateur::{Occasion, Reason};

/// Declares the labels of an enum: all of them, and the function that gives the one of a value.
macro_rules! labels {
    ($(#[$note:meta])* $all:ident, $name:ident, $type:ident { $($variant:ident = $label:literal,)+ }) => {
        $(#[$note])*
        pub(super) const $all: &[&str] = &[$($label),+];

        pub(super) fn $name(value: $type) -> &'static str {
            match value {
                $($type::$variant => $label,)+
            }
        }
    };
}

labels! {
    /// When cuts are made.
    OCCASIONS, occasion_label, Occasion {
        SessionStart = "session-start",
        BeforeRequest = "before-request",
        TurnEnd = "turn-end",
        Overflow = "overflow",
        Arrival = "arrival",
        Emergency = "emergency",
        Refusal = "refusal",
    }
}

labels! {
    /// Why cuts are made.
    CUT_REASONS, cut_reason_label, Reason {
        BeyondProtected = "beyond-protected",
        OverSoftRatio = "over-soft-ratio",
        OverHardRatio = "over-hard-ratio",
        Aggressive = "aggressive",
        OlderThanKept = "older-than-kept",
        ByteBudget = "byte-budget",
        MediaBudget = "media-budget",
        Rent = "rent",
        CacheCold = "cache-cold",
        PriceBand = "price-band",
        Pressure = "pressure",
        TooLong = "too-long",
        BoundThinking = "bound-thinking",
    }
}

/// The label of cuts whose reason was not recorded.
pub(super) const UNRECORDED: &str = "other";
