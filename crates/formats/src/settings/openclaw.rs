//! What OpenClaw's `contextPruning` configuration amounts to.
//!
//! The configuration is written by hand and read leniently: a value of the wrong type counts as not
//! given, a number out of range is moved into it, and nothing is ever an error. A configuration
//! without a mode that the version knows switches pruning off, which is `None` here.
//!
//! Until June 2026 every threshold is in the configuration; what the versions tell apart are the modes that they know
//! and how they spell a time-to-live. By September 2026 the thresholds are fixed and only the time-to-live, the tools and
//! the placeholder are left.

use secateur::{Layer, PLACEHOLDER, is_js_space};
use serde_json::{Value, json};
use toml::{Table, Value as Setting};

use super::duration::DurationSyntax;

/// A version, as far as its settings differ from those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsVersion {
    /// 8 and 21 January 2026: modes adaptive and aggressive.
    FillModes,
    /// 27 January 2026: mode cache-ttl only.
    CacheTtl,
    /// June 2026: mode cache-ttl, with composite time spans.
    CompositeTtl,
}

/// When and how far a version prunes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PruningMode {
    /// By how full the window is: trim first, then clear.
    Adaptive,
    /// Clear every old result, however full the window is.
    Aggressive,
    /// As adaptive, once the provider's cache has gone cold.
    CacheTtl {
        /// How long, in milliseconds, after its last use the cache counts as cold; zero never.
        ttl_ms: f64,
    },
}

/// The effective settings of January to June 2026.
///
/// Counts past 64 bits, which no transcript reaches, are held at the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct PruningSettings {
    /// How to prune.
    pub mode: PruningMode,
    /// How many of the newest assistant messages, and what follows them, stay untouched.
    pub keep_last_assistants: u64,
    /// The share of the window, 0 to 1, from which results are trimmed.
    pub soft_trim_ratio: f64,
    /// The share of the window, 0 to 1, from which results are cleared.
    pub hard_clear_ratio: f64,
    /// How many characters there must be to clear before any is cleared.
    pub min_prunable_tool_chars: u64,
    /// Which tools' results may be pruned.
    pub tools: ToolPatterns,
    /// How a result is trimmed.
    pub soft_trim: SoftTrim,
    /// Whether and how a result is cleared.
    pub hard_clear: HardClear,
}

/// How a long result is trimmed to its two ends, in UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftTrim {
    /// The longest result that is left alone.
    pub max_chars: u64,
    /// What is kept of the beginning.
    pub head_chars: u64,
    /// What is kept of the end.
    pub tail_chars: u64,
}

/// Whether results are cleared, and what is left of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardClear {
    /// Whether results are cleared at all.
    pub enabled: bool,
    /// What the model reads in their place.
    pub placeholder: String,
}

/// Which tools' results may be pruned: patterns with `*`, denial first, an empty `allow` allows all.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolPatterns {
    /// The configured value as it stands; anything truthy is taken over unchecked.
    pub raw: Value,
    /// Patterns of tools that may be pruned, trimmed and without blanks.
    pub allow: Vec<String>,
    /// Patterns of tools that may not, trimmed and without blanks.
    pub deny: Vec<String>,
}

/// The effective settings of September 2026, mode `cache-ttl`.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheTtlSettings {
    /// How long, in milliseconds, after its last use the provider's cache counts as cold; zero never.
    pub ttl_ms: f64,
    /// Which tools' results may be pruned.
    pub tools: ToolPatterns,
    /// Whether and how a result is cleared.
    pub hard_clear: HardClear,
}

