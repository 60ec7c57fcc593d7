//! The model that a request of a kept session is for.

use anyhow::{Context, Result};
use clap::Args;
use secateur::{Cache, Lifetime, Limits};
use secateur_engine::Target;
use secateur_formats::Wire;
use serde_json::Value;

use crate::models::catalogue;

/// The model, and what it can take.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TargetArgs {
    /// The model that the request is for; without it, the one that the session's frame names.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Its whole window in tokens; without it, what the catalogue knows of the model.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) window: Option<i64>,
    /// Its longest answer in tokens; without it, what the catalogue knows of the model.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) output: Option<i64>,
}

impl TargetArgs {
    /// The target, as far as it is known; `recorded` is the model that the session itself names.
    pub(crate) fn known(&self, recorded: Option<&str>, wire: Option<Wire>) -> Result<Option<Target>> {
        let model = self.model.as_deref().or(recorded).unwrap_or_default().to_owned();
        let catalogue = catalogue()?;
        let found = catalogue.find(&model);
        let limits = found.map(secateur::ModelInfo::limits);
        let Some(context) = self.window.or(limits.map(|limits| limits.context)) else { return Ok(None) };
        let known = limits.unwrap_or_default();
        // A window that the user names goes before a limit of the input that belongs to another one.
        let input = if self.window.is_some() { None } else { known.input };
        let limits = Limits { context, input, output: self.output.or(known.output) };
        let cache = found.and_then(|model| Cache::of(model, &Lifetime::default()));
        Ok(Some(Target { model, limits, cache, wire }))
    }

    /// The target; an error if the window is not known.
    pub(crate) fn target(&self, recorded: Option<&str>, wire: Option<Wire>) -> Result<Target> {
        self.known(recorded, wire)?.with_context(|| match self.model.as_deref().or(recorded) {
            Some(model) => format!(
                "the window of the model {model:?} is not known: name it by --window TOKENS, or add the model to a \
                 file named by SECATEUR_MODELS"
            ),
            None => "the model is not known: name it by --model NAME, or its window by --window TOKENS".to_owned(),
        })
    }
}

/// The model that a frame names.
pub(crate) fn model_of(frame: &str) -> Option<String> {
    let frame: Value = serde_json::from_str(frame).ok()?;
    frame.get("model")?.as_str().filter(|model| !model.is_empty()).map(str::to_owned)
}
