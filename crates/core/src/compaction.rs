//! When and how a session compacts: the parameters.
//!
//! The founding systems agree on what a compaction is (a marker asks, a summary answers, older messages are no longer
//! sent) and differ in everything around it: whether pruning is tried first, whether recent turns stay, what follows
//! the summary. Each difference is a parameter here, so that one [machine](crate::Session) serves them all.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::amount::Amount;
use crate::tool_filter::matches;

/// When and how a session compacts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompactionSettings {
    /// Whether overflow is looked for and acted on without being asked.
    pub auto: bool,
    /// Whether old tool results are pruned.
    pub prune: bool,
    /// When they are.
    #[serde(deserialize_with = "listed")]
    pub prune_at: Vec<Occasion>,
    /// What is done first at overflow.
    pub order: OverflowOrder,
    /// What a model is sent for the marker.
    pub marker: String,
    /// When the marker is written.
    pub marker_at: MarkerAt,
    /// The user message that lets the work go on after a compaction; none if there is none.
    #[serde(default)]
    pub resume: Option<String>,
    /// When it is written.
    pub resume_when: ResumeWhen,
    /// Whether the user message that overflowed is said again behind the summary.
    pub replay: Replay,
    /// Recent history that stays verbatim; none if nothing does.
    #[serde(default)]
    pub tail: Option<RecentTail>,
    /// The most that is usable, if that is less than the model's limits leave.
    #[serde(default)]
    pub threshold: Option<Amount>,
    /// The longest summary.
    pub summary: Amount,
    /// The most that may be filled after a compaction; none if that is not looked at.
    #[serde(default)]
    pub low_water: Option<Amount>,
    /// How much an automatic compaction must save to count as progress; none if that is not looked at.
    #[serde(default)]
    pub least_gain: Option<Amount>,
    /// From here on a summary is made in the background; none if never.
    #[serde(default)]
    pub background: Option<Amount>,
    /// How often a model is asked for one summary.
    pub attempts: u32,
    /// After so many failures in a row the model is not asked any more.
    pub breaker: u32,
    /// How long the breaker stays open, in milliseconds.
    pub cooldown_ms: i64,
    /// What happens when no model gives a summary.
    pub fallback: Fallback,
    /// The longest results that are let in, by patterns of tool names. Of several that match, the longest pattern counts.
    #[serde(default)]
    pub caps: BTreeMap<String, Amount>,
    /// Other values for some models, by patterns of their names. Of several that match, the longest pattern counts.
    #[serde(default)]
    pub models: BTreeMap<String, ForModel>,
}

/// What may be set for some models only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForModel {
    /// See [`CompactionSettings::threshold`].
    #[serde(default)]
    pub threshold: Option<Amount>,
    /// See [`CompactionSettings::background`].
    #[serde(default)]
    pub background: Option<Amount>,
    /// See [`CompactionSettings::summary`].
    #[serde(default)]
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
    /// When the model has nothing more to do.
    TurnEnd,
    /// When it overflows.
    Overflow,
    /// When a result arrives that is too long. Not for profiles to list: caps alone decide.
    Arrival,
    /// When nothing else makes a request fit. Not for profiles to list.
    Emergency,
}

/// Occasions that a profile may list. What was done at the others is kept in records and read again, though.
fn listed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Occasion>, D::Error> {
    let list = Vec::<Occasion>::deserialize(deserializer)?;
    match list.iter().find(|occasion| matches!(occasion, Occasion::Arrival | Occasion::Emergency)) {
        Some(Occasion::Arrival) => {
            Err(D::Error::custom("`arrival` cannot be listed; `caps` decide what is cut then"))
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
    /// Before the summary is asked for. It stays if there is never a summary.
    Start,
    /// Together with the summary, once that is complete.
    End,
}

/// When the message that lets the work go on is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResumeWhen {
    /// Never.
    Never,
    /// If the model was interrupted and nothing else is there for it to answer.
    Interrupted,
    /// After every automatic compaction.
    Auto,
    /// After every automatic attempt, failed ones included.
    Always,
}

/// Whether the user message that overflowed is said again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replay {
    /// No.
    Never,
    /// If the provider refused the request as too long: it is left out of what is summarised.
    Overflowed,
}

/// What happens when no model gives a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// A digest made without a model takes its place. It always fits.
    Digest,
    /// Nothing changes.
    Nothing,
}

/// How much recent history stays verbatim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecentTail {
    /// At most so many turns; all that fit if none is given.
    #[serde(default)]
    pub turns: Option<u32>,
    /// At most so many tokens.
    pub tokens: Amount,
    /// But never less than this,
    #[serde(default)]
    pub at_least: u32,
    /// and never more.
    #[serde(default)]
    pub at_most: Option<u32>,
    /// Whether the user's last message stays even if it is older than that.
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
    /// What is set for this model, where nothing is set what holds for all.
    pub fn for_model(&self, model: &str) -> ForModel {
        let own = best(&self.models, model).copied().unwrap_or_default();
        ForModel {
            threshold: own.threshold.or(self.threshold),
            background: own.background.or(self.background),
            summary: own.summary.or(Some(self.summary)),
        }
    }

    /// The longest result of this tool that is let in.
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
