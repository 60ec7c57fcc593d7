//! The model that writes summaries, as flags name it.

use std::env;

use anyhow::Result;
use clap::Args;
use secateur_engine::config::{Config, ConfigSource, VARIABLES};
use secateur_formats::Wire;

use crate::settings_args::SettingsArgs;

/// The model that writes summaries. Without one, a rule-based digest takes its place.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Summariser (default: none; a rule-based digest is used)")]
pub(crate) struct SummariserArgs {
    /// The base URL of a model that writes summaries, e.g. http://127.0.0.1:8080/v1 [env: SECATEUR_SUMMARISER_URL]
    #[arg(long, value_name = "URL", hide_short_help = true)]
    summariser_url: Option<String>,
    /// The model's name at its provider [env: SECATEUR_SUMMARISER_MODEL]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    summariser_model: Option<String>,
    /// The wire of its API: openai-chat, openai-responses, anthropic or gemini [default: openai-chat] [env:
    /// SECATEUR_SUMMARISER_WIRE]
    #[arg(long, value_name = "WIRE", hide_short_help = true)]
    summariser_wire: Option<Wire>,
    /// The environment variable that holds its key [env: SECATEUR_SUMMARISER_KEY_ENV]
    #[arg(long, value_name = "VARIABLE", hide_short_help = true)]
    summariser_key_env: Option<String>,
}

impl SummariserArgs {
    /// These settings with the flags over them. A flag that names a URL begins a summariser of its own, which takes
    /// nothing from a configured one: its key is not meant for another address.
    pub(crate) fn over(&self, settings: &SettingsArgs) -> SettingsArgs {
        let mut settings = settings.clone();
        let mut set = |flag: &str, key: &str, value: Option<&str>| {
            if let Some(value) = value {
                settings = settings.with(ConfigSource::named_flag(flag, key, value));
            }
        };
        let wire = self.summariser_wire.map(Wire::name);
        let flags = [
            ("--summariser-model", "summariser.model", self.summariser_model.as_deref()),
            ("--summariser-wire", "summariser.wire", wire),
            ("--summariser-key-env", "summariser.key_env", self.summariser_key_env.as_deref()),
        ];
        if let Some(url) = &self.summariser_url {
            set("--summariser-url", "summariser", Some("false"));
            set("--summariser-url", "summariser.url", Some(url));
            for (variable, key) in VARIABLES.iter().filter(|(_, key)| flags.iter().any(|flag| flag.1 == *key))
            {
                let value = env::var(variable).ok().filter(|value| !value.trim().is_empty());
                set(&format!("environment {variable}"), key, value.as_deref());
            }
        }
        for (flag, key, value) in flags {
            set(flag, key, value);
        }
        settings
    }

    /// Reads these settings with the flags over them. A summariser that flags name must have its key.
    pub(crate) fn read(&self, settings: &SettingsArgs) -> Result<Config> {
        let config = self.over(settings).read()?;
        if self.summariser_url.is_some() {
            config.check_summariser()?;
        }
        Ok(config)
    }
}
