//! The profile that a command works with, and the models that it knows.

use anyhow::Result;
use clap::Args;
use secateur::Profile;
use secateur_engine::config::Config;

use crate::settings_args::SettingsArgs;

/// A profile, and settings over it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProfileArgs {
    /// The profile: a name (see `secateur profiles`), or the path of a TOML file [default: that of the configuration, or
    /// else balanced]
    #[arg(long, short, value_name = "NAME|FILE")]
    profile: Option<String>,
    #[command(flatten)]
    settings: SettingsArgs,
}

impl ProfileArgs {
    /// Where settings are read from, with the profile that the flag names.
    pub(crate) fn settings(&self) -> SettingsArgs {
        match &self.profile {
            Some(profile) => self.settings.with_profile(profile),
            None => self.settings.clone(),
        }
    }

    /// The configuration, with the profile that the flag names.
    pub(crate) fn config(&self) -> Result<Config> {
        self.settings().read()
    }

    /// The profile of this name, with only OpenCode's variables over it.
    pub(crate) fn named(name: &str) -> Result<Profile> {
        let settings = SettingsArgs::default().with_profile(name);
        Ok(settings.without_configuration()?.profile().clone())
    }
}
