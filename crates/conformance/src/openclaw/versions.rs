//! OpenClaw's versions: the profile of each, and what its settings make of that.

use anyhow::Result;
use secateur::{Family, Fold, Policy, Profiles, Ratio, RatioMode, ToolFilter, Trim};

use super::settings::{PruningMode, PruningSettings, SettingsVersion, ToolPatterns};

/// A version whose settings have every threshold.
#[derive(Clone, Copy)]
pub(super) struct DatedSettings {
    pub profile: &'static str,
    pub settings: SettingsVersion,
}

pub(super) const JANUARY_8: DatedSettings =
    DatedSettings { profile: "openclaw@2026-01", settings: SettingsVersion::FillModes };
pub(super) const JANUARY_21: DatedSettings =
    DatedSettings { profile: "openclaw@2026-01b", settings: SettingsVersion::FillModes };
pub(super) const JANUARY_27: DatedSettings =
    DatedSettings { profile: "openclaw@2026-01c", settings: SettingsVersion::CacheTtl };
pub(super) const JUNE: DatedSettings =
    DatedSettings { profile: "openclaw@2026-06", settings: SettingsVersion::CompositeTtl };
pub(super) const SEPTEMBER: &str = "openclaw@2026-09";

/// The tools that a setting allows.
pub(super) fn tools(tools: &ToolPatterns, fold: Fold) -> ToolFilter {
    ToolFilter { allow: tools.allow.clone(), deny: tools.deny.clone(), fold }
}

/// A profile's policy with its ratio family changed.
pub(super) fn policy(name: &str, change: impl FnOnce(&mut Ratio)) -> Result<Policy> {
    let mut policy = Profiles::builtin().get(name)?.policy;
    if let Family::Ratio(ratio) = &mut policy.family {
        change(ratio);
    }
    Ok(policy)
}

/// The policy of a version with its settings.
pub(super) fn configured(version: DatedSettings, settings: &PruningSettings) -> Result<Policy> {
    let mut policy = policy(version.profile, |ratio| {
        match settings.mode {
            PruningMode::Adaptive => ratio.mode = RatioMode::Adaptive,
            PruningMode::Aggressive => ratio.mode = RatioMode::Aggressive,
            PruningMode::CacheTtl { ttl_ms } => {
                ratio.mode = RatioMode::CacheTtl;
                ratio.ttl_ms = ttl_ms as i64;
            }
        }
        ratio.keep_last_assistants = settings.keep_last_assistants;
        ratio.soft_ratio = settings.soft_trim_ratio;
        ratio.hard_ratio = settings.hard_clear_ratio;
        ratio.min_prunable = settings.min_prunable_tool_chars;
        ratio.hard_clear = settings.hard_clear.enabled;
        ratio.trim = Trim {
            max: settings.soft_trim.max_chars,
            head: settings.soft_trim.head_chars,
            tail: settings.soft_trim.tail_chars,
            ..ratio.trim
        };
        ratio.tools = tools(&settings.tools, ratio.tools.fold);
    })?;
    policy.placeholder.clone_from(&settings.hard_clear.placeholder);
    Ok(policy)
}
