//! What a hook receives.
//!
//! The facts are a variant of [`HookFacts`] for each moment, so a call cannot name one moment and describe another.
//! In JSON they are flattened beside `version`, `hook`, `session` and `reason`: a shell script finds everything at
//! the top level.

use serde::{Serialize, Serializer};

use super::moment::HookMoment;

/// The version of the JSON format. It changes when a field changes its meaning or is removed; fields may be added.
pub const VERSION: u32 = 1;

/// What a hook receives. The caller has redacted the texts in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The id of the session.
    pub session: String,
    /// Why something is done.
    pub reason: HookReason,
    /// What is about to happen or has happened.
    pub facts: HookFacts,
}

/// Why something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookReason {
    /// The context has reached its threshold.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// The user asked for it.
    Manual,
    /// The session was idle so long that it costs nothing now.
    Idle,
}

/// What is about to happen or has happened, by moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HookFacts {
    /// Parts are about to be cut.
    BeforePrune {
        /// The size of the context before, and after if no part is kept.
        tokens: ContextTokens,
        /// The parts, oldest first.
        parts: Vec<PartToCut>,
    },
    /// A conversation is about to be summarised.
    BeforeCompaction {
        /// The size of the context.
        tokens: ContextTokens,
        /// The messages to summarise.
        messages: MessageRange,
        /// The same as text.
        conversation: String,
        /// The previous summary, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_summary: Option<String>,
    },
    /// The prompt for the summary was composed.
    SessionCompacting {
        /// The size of the context.
        tokens: ContextTokens,
        /// The messages to summarise.
        messages: MessageRange,
        /// The model that will be used; none for a digest.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The prompt, without the conversation.
        prompt: String,
    },
    /// The compaction has ended.
    AfterCompaction {
        /// The size of the context before and after.
        tokens: ContextTokens,
        /// The summarised messages.
        messages: MessageRange,
        /// The result.
        #[serde(flatten)]
        ending: CompactionEnding,
    },
    /// A message is about to be added that makes the model continue.
    Autocontinue {
        /// Its text.
        message: String,
    },
}

/// Sizes of a context in tokens, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextTokens {
    /// Before.
    pub before: u64,
    /// After, possibly estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// Messages by number: `from..to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageRange {
    /// The first.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
}

/// A part that is about to be cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartToCut {
    /// The id with which a response [keeps](super::HookResponse::keep) it.
    pub id: String,
    /// The number of its message.
    pub message: u64,
    /// The tool whose result it is, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// What cutting it saves.
    pub tokens: u64,
}

/// The result of a compaction, as `outcome`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CompactionEnding {
    /// There is a summary.
    Compacted {
        /// The summary.
        summary: String,
    },
    /// There is no summary, and nothing was changed.
    Failed {
        /// Why, in a few words.
        why: String,
    },
}

impl HookCall {
    /// The moment of this call.
    pub fn moment(&self) -> HookMoment {
        match self.facts {
            HookFacts::BeforePrune { .. } => HookMoment::BeforePrune,
            HookFacts::BeforeCompaction { .. } => HookMoment::BeforeCompaction,
            HookFacts::SessionCompacting { .. } => HookMoment::SessionCompacting,
            HookFacts::AfterCompaction { .. } => HookMoment::AfterCompaction,
            HookFacts::Autocontinue { .. } => HookMoment::Autocontinue,
        }
    }
}

impl Serialize for HookCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct HookCallBody<'a> {
            version: u32,
            hook: HookMoment,
            session: &'a str,
            reason: HookReason,
            #[serde(flatten)]
            facts: &'a HookFacts,
        }
        let Self { session, reason, facts } = self;
        HookCallBody { version: VERSION, hook: self.moment(), session, reason: *reason, facts }
            .serialize(serializer)
    }
}