/// Resolves a raw `contextPruning` value as OpenClaw did before September 2026.
pub fn resolve(config: &Value, version: SettingsVersion) -> Option<PruningSettings> {
    let ttl = |syntax: DurationSyntax| PruningMode::CacheTtl {
        ttl_ms: syntax.ttl_ms(config.get("ttl").unwrap_or(&Value::Null)),
    };
    let mode = match (version, config.get("mode")?.as_str()?) {
        (SettingsVersion::FillModes, "adaptive") => PruningMode::Adaptive,
        (SettingsVersion::FillModes, "aggressive") => PruningMode::Aggressive,
        (SettingsVersion::CacheTtl, "cache-ttl") => ttl(DurationSyntax::Single),
        (SettingsVersion::CompositeTtl, "cache-ttl") => ttl(DurationSyntax::Composite),
        _ => return None,
    };
    Some(PruningSettings {
        mode,
        keep_last_assistants: count(config, "keepLastAssistants", 3),
        soft_trim_ratio: share(config, "softTrimRatio", 0.3),
        hard_clear_ratio: share(config, "hardClearRatio", 0.5),
        min_prunable_tool_chars: count(config, "minPrunableToolChars", 50_000),
        tools: read_tools(config),
        soft_trim: read_soft_trim(config),
        hard_clear: match mode {
            PruningMode::Adaptive | PruningMode::CacheTtl { .. } => read_hard_clear(config),
            // Clearing is all this mode does: it cannot be switched off.
            PruningMode::Aggressive => HardClear { enabled: true, ..read_hard_clear(config) },
        },
    })
}

/// Resolves a raw `contextPruning` value as OpenClaw of September 2026 does.
pub fn resolve_2026_09(config: &Value) -> Option<CacheTtlSettings> {
    (config.get("mode")? == "cache-ttl").then(|| CacheTtlSettings {
        ttl_ms: DurationSyntax::Composite.ttl_ms(config.get("ttl").unwrap_or(&Value::Null)),
        tools: read_tools(config),
        hard_clear: read_hard_clear(config),
    })
}

impl PruningSettings {
    /// The settings as values over the profile of the version, with this origin.
    pub fn layer(&self, origin: &str) -> Layer {
        let trim = table([
            ("max", whole(self.soft_trim.max_chars)),
            ("head", whole(self.soft_trim.head_chars)),
            ("tail", whole(self.soft_trim.tail_chars)),
        ]);
        let mut ratio = table([
            ("mode", self.mode.as_str().into()),
            ("keep_last_assistants", whole(self.keep_last_assistants)),
            ("soft_ratio", self.soft_trim_ratio.into()),
            ("hard_ratio", self.hard_clear_ratio.into()),
            ("min_prunable", whole(self.min_prunable_tool_chars)),
            ("trim", trim.into()),
            ("hard_clear", self.hard_clear.enabled.into()),
            ("tools", self.tools.table().into()),
        ]);
        if let PruningMode::CacheTtl { ttl_ms } = self.mode {
            ratio.insert("ttl_ms".to_owned(), milliseconds(ttl_ms));
        }
        layer(origin, ratio, &self.hard_clear)
    }
}

impl CacheTtlSettings {
    /// The settings as values over the profile of the version, with this origin.
    pub fn layer(&self, origin: &str) -> Layer {
        let ratio = table([
            ("ttl_ms", milliseconds(self.ttl_ms)),
            ("hard_clear", self.hard_clear.enabled.into()),
            ("tools", self.tools.table().into()),
        ]);
        layer(origin, ratio, &self.hard_clear)
    }
}

fn layer(origin: &str, ratio: Table, clear: &HardClear) -> Layer {
    let prune = table([("placeholder", clear.placeholder.as_str().into())]);
    let values = table([("ratio", ratio.into()), ("prune", prune.into())]);
    Layer { origin: origin.to_owned(), values }
}

fn table<const N: usize>(values: [(&str, Setting); N]) -> Table {
    values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn whole(number: u64) -> Setting {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// The cast saturates: no session is that old.
fn milliseconds(number: f64) -> Setting {
    (number as i64).into()
}

impl PruningMode {
    /// The mode's name in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Aggressive => "aggressive",
            Self::CacheTtl { .. } => "cache-ttl",
        }
    }
}

