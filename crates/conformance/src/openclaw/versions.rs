//! OpenClaw's versions: the profile of each, and what its settings make of that.

use anyhow::Result;
use secateur::{Layer, Policy, Profiles};
use secateur_formats::settings::openclaw::SettingsVersion;

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

/// Where the settings of a case come from.
pub(super) const ORIGIN: &str = "contextPruning";

/// A profile's policy with settings over it.
pub(super) fn policy(name: &str, settings: Layer) -> Result<Policy> {
    Ok(Profiles::builtin().get_with(name, &[settings])?.policy)
}
