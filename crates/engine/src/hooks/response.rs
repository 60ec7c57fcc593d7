//! What a hook says.
//!
//! A reply comes from outside and ends up in prompts and logs, so it is read strictly and bounded in every
//! direction. What tells somebody something (a context, the reason of a veto) is cut to its limit. What is only right
//! as a whole (a prompt, an id) is left off if it is longer: half an instruction is another instruction.

use serde::{Deserialize, Deserializer};
use serde_json::error::Category;

use super::error::HookError;
use super::moment::{Field, HookMoment};

/// How many context texts a round of hooks may add.
pub const MAX_CONTEXTS: usize = 16;

/// How long a context text may be, in characters.
pub const MAX_CONTEXT: usize = 8_000;

/// How long all context texts of a round may be together, in characters.
pub const MAX_CONTEXTS_TOTAL: usize = 32_000;

/// How long a prompt may be, in characters.
pub const MAX_PROMPT: usize = 32_000;

/// How long the reason of a veto may be, in characters.
pub const MAX_VETO: usize = 500;

/// How many parts a round of hooks may name to keep.
pub const MAX_KEEP: usize = 1_000;

/// How long the id of a part may be, in characters.
pub const MAX_ID: usize = 256;

/// What a hook says; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookResponse {
    /// Texts that the summary should know about.
    #[serde(deserialize_with = "or_default")]
    pub context: Vec<String>,
    /// The prompt to use instead.
    pub prompt: Option<String>,
    /// Why it should not be done. An empty reason is no veto.
    pub veto: Option<String>,
    /// Ids of parts that should not be cut.
    #[serde(deserialize_with = "or_default")]
    pub keep: Vec<String>,
}

impl HookResponse {
    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Replaces every text by what `f` makes of it: the way to redact what is going to be put into a prompt or a
    /// log. Ids in `keep` stay as they are; they are compared, and never shown to a model.
    ///
    /// ```
    /// use secateur_engine::hooks::HookResponse;
    ///
    /// let said = HookResponse { context: vec!["key-123".to_owned()], ..HookResponse::default() };
    /// assert_eq!(said.map_texts(|text| text.replace("123", "…")).context, ["key-…"]);
    /// ```
    #[must_use]
    pub fn map_texts(self, mut f: impl FnMut(&str) -> String) -> Self {
        Self {
            context: self.context.iter().map(|text| f(text)).collect(),
            prompt: self.prompt.as_deref().map(&mut f),
            veto: self.veto.as_deref().map(&mut f),
            keep: self.keep,
        }
    }

    /// Reads what a program or an endpoint answered. White space alone means that it has nothing to say. Where
    /// answers are ignored, anything may be answered.
    pub(super) fn read(answer: &[u8], moment: HookMoment) -> Result<Self, HookError> {
        let start = answer.trim_ascii_start();
        if start.is_empty() || moment == HookMoment::AfterCompaction {
            return Ok(Self::default());
        }
        // Derived readers also take a list for a struct.
        if !start.starts_with(b"{") {
            return Err(HookError::Nonsense { what: "no JSON object", line: 1, column: 1 });
        }
        serde_json::from_slice(answer).map_err(|error| {
            let what = match error.classify() {
                Category::Data => "a field of another kind than expected",
                Category::Eof => "the end comes too early",
                Category::Syntax | Category::Io => "no valid JSON",
            };
            HookError::Nonsense { what, line: error.line(), column: error.column() }
        })
    }

    /// Adds what a later hook said, as far as `moment` and the limits allow. Says how many of its texts and ids were
    /// cut or left off.
    pub(super) fn merge(&mut self, said: Self, moment: HookMoment) -> usize {
        let given = said.count();
        let mut whole = 0;
        if moment.allows(Field::Context) {
            for text in &said.context {
                if self.context.len() == MAX_CONTEXTS {
                    break;
                }
                let used: usize = self.context.iter().map(|text| text.chars().count()).sum();
                let clean = Clean::of(text, MAX_CONTEXT.min(MAX_CONTEXTS_TOTAL.saturating_sub(used)));
                whole += usize::from(clean.whole);
                self.context.extend(clean.some());
            }
        }
        if let Some(text) = said.prompt.filter(|_| moment.allows(Field::Prompt)) {
            let clean = Clean::of(&text, MAX_PROMPT);
            if clean.whole {
                whole += 1;
                self.prompt = clean.some().or(self.prompt.take());
            }
        }
        if let Some(text) = said.veto.filter(|_| self.veto.is_none() && moment.allows(Field::Veto)) {
            let clean = Clean::of(&text, MAX_VETO);
            whole += usize::from(clean.whole);
            self.veto = clean.some();
        }
        if moment.allows(Field::Keep) {
            let room = MAX_KEEP.saturating_sub(self.keep.len());
            let ids = said.keep.iter().take(room).map(|id| Clean::of(id, MAX_ID)).filter(|id| id.whole);
            let before = self.keep.len();
            self.keep.extend(ids.map(|id| id.text));
            whole += self.keep.len() - before;
        }
        given - whole
    }

    /// How many texts and ids there are.
    fn count(&self) -> usize {
        let single = usize::from(self.prompt.is_some()) + usize::from(self.veto.is_some());
        self.context.len() + single + self.keep.len()
    }
}

/// A text without control characters other than line breaks and tabs, cut to its limit.
struct Clean {
    text: String,
    /// Whether it was short enough.
    whole: bool,
}

impl Clean {
    fn of(text: &str, limit: usize) -> Self {
        let mut printable = text.chars().filter(|&point| matches!(point, '\n' | '\t') || !point.is_control());
        let text = printable.by_ref().take(limit).collect();
        Self { text, whole: printable.next().is_none() }
    }

    /// The text, unless it is blank.
    fn some(self) -> Option<String> {
        (!self.text.trim().is_empty()).then_some(self.text)
    }
}

/// Reads `null` as nothing, as the fields with an `Option` do.
fn or_default<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
