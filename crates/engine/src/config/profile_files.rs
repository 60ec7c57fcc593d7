//! Profile files that the configuration names.

use std::path::Path;

use secateur::Profiles;
use toml::{Table, Value};

use super::Load;
use super::error::ConfigError;
use super::project_file;
use super::setting::Setting;
use super::source::{Author, ConfigSource, LARGEST_FILE};

/// The most files that one source may name.
const MOST_FILES: usize = 64;

/// Adds the files in a source's `profiles`.
pub(super) fn add_all(
    source: &ConfigSource,
    profiles: &mut Profiles,
    load: &Load<'_>,
) -> Result<Vec<Setting>, ConfigError> {
    let mut added = Vec::new();
    let refuse = |value: &Value, allowed: &str| {
        ConfigError::key(&source.origin, "profiles", &value.to_string(), allowed)
    };
    let paths = match source.values.get("profiles") {
        None => return Ok(added),
        Some(Value::Array(paths)) if paths.len() <= MOST_FILES => paths,
        Some(other) => return Err(refuse(other, "expected a list of at most 64 paths of profile files")),
    };
    for path in paths {
        let Value::String(path) = path else {
            return Err(refuse(path, "expected the path of a profile file, as a text"));
        };
        add(source, "profiles", path, profiles, load)?;
        let origin = source.origin.clone();
        added.push(Setting { key: "profiles".to_owned(), value: Value::String(path.clone()), origin });
    }
    Ok(added)
}

/// The name of the profile that a source chooses; if it is a path, its file is added.
pub(super) fn choose(
    source: &ConfigSource,
    profiles: &mut Profiles,
    load: &Load<'_>,
) -> Result<String, ConfigError> {
    let name = match source.values.get("profile") {
        Some(Value::String(name)) if !name.is_empty() => name,
        other => {
            let value = other.map(Value::to_string).unwrap_or_default();
            let allowed = "expected the name of a profile, or the path of its file";
            return Err(ConfigError::key(&source.origin, "profile", &value, allowed));
        }
    };
    if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
        return add(source, "profile", name, profiles, load);
    }
    Ok(name.clone())
}

fn add(
    source: &ConfigSource,
    key: &'static str,
    name: &str,
    profiles: &mut Profiles,
    load: &Load<'_>,
) -> Result<String, ConfigError> {
    let foreign = source.author == Author::Project;
    if foreign && !project_file::stays_inside(Path::new(name)) {
        let allowed = "expected a path in the project's folder; set others in your own file";
        return Err(ConfigError::key(&source.origin, key, &format!("{name:?}"), allowed));
    }
    let path = source.folder.join(name);
    let unread = |error| {
        let (origin, path) = (source.origin.clone(), path.clone());
        ConfigError::ProfileFile { origin, key, path, source: error }
    };
    let text = load(&path).map_err(unread)?;
    let origin = path.display().to_string();
    if text.len() > LARGEST_FILE {
        return Err(ConfigError::TooLong { origin, limit: LARGEST_FILE });
    }
    if foreign && let Ok(values) = text.parse::<Table>() {
        project_file::check_texts(&origin, &values)?;
    }
    Ok(profiles.add(&origin, &text)?)
}
