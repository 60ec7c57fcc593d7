//! The zones of a plan: what decides about a part by its place.

use secateur::{Bounds, Floor, PartIx};

/// The zone of a plan that a part is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PlanZone {
    /// It left the context before the plan was made.
    Gone,
    BeforeSummary,
    BeforeCut,
    BeforeFirstUser,
    Prunable,
    Protected,
    Active,
}

impl PlanZone {
    /// The zone of a part of the context.
    pub(crate) fn of(bounds: Bounds, part: PartIx) -> Self {
        match part.0 {
            part if part >= bounds.active => Self::Active,
            part if part >= bounds.protected => Self::Protected,
            part if part >= bounds.floor => Self::Prunable,
            _ => match bounds.floor_kind {
                Floor::Summary => Self::BeforeSummary,
                Floor::Cut => Self::BeforeCut,
                Floor::FirstUser => Self::BeforeFirstUser,
                Floor::None => Self::Prunable,
            },
        }
    }

    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gone => "left the context",
            Self::BeforeSummary => "before a summary",
            Self::BeforeCut => "before an earlier cut",
            Self::BeforeFirstUser => "before the first user message",
            Self::Prunable => "prunable",
            Self::Protected => "protected",
            Self::Active => "active",
        }
    }

    /// What it is, in a sentence.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Gone => "Compacted away, rolled back, or on a branch that was left.",
            Self::BeforeSummary => "A summary stands for what lies before it.",
            Self::BeforeCut => "Everything before an earlier cut was decided then.",
            Self::BeforeFirstUser => "What comes before the first user message stays.",
            Self::Prunable => "Older tool output, which the profile may cut.",
            Self::Protected => "Recent tool output that the profile protects.",
            Self::Active => "The newest turns, which no cut touches.",
        }
    }
}