impl PruningSettings {
    /// The settings as OpenClaw itself would print them.
    pub fn to_json(&self) -> Value {
        let mut printed = json!({
            "mode": self.mode.as_str(),
            "keepLastAssistants": self.keep_last_assistants,
            "softTrimRatio": print_share(self.soft_trim_ratio),
            "hardClearRatio": print_share(self.hard_clear_ratio),
            "minPrunableToolChars": self.min_prunable_tool_chars,
            "tools": self.tools.raw,
            "softTrim": {
                "maxChars": self.soft_trim.max_chars,
                "headChars": self.soft_trim.head_chars,
                "tailChars": self.soft_trim.tail_chars,
            },
            "hardClear": {"enabled": self.hard_clear.enabled, "placeholder": self.hard_clear.placeholder},
        });
        if let PruningMode::CacheTtl { ttl_ms } = self.mode {
            printed["ttlMs"] = ttl_ms.into();
        }
        printed
    }
}

impl CacheTtlSettings {
    /// The three values a round of pruning depends on: `ttlMs`, `hardClear` and `placeholder`.
    pub fn to_json(&self) -> Value {
        json!({
            "ttlMs": self.ttl_ms,
            "hardClear": self.hard_clear.enabled,
            "placeholder": self.hard_clear.placeholder,
        })
    }
}

fn read_soft_trim(config: &Value) -> SoftTrim {
    let given = config.get("softTrim").unwrap_or(&Value::Null);
    SoftTrim {
        max_chars: count(given, "maxChars", 4_000),
        head_chars: count(given, "headChars", 1_500),
        tail_chars: count(given, "tailChars", 1_500),
    }
}

fn read_hard_clear(config: &Value) -> HardClear {
    let given = config.get("hardClear").unwrap_or(&Value::Null);
    let placeholder = given.get("placeholder").and_then(Value::as_str).unwrap_or_default();
    let placeholder = placeholder.trim_matches(is_js_space);
    HardClear {
        enabled: given.get("enabled").and_then(Value::as_bool).unwrap_or(true),
        placeholder: if placeholder.is_empty() { PLACEHOLDER } else { placeholder }.to_owned(),
    }
}

/// Whether JavaScript takes a value for true.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn read_tools(config: &Value) -> ToolPatterns {
    let raw = config.get("tools").filter(|tools| is_truthy(tools)).cloned().unwrap_or_else(|| json!({}));
    ToolPatterns::read(&raw)
}

impl ToolPatterns {
    /// Reads the lists of a `tools` setting of any shape.
    pub fn read(raw: &Value) -> Self {
        Self { allow: patterns(raw, "allow"), deny: patterns(raw, "deny"), raw: raw.clone() }
    }

    /// The patterns as values over those of a profile.
    pub fn layer(&self, origin: &str) -> Layer {
        let ratio = table([("tools", self.table().into())]);
        Layer { origin: origin.to_owned(), values: table([("ratio", ratio.into())]) }
    }

    fn table(&self) -> Table {
        table([("allow", self.allow.clone().into()), ("deny", self.deny.clone().into())])
    }
}

fn patterns(tools: &Value, key: &str) -> Vec<String> {
    let listed = tools.get(key).and_then(Value::as_array).into_iter().flatten();
    let spelled = listed.map(|pattern| match pattern {
        Value::Null => String::new(),
        Value::String(text) => text.trim_matches(is_js_space).to_owned(),
        other => other.to_string(),
    });
    spelled.filter(|pattern| !pattern.is_empty()).collect()
}

/// A number rounded down and no less than zero; the cast saturates.
fn count(config: &Value, key: &str, default: u64) -> u64 {
    config.get(key).and_then(Value::as_f64).map_or(default, |number| number.floor().max(0.0) as u64)
}

fn share(config: &Value, key: &str, default: f64) -> f64 {
    config.get(key).and_then(Value::as_f64).map_or(default, |number| number.clamp(0.0, 1.0))
}

/// JavaScript prints the whole numbers 0 and 1 without a point.
fn print_share(share: f64) -> Value {
    if share.fract() == 0.0 { json!(share as u64) } else { json!(share) }
}

