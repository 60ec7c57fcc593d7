//! When hooks are called.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point at which hooks are called, with its name in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Moment")]
pub enum HookMoment {
    /// Parts are about to be cut. A hook may veto or name parts to keep.
    BeforePrune,
    /// A conversation is about to be summarised. A hook may take notes, add context for the summary, or veto.
    BeforeCompaction,
    /// The prompt for the summary was composed. A hook may replace it, add context, or veto.
    #[serde(rename = "session.compacting")]
    SessionCompacting,
    /// The compaction has ended. Responses are ignored.
    AfterCompaction,
    /// A message is about to be added that makes the model continue. A hook may veto.
    Autocontinue,
}

/// A field of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Context,
    Prompt,
    Veto,
    Keep,
}

impl HookMoment {
    /// All moments, in the order in which they occur.
    pub const ALL: [Self; 5] = [
        Self::BeforePrune,
        Self::BeforeCompaction,
        Self::SessionCompacting,
        Self::AfterCompaction,
        Self::Autocontinue,
    ];

    /// The name in JSON and in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforePrune => "before_prune",
            Self::BeforeCompaction => "before_compaction",
            Self::SessionCompacting => "session.compacting",
            Self::AfterCompaction => "after_compaction",
            Self::Autocontinue => "autocontinue",
        }
    }

    /// Whether a response may use this field.
    pub(super) fn allows(self, field: Field) -> bool {
        match self {
            Self::BeforePrune => matches!(field, Field::Veto | Field::Keep),
            Self::BeforeCompaction => matches!(field, Field::Veto | Field::Context),
            Self::SessionCompacting => matches!(field, Field::Veto | Field::Context | Field::Prompt),
            Self::AfterCompaction => false,
            Self::Autocontinue => field == Field::Veto,
        }
    }
}

impl fmt::Display for HookMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
