//! The catalogue of models: the built-in one, a file that overrides it, and windows that override both.

use secateur::Catalogue;
use toml::Value;

use super::Load;
use super::error::ConfigError;
use super::source::{ConfigSource, LARGEST_FILE};
use super::values::LayeredValues;

/// The catalogue. `named` is the source that names a file of models, whose path is relative to that source.
pub(super) fn catalogue(
    values: &LayeredValues,
    named: Option<&ConfigSource>,
    load: &Load<'_>,
) -> Result<Catalogue, ConfigError> {
    let mut catalogue = Catalogue::builtin();
    if let Some(source) = named {
        catalogue = catalogue.overlay(file(values, source, load)?);
    }
    match values.get("windows") {
        None => {}
        Some(Value::Table(windows)) => {
            for (model, tokens) in windows {
                let key = format!("windows.{model}");
                let tokens = match tokens {
                    Value::Integer(tokens) if *tokens > 0 => *tokens,
                    other => {
                        return Err(values.refuse(&key, Some(other), "expected a number of tokens above 0"));
                    }
                };
                catalogue = catalogue.with_window(model, tokens);
            }
        }
        other => {
            let allowed = "expected a table of windows in tokens by the names of models";
            return Err(values.refuse("windows", other, allowed));
        }
    }
    Ok(catalogue)
}

/// The models in the file that a source names.
fn file(values: &LayeredValues, source: &ConfigSource, load: &Load<'_>) -> Result<Catalogue, ConfigError> {
    let name = match source.values.get("models") {
        Some(Value::String(name)) if !name.trim().is_empty() => name,
        other => return Err(values.refuse("models", other, "expected the path of a file of models")),
    };
    let path = source.folder.join(name);
    let text = load(&path).map_err(|error| {
        let (origin, path) = (source.origin.clone(), path.clone());
        ConfigError::ModelsFile { origin, path, source: error }
    })?;
    let origin = path.display().to_string();
    if text.len() > LARGEST_FILE {
        return Err(ConfigError::TooLong { origin, limit: LARGEST_FILE });
    }
    Ok(Catalogue::parse(&text, &origin)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const FILE: &str = "[[model]]\nid = \"m\"\nprovider = \"p\"\ncontext = 1000\n";

    fn read(sources: &[ConfigSource]) -> Result<Config, ConfigError> {
        Config::read(sources, &|path| {
            let is_there = path.ends_with("folder/models.toml");
            is_there.then(|| FILE.to_owned()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
        })
    }

    #[test]
    fn a_file_overrides_the_catalogue_and_a_window_overrides_both() {
        let text = "models = \"models.toml\"\nwindows.\"n.1\" = 2000\n";
        let user = ConfigSource::user("folder/config.toml", text).unwrap();
        let config = read(std::slice::from_ref(&user)).unwrap();
        let context = |config: &Config, name: &str| config.catalogue().find(name).map(|model| model.context);
        assert_eq!((context(&config, "m"), context(&config, "n.1")), (Some(1_000), Some(2_000)));
        let config = read(&[user, ConfigSource::window_flag("a/m=3000").unwrap()]).unwrap();
        assert_eq!((context(&config, "a/m"), context(&config, "m")), (Some(3_000), Some(3_000)));
        assert_eq!(config.origin("windows.a/m"), "--window");
    }

    #[test]
    fn a_wrong_window_is_named() {
        for flag in ["m", "=5", "m=", "m=many", "m=0", "m=-5"] {
            let error = ConfigSource::window_flag(flag).unwrap_err().to_string();
            assert!(error.contains("--window") && error.contains("MODEL=TOKENS"), "{error}");
        }
        let user = ConfigSource::user("config.toml", "windows.m = \"5\"\n").unwrap();
        assert!(read(&[user]).unwrap_err().to_string().contains("windows.m"));
    }
}
