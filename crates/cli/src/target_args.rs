//! Flags that name the model a request is for, and its limits.

use anyhow::{Context, Result};
use clap::Args;
use secateur::{Catalogue, Limits};
use secateur_engine::Target;
use secateur_formats::Wire;
use serde_json::Value;

/// The model and its limits.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TargetArgs {
    /// The model that the request is for [default: the one in the session's envelope]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The model's window in tokens [default: from the model catalogue]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) window: Option<i64>,
    /// The model's longest response in tokens [default: from the model catalogue]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) output: Option<i64>,
}

impl TargetArgs {
    /// The target; none if the model's window is not known. `recorded` is the model that the session itself names.
    pub(crate) fn known(
        &self,
        catalogue: &Catalogue,
        recorded: Option<&str>,
        wire: Option<Wire>,
    ) -> Option<Target> {
        let model = self.model.as_deref().or(recorded).unwrap_or_default();
        let limits = catalogue.find(model).map(secateur::ModelInfo::limits);
        let context = self.window.or(limits.map(|limits| limits.context))?;
        let known = limits.unwrap_or_default();
        // The catalogue's input limit belongs to the catalogue's window, not to one that the user names.
        let input = if self.window.is_some() { None } else { known.input };
        let limits = Limits { context, input, output: self.output.or(known.output) };
        Some(Target { limits, wire, ..Target::of(catalogue, model, context) })
    }

    /// The target; an error if the window is not known.
    pub(crate) fn target(
        &self,
        catalogue: &Catalogue,
        recorded: Option<&str>,
        wire: Option<Wire>,
    ) -> Result<Target> {
        self.known(catalogue, recorded, wire).with_context(|| match self.model.as_deref().or(recorded) {
            Some(model) => format!(
                "the window of the model {model:?} is not known: give --window TOKENS, set windows.{model:?} = TOKENS in \
                 config.toml, or add the model to a file named by SECATEUR_MODELS"
            ),
            None => "the model is not known: give --model NAME or --window TOKENS".to_owned(),
        })
    }
}

/// The model that an envelope names.
pub(crate) fn model_of(envelope: &str) -> Option<String> {
    let envelope: Value = serde_json::from_str(envelope).ok()?;
    envelope.get("model")?.as_str().filter(|model| !model.is_empty()).map(str::to_owned)
}
