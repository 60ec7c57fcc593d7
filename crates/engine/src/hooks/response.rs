//! What a hook returns.
//!
//! A response comes from outside and ends up in prompts and logs, so it is parsed strictly and limited in every
//! respect. Texts that inform (a context, the reason of a veto) are cut at their limit. Texts that must be complete
//! (a prompt, an id) are dropped if they are too long: half an instruction is a different instruction.

use serde::{Deserialize, Deserializer};
use serde_json::error::Category;

use super::error::HookError;
use super::moment::{Field, HookMoment};

/// The most context texts of a round of hooks.
pub const MAX_CONTEXTS: usize = 16;

/// The longest context text, in characters.
pub const MAX_CONTEXT: usize = 8_000;

/// The longest total of all context texts of a round, in characters.
pub const MAX_CONTEXTS_TOTAL: usize = 32_000;

/// The longest prompt, in characters.
pub const MAX_PROMPT: usize = 32_000;

/// The longest reason of a veto, in characters.
pub const MAX_VETO: usize = 500;

/// The most parts that a round of hooks may keep.
pub const MAX_KEEP: usize = 1_000;

/// The longest id of a part, in characters.
pub const MAX_ID: usize = 256;

/// What a hook returns; empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookResponse {
    /// Context for the summary.
    #[serde(deserialize_with = "or_default")]
    pub context: Vec<String>,
    /// A prompt to use instead.
    pub prompt: Option<String>,
    /// Why the action should not happen. An empty reason is no veto.
    pub veto: Option<String>,
    /// Ids of parts that must not be cut.
    #[serde(deserialize_with = "or_default")]
    pub keep: Vec<String>,
}

impl HookResponse {
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Maps every text with `f`, for example to redact it before it goes into a prompt or a log. Ids in `keep` stay
    /// as they are; they are compared, and never shown to a model.
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

    /// Parses the response of a program or an endpoint. White space alone is an empty response. At a moment where
    /// responses are ignored, anything is accepted.
    pub(super) fn read(answer: &[u8], moment: HookMoment) -> Result<Self, HookError> {
        let start = answer.trim_ascii_start();
        if start.is_empty() || moment == HookMoment::AfterCompaction {
            return Ok(Self::default());
        }
        // Derived deserialisers also accept a list for a struct.
        if !start.starts_with(b"{") {
            return Err(HookError::Nonsense { what: "no JSON object", line: 1, column: 1 });
        }
        serde_json::from_slice(answer).map_err(|error| {
            let what = match error.classify() {
                Category::Data => "a field of the wrong type",
                Category::Eof => "unexpected end",
                Category::Syntax | Category::Io => "invalid JSON",
            };
            HookError::Nonsense { what, line: error.line(), column: error.column() }
        })
    }

    /// Merges the response of a later hook, as far as `moment` and the limits allow. Returns how many of its texts
    /// and ids were cut or dropped.
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

    /// The number of texts and ids.
    fn count(&self) -> usize {
        let single = usize::from(self.prompt.is_some()) + usize::from(self.veto.is_some());
        self.context.len() + single + self.keep.len()
    }
}

/// A text without control characters other than line breaks and tabs, cut at its limit.
struct Clean {
    text: String,
    /// Whether it was within the limit.
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

/// Reads `null` as empty, as the fields with an `Option` do.
fn or_default<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
