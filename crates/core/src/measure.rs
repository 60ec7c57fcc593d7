//! Measures: the sizes that a reader takes of a part while it reads the text.
//!
//! Policies decide on sizes, never on text, and each system measures text in its own way: UTF-16 units, code points, the
//! length of the JSON that Python would print, weighted characters. The common sizes (bytes, units, code points, images)
//! are always taken: they cost one pass over bytes that are read anyway. The others are taken only if a policy needs
//! them; a [`Policy`](crate::Policy) derives its [`Measures`] from its parameters.

use serde::{Deserialize, Serialize};

/// What a meter counts. The first three are always known, the others only if [`Measures`] asks for them; otherwise they
/// are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// UTF-16 code units: the length of a string in JavaScript.
    #[default]
    Utf16,
    /// Unicode code points: the length of a string in Python.
    CodePoints,
    /// Bytes in the source.
    Bytes,
    /// UTF-16 units of the compact JSON that JavaScript would print.
    JsJson,
    /// Code points of the JSON that Python's `json.dumps(…, ensure_ascii=False)` would print.
    PyJson,
    /// UTF-16 units in which wide characters count more, see [`weighted_len`](crate::weighted_len).
    Weighted,
    /// UTF-16 units in which a character of Chinese, Japanese or Korean text counts as four, see
    /// [`wide_len`](crate::wide_len).
    Wide,
    /// Tokens of OpenAI's `o200k_base` vocabulary, counted exactly (feature `bpe`).
    O200k,
    /// Tokens of OpenAI's `cl100k_base` vocabulary, counted exactly (feature `bpe`).
    Cl100k,
}

/// What a trim keeps of a result that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trim {
    /// Results of up to this many UTF-16 units stay whole.
    pub max: u64,
    /// Units kept from the beginning.
    pub head: u64,
    /// Units kept from the end.
    pub tail: u64,
    /// What happens to a surrogate pair at an edge.
    pub pairs: SurrogatePairs,
}

/// What a trim does to a surrogate pair that lies across its edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurrogatePairs {
    /// It is split, as JavaScript's slices do; each half that is left becomes U+FFFD.
    Split,
    /// The half that would be left is left out.
    Whole,
}

/// Which sizes a reader takes beyond the common ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Take [`Unit::JsJson`].
    pub js_json: bool,
    /// Take [`Unit::PyJson`].
    pub py_json: bool,
    /// Take [`Unit::Weighted`].
    pub weighted: bool,
    /// Take [`Unit::Wide`].
    pub wide: bool,
    /// Take the hash of each result's text, which shows when the source changes.
    pub source: bool,
    /// Take the length of each result's [excerpt](crate::excerpt).
    pub excerpt: bool,
    /// Take exact token counts in this vocabulary.
    pub tokens: Option<Vocabulary>,
    /// Take the length that a result would have after this trim (head and tail only).
    pub trimmed: Option<TrimMeasure>,
    /// Note which results are exactly this text.
    pub placeholder: Option<Box<str>>,
}

/// A trim whose result is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimMeasure {
    /// What is kept.
    pub trim: Trim,
    /// How the rest is measured: [`Unit::Weighted`] or [`Unit::Wide`].
    pub unit: Unit,
}

/// A vocabulary for exact token counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o and later.
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Measures {
    /// Adds other measures, so that one reading serves several policies. Of two trims or two placeholders, the first
    /// counts.
    #[must_use]
    pub fn and(self, other: Measures) -> Self {
        Self {
            js_json: self.js_json || other.js_json,
            py_json: self.py_json || other.py_json,
            weighted: self.weighted || other.weighted,
            wide: self.wide || other.wide,
            source: self.source || other.source,
            excerpt: self.excerpt || other.excerpt,
            tokens: self.tokens.or(other.tokens),
            trimmed: self.trimmed.or(other.trimmed),
            placeholder: self.placeholder.or(other.placeholder),
        }
    }

    /// Adds what a meter of this unit needs.
    pub fn with_unit(mut self, unit: Unit) -> Self {
        match unit {
            Unit::Utf16 | Unit::CodePoints | Unit::Bytes => {}
            Unit::JsJson => self.js_json = true,
            Unit::PyJson => self.py_json = true,
            Unit::Weighted => self.weighted = true,
            Unit::Wide => self.wide = true,
            Unit::O200k => self.tokens = Some(Vocabulary::O200k),
            Unit::Cl100k => self.tokens = Some(Vocabulary::Cl100k),
        }
        self
    }
}

/// The sizes of one part. Those that [`Measures`] did not ask for stay zero and are not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// Bytes of the part's content in the source.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// UTF-16 units of the decoded text.
    #[serde(skip_serializing_if = "is_zero")]
    pub units: u64,
    /// Code points of the decoded text.
    #[serde(skip_serializing_if = "is_zero")]
    pub points: u64,
    /// Text blocks that the text consists of.
    #[serde(skip_serializing_if = "is_zero")]
    pub blocks: u32,
    /// Images and other media.
    #[serde(skip_serializing_if = "is_zero")]
    pub images: u32,
    /// See [`Unit::JsJson`].
    #[serde(skip_serializing_if = "is_zero")]
    pub js_json: u64,
    /// See [`Unit::PyJson`].
    #[serde(skip_serializing_if = "is_zero")]
    pub py_json: u64,
    /// See [`Unit::Weighted`].
    #[serde(skip_serializing_if = "is_zero")]
    pub weighted: u64,
    /// See [`Unit::Wide`].
    #[serde(skip_serializing_if = "is_zero")]
    pub wide: u64,
    /// The length of head and tail after the trim of [`Measures::trimmed`].
    #[serde(skip_serializing_if = "is_zero")]
    pub trimmed: u64,
    /// Exact tokens, see [`Measures::tokens`].
    #[serde(skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// UTF-16 units of the excerpt, see [`Measures::excerpt`].
    #[serde(rename = "digest", skip_serializing_if = "is_zero")]
    pub excerpt: u64,
    /// Hash of the text, see [`Measures::source`].
    #[serde(skip_serializing_if = "is_zero")]
    pub source: u64,
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}
