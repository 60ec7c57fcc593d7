//! The model that writes summaries, as flags and variables name it.

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_engine::Engine;
use secateur_engine::provider::Endpoint;
use secateur_formats::Wire;

use crate::models::catalogue;
use crate::settings_args::FlagValue;

/// The model that writes summaries. Without one, a rule-based digest takes its place.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Summariser (default: none; a rule-based digest is used)")]
pub(crate) struct SummariserArgs {
    /// The base URL of a model that writes summaries, e.g. http://127.0.0.1:8080/v1.
    #[arg(long, value_name = "URL", env = "SECATEUR_SUMMARISER_URL", hide_env_values = true)]
    #[arg(hide_short_help = true, requires = "summariser_model")]
    summariser_url: Option<String>,
    /// The model's name at its provider.
    #[arg(long, value_name = "NAME", env = "SECATEUR_SUMMARISER_MODEL", hide_env_values = true)]
    #[arg(hide_short_help = true)]
    summariser_model: Option<String>,
    /// The wire of its API: openai-chat, openai-responses, anthropic or gemini.
    #[arg(long, value_name = "WIRE", env = "SECATEUR_SUMMARISER_WIRE", hide_env_values = true)]
    #[arg(hide_short_help = true, default_value = "openai-chat")]
    summariser_wire: Option<Wire>,
    /// The environment variable that holds its key.
    #[arg(long, value_name = "VARIABLE", env = "SECATEUR_SUMMARISER_KEY_ENV", hide_env_values = true)]
    #[arg(hide_short_help = true)]
    summariser_key_env: Option<String>,
}

impl SummariserArgs {
    /// The endpoint, if a model is named.
    fn endpoint(&self) -> Result<Option<Endpoint>> {
        let Some(url) = self.summariser_url.as_deref().filter(|url| !url.is_empty()) else { return Ok(None) };
        let model = self.summariser_model.as_deref().unwrap_or_default();
        let wire = self.summariser_wire.unwrap_or(Wire::OpenAiChat);
        let mut endpoint = Endpoint::new(wire, url, model);
        endpoint.key_env = self.summariser_key_env.clone().filter(|name| !name.is_empty());
        if let Some(known) = catalogue()?.find(model) {
            endpoint.context = u32::try_from(known.context).unwrap_or(0);
            endpoint.output = known.output.and_then(|output| u32::try_from(output).ok());
        }
        Ok(Some(endpoint))
    }

    /// The settings that the flags make, if they name a model.
    pub(crate) fn flag_values(&self) -> Vec<FlagValue> {
        if self.summariser_url.as_deref().is_none_or(str::is_empty) {
            return Vec::new();
        }
        let wire = self.summariser_wire.unwrap_or(Wire::OpenAiChat).name().to_owned();
        vec![
            ("summariser.url", self.summariser_url.clone(), "--summariser-url"),
            ("summariser.model", self.summariser_model.clone(), "--summariser-model"),
            ("summariser.wire", Some(wire), "--summariser-wire"),
            ("summariser.key_env", self.summariser_key_env.clone(), "--summariser-key-env"),
        ]
    }

    /// Adds the model to an engine, if one is named.
    pub(crate) fn add_to(&self, engine: Engine) -> Result<Engine> {
        Ok(match self.endpoint()? {
            Some(endpoint) => {
                let client = endpoint.connect().map_err(|error| anyhow!("{error}"))?;
                engine.with_model(std::sync::Arc::new(client))
            }
            None => engine,
        })
    }
}
