//! Models in the catalogue.

use anyhow::{Context, Result};
use secateur::{Catalogue, ModelInfo};

/// The model of this name.
pub(crate) fn find_model<'c>(catalogue: &'c Catalogue, name: &str) -> Result<&'c ModelInfo> {
    catalogue.find(name).with_context(|| {
        format!(
            "the model {name:?} is not in the catalogue of {}; add it to a file named by SECATEUR_MODELS, or set its \
             window with windows.{name:?} = TOKENS in config.toml",
            catalogue.date
        )
    })
}
