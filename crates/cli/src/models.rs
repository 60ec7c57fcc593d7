//! The catalogue of models: their windows, prices and limits.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use secateur::Catalogue;

/// The built-in catalogue, overridden by the file that `SECATEUR_MODELS` names.
pub(crate) fn catalogue() -> Result<Catalogue> {
    let builtin = Catalogue::builtin();
    match std::env::var_os("SECATEUR_MODELS") {
        None => Ok(builtin),
        Some(path) => {
            let path = Path::new(&path);
            let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(builtin.overlay(Catalogue::parse(&text, &path.display().to_string())?))
        }
    }
}

/// The model of this name in the catalogue.
pub(crate) fn find_model(name: &str) -> Result<secateur::ModelInfo> {
    let catalogue = catalogue()?;
    let found = catalogue.find(name).cloned();
    found.with_context(|| {
        format!(
            "the model {name:?} is not in the catalogue of {}; add it to a file named by SECATEUR_MODELS",
            catalogue.date
        )
    })
}
