//! When and how a session compacts: the settings.
//!
//! The founding systems agree on what a compaction is: a marker asks for a summary, and once the summary is there, older
//! messages are no longer sent. They differ in everything around it: whether pruning is tried first, whether recent
//! turns stay, what follows the summary. Each difference is a setting here, so that one
//! [machine](crate::session::SessionMachine) serves them all.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::amount::Amount;
use crate::tool_filter::matches;

/// When and how a session compacts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompactionSettings {
    /// Whether overflow leads to a compaction without being asked for.
    pub auto: bool,
    /// Whether old tool results are pruned.
    pub prune: bool,
    /// When they are pruned.
    #[serde(deserialize_with = "listed")]
    pub prune_at: Vec<Occasion>,
    /// What is done first at overflow.
    pub order: OverflowOrder,
    /// The text of the marker.
    pub marker: String,
    /// When the marker is written.
    pub marker_at: MarkerAt,
    /// The user message that resumes the work after a compaction; none if there is none.
    pub resume: Option<String>,
    /// When it is written.
    pub resume_when: ResumeWhen,
    /// Whether the user message that overflowed is repeated after the summary.
    pub replay: Replay,
    /// Recent history that stays verbatim; none if nothing does.
    pub tail: Option<RecentTail>,
    /// An upper limit for what is usable, below the model's own limits.
    pub threshold: Option<Amount>,
    /// The longest summary.
    pub summary: Amount,
    /// The most that may be in use after a compaction; none for no limit.
    pub low_water: Option<Amount>,
    /// The least that an automatic compaction must save; none for no limit.
    pub least_gain: Option<Amount>,
    /// From this fill on, a summary is made in the background; none for never.
    pub background: Option<Amount>,
    /// How many times a model is called for one summary.
    pub attempts: u32,
    /// After this many failures in a row the model is not called any more.
    pub breaker: u32,
    /// How long the breaker stays open, in milliseconds.
    pub cooldown_ms: i64,
    /// What happens when no model gives a summary.
    pub fallback: Fallback,
    /// The longest results that stay whole, by patterns of tool names. The longest pattern that matches counts.
    #[serde(default)]
    pub caps: BTreeMap<String, Amount>,
    /// Other values for some models, by patterns of their names. The longest pattern that matches counts.
    #[serde(default)]
    pub models: BTreeMap<String, ForModel>,
}

/// Settings that may differ by model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForModel {
    /// See [`CompactionSettings::threshold`].
    pub threshold: Option<Amount>,
    /// See [`CompactionSettings::background`].
    pub background: Option<Amount>,
    /// See [`CompactionSettings::summary`].
    pub summary: Option<Amount>,
}

/// When a session is pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Occasion {
    /// When it is opened.
    SessionStart,
    /// Before each request.
    BeforeRequest,
    /// When the turn is over.
    TurnEnd,
    /// When it overflows.
    Overflow,
    /// When a result arrives that is over its cap. Profiles cannot list it: caps alone decide.
    Arrival,
    /// When nothing else makes a request fit. Profiles cannot list it.
    Emergency,
    /// When the provider refuses thinking that was made behind other messages. Profiles cannot list it.
    Refusal,
}

/// Reads the occasions that a profile may list. The others occur only in stored operations and events.
fn listed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Occasion>, D::Error> {
    let list = Vec::<Occasion>::deserialize(deserializer)?;
    let is_unlisted = |occasion: &&Occasion| {
        matches!(occasion, Occasion::Arrival | Occasion::Emergency | Occasion::Refusal)
    };
    match list.iter().find(is_unlisted) {
        Some(Occasion::Arrival) => {
            Err(D::Error::custom("`arrival` cannot be listed; `caps` decide what is cut then"))
        }
        Some(Occasion::Refusal) => {
            Err(D::Error::custom("`refusal` cannot be listed; the provider decides when that is"))
        }
        Some(_) => Err(D::Error::custom("`emergency` cannot be listed; what is cut then is the last resort")),
        None => Ok(list),
    }
}

/// What is done first at overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverflowOrder {
    /// Prune, and compact only if that is not enough.
    PruneFirst,
    /// Compact; pruning has its own occasions.
    Compact,
}

/// When the marker of a compaction is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkerAt {
    /// Before the summary is made. The marker stays if there is never a summary.
    Start,
    /// Together with the summary, once that is complete.
    End,
}

