//! What a hook is told.
//!
//! The facts of a moment are a variant of [`HookFacts`], so a call cannot name one moment and tell about another. On the
//! wire they lie flat beside `version`, `hook`, `session` and `reason`: a shell script finds what it needs at the
//! first level.

use serde::{Serialize, Serializer};

use super::moment::HookMoment;

/// The version of the wire format. It changes when a field changes its meaning or goes; fields may be added.
pub const VERSION: u32 = 1;

/// What a hook is told. Texts in it are redacted by whoever makes it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The id of the session.
    pub session: String,
    /// Why there is something to do at all.
    pub reason: HookReason,
    /// What is about to happen or has happened.
    pub facts: HookFacts,
}

/// Why there is something to do at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookReason {
    /// The context has reached the size at which something is done.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// Somebody asked for it.
    Manual,
    /// The session was quiet so long that it costs nothing now.
    Idle,
}

/// What is about to happen or has happened, by moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HookFacts {
    /// Parts are about to be cut.
    BeforePrune {
        /// The size of the context before, and after if nothing is kept.
        tokens: ContextTokens,
        /// The parts, oldest first.
        parts: Vec<PartToCut>,
    },
    /// A conversation is about to be summarised.
    BeforeCompaction {
        /// The size of the context.
        tokens: ContextTokens,
        /// What is going to be summarised.
        messages: MessageRange,
        /// The same as text, for notes.
        conversation: String,
        /// The summary of what came before, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_summary: Option<String>,
    },
    /// The prompt for the summary was made.
    SessionCompacting {
        /// The size of the context.
        tokens: ContextTokens,
        /// What is going to be summarised.
        messages: MessageRange,
        /// The model that is going to be asked; none if no model is.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The prompt, without the conversation.
        prompt: String,
    },
    /// The compaction is over.
    AfterCompaction {
        /// The size of the context before and after.
        tokens: ContextTokens,
        /// What was summarised.
        messages: MessageRange,
        /// What came of it.
        #[serde(flatten)]
        ending: CompactionEnding,
    },
    /// A message is about to be added that makes the model go on.
    Autocontinue {
        /// Its text.
        message: String,
    },
}

/// Sizes of a context in tokens, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextTokens {
    /// Before.
    pub before: u64,
    /// After, or as it is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// What the model can take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// MessageRange by number: from `from` on, before `to`.
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
    /// What a reply calls it to [keep](super::HookResponse::keep) it.
    pub id: String,
    /// The number of its message.
    pub message: u64,
    /// The tool whose result it is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// What cutting it saves.
    pub tokens: u64,
}

/// What came of a compaction, as `outcome`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CompactionEnding {
    /// There is a summary.
    Compacted {
        /// It.
        summary: String,
    },
    /// There is none, and nothing was changed.
    Failed {
        /// Why, in a few words.
        why: String,
    },
}

impl HookCall {
    /// The moment that this call is about.
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