#[cfg(test)]
mod tests {
    use super::SettingsVersion::FillModes;
    use super::*;

    #[test]
    fn an_unknown_mode_switches_pruning_off() {
        for config in [json!(null), json!([]), json!({}), json!({"mode": "ADAPTIVE"}), json!({"mode": "off"})]
        {
            assert_eq!(resolve(&config, FillModes), None);
            assert_eq!(resolve(&config, SettingsVersion::CompositeTtl), None);
            assert_eq!(resolve_2026_09(&config), None);
        }
        assert_eq!(resolve(&json!({"mode": "cache-ttl"}), FillModes), None);
        assert_eq!(resolve(&json!({"mode": "adaptive"}), SettingsVersion::CacheTtl), None);
    }

    #[test]
    fn values_of_the_wrong_type_count_as_not_given() {
        let odd = json!({"mode": "adaptive", "keepLastAssistants": "9", "softTrimRatio": true, "tools": 0,
            "softTrim": [1], "hardClear": {"enabled": 1, "placeholder": " \u{feff}"}});
        assert_eq!(resolve(&odd, FillModes), resolve(&json!({"mode": "adaptive"}), FillModes));
    }

    #[test]
    fn values_out_of_range_are_moved_into_it() {
        let config = json!({"mode": "aggressive", "keepLastAssistants": -0.5, "softTrimRatio": 1.5,
            "hardClearRatio": -1, "softTrim": {"maxChars": 2.9}, "hardClear": {"enabled": false}});
        let printed = resolve(&config, FillModes).unwrap().to_json();
        assert_eq!(printed["keepLastAssistants"], json!(0));
        assert_eq!((&printed["softTrimRatio"], &printed["hardClearRatio"]), (&json!(1), &json!(0)));
        assert_eq!(printed["softTrim"], json!({"maxChars": 2, "headChars": 1500, "tailChars": 1500}));
        assert_eq!(printed["hardClear"]["enabled"], json!(true));
    }

    #[test]
    fn tools_are_kept_raw_and_read_as_patterns() {
        let raw = json!({"allow": [" read ", "", null, 5], "deny": "exec"});
        let tools = resolve_2026_09(&json!({"mode": "cache-ttl", "tools": raw})).unwrap().tools;
        assert_eq!(
            tools,
            ToolPatterns { raw, allow: vec!["read".to_owned(), "5".to_owned()], deny: Vec::new() }
        );
    }

    #[test]
    fn settings_become_values_of_a_profile() {
        let config = json!({"mode": "cache-ttl", "ttl": "0m", "keepLastAssistants": 1e300,
            "tools": {"deny": ["Exec"]}, "softTrim": {"headChars": 7}, "hardClear": {"placeholder": "gone"}});
        let layer = resolve(&config, SettingsVersion::CompositeTtl).unwrap().layer("openclaw.json");
        let profile = secateur::Profiles::builtin().get_with("openclaw@2026-06", &[layer]).unwrap();
        assert_eq!(profile.origin("ratio.trim.head"), Some("openclaw.json"));
        assert_eq!(profile.origin("ratio.trim.pairs"), Some("openclaw@2026-01"));
        assert_eq!(profile.policy.placeholder, "gone");
        assert!(!profile.policy.tools().allows("EXEC"));
        let layer = resolve_2026_09(&config).unwrap().layer("openclaw.json");
        assert!(secateur::Profiles::builtin().get_with("openclaw@2026-09", &[layer]).is_ok());
    }

    #[test]
    fn september_reads_the_time_to_live() {
        let config = json!({"mode": "cache-ttl", "ttl": "1h30m", "hardClear": {"placeholder": " gone "}});
        let printed = resolve_2026_09(&config).unwrap().to_json();
        assert_eq!(printed, json!({"ttlMs": 5_400_000.0, "hardClear": true, "placeholder": "gone"}));
    }
}