/// When the message that resumes the work is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResumeWhen {
    /// Never.
    Never,
    /// If the model was interrupted and no other message waits for a response.
    Interrupted,
    /// After every automatic compaction.
    Auto,
    /// After every automatic attempt, failed ones included.
    Always,
}

/// Whether the user message that overflowed is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replay {
    /// No.
    Never,
    /// If the provider refused the request as too long. The message is then not summarised.
    Overflowed,
}

/// What happens when no model gives a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// A digest, made by rules, takes its place. It always fits.
    Digest,
    /// Nothing changes.
    Nothing,
}

/// How much recent history stays verbatim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecentTail {
    /// The most turns; none for all that fit.
    pub turns: Option<u32>,
    /// The most tokens.
    pub tokens: Amount,
    /// A lower bound for `tokens`.
    #[serde(default)]
    pub at_least: u32,
    /// An upper bound for `tokens`.
    pub at_most: Option<u32>,
    /// Whether the last user message stays even if it is older.
    #[serde(default)]
    pub request: bool,
}

impl RecentTail {
    /// The budget in tokens.
    pub fn budget(&self, usable: i64) -> i64 {
        let budget = self.tokens.of(usable).max(self.at_least.into());
        self.at_most.map_or(budget, |most| budget.min(most.into()))
    }
}

impl CompactionSettings {
    /// The settings for this model; where it has none, those for all models.
    pub fn for_model(&self, model: &str) -> ForModel {
        let own = best(&self.models, model).copied().unwrap_or_default();
        ForModel {
            threshold: own.threshold.or(self.threshold),
            background: own.background.or(self.background),
            summary: own.summary.or(Some(self.summary)),
        }
    }

    /// The longest result of this tool that stays whole.
    pub fn cap(&self, tool: &str) -> Option<Amount> {
        best(&self.caps, tool).copied()
    }
}

/// The value of the longest pattern that matches.
fn best<'v, V>(values: &'v BTreeMap<String, V>, name: &str) -> Option<&'v V> {
    let matching = values.iter().filter(|(pattern, _)| matches(pattern, name));
    matching.max_by_key(|(pattern, _)| pattern.len()).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Layer, Profiles};

    fn settings(page: &str) -> CompactionSettings {
        let layer = Layer { origin: "test".to_owned(), values: page.parse().unwrap() };
        Profiles::builtin().get_with("balanced", &[layer]).unwrap().compaction
    }

    #[test]
    fn the_longest_pattern_that_matches_counts() {
        let settings = settings(
            r#"
            [compaction]
            threshold = "90%"
            caps = { "*" = "25%", "read*" = 9000, "read_image" = 100 }
            [compaction.models."claude-*"]
            threshold = 120000
            [compaction.models."claude-opus-*"]
            threshold = "50%"
            "#,
        );
        assert_eq!(settings.cap("read_file"), Some(Amount::Tokens(9_000)));
        assert_eq!(settings.cap("read_image"), Some(Amount::Tokens(100)));
        assert_eq!(settings.cap("bash"), Some(Amount::Share(2_500)));
        assert_eq!(settings.for_model("gpt-x").threshold, Some(Amount::Share(9_000)));
        assert_eq!(settings.for_model("claude-sonnet-x").threshold, Some(Amount::Tokens(120_000)));
        assert_eq!(settings.for_model("claude-opus-x").threshold, Some(Amount::Share(5_000)));
        assert_eq!(settings.for_model("claude-opus-x").summary, Some(settings.summary));
    }

    #[test]
    fn a_tail_has_a_least_and_a_most() {
        let recent = RecentTail {
            turns: None,
            tokens: Amount::Share(2_500),
            at_least: 2_000,
            at_most: Some(15_000),
            request: false,
        };
        assert_eq!([4_000, 20_000, 200_000].map(|usable| recent.budget(usable)), [2_000, 5_000, 15_000]);
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for page in [
            "[compaction]\nthreshold = \"120%\"",
            "[compaction]\nthreshold = -1",
            "[compaction]\nbreaker = 0",
            "[compaction]\nresume = \" \"",
            "[compaction]\nprune_at = [\"arrival\"]",
            "[compaction]\nsumary = 5",
        ] {
            let layer = Layer { origin: "test".to_owned(), values: page.parse().unwrap() };
            let error = Profiles::builtin().get_with("balanced", &[layer]).unwrap_err().to_string();
            assert!(error.contains("compaction."), "{page}: {error}");
        }
    }
}
