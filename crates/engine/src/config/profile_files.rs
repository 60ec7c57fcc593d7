//! Pages of profiles that the configuration names.

use std::path::Path;

use secateur::Profiles;
use toml::{Table, Value};

use super::Load;
use super::error::ConfigError;
use super::project_file;
use super::setting::Setting;
use super::source::{Author, ConfigSource, LARGEST_FILE};

/// The most pages that one place may name.
const MOST_PAGES: usize = 64;

/// Adds the pages in a source's `profiles`.
pub(super) fn add_all(
    source: &ConfigSource,
    profiles: &mut Profiles,
    load: &Load<'_>,
) -> Result<Vec<Setting>, ConfigError> {
    let mut added = Vec::new();
    let refuse = |value: &Value, allowed: &str| {
        ConfigError::key(&source.origin, "profiles", &value.to_string(), allowed)
    };
    let pages = match source.values.get("profiles") {
        None => return Ok(added),
        Some(Value::Array(pages)) if pages.len() <= MOST_PAGES => pages,
        Some(other) => return Err(refuse(other, "a list of at most 64 paths of profiles")),
    };
    for page in pages {
        let Value::String(path) = page else { return Err(refuse(page, "a path of a profile, as a text")) };
        add(source, "profiles", path, profiles, load)?;
        let origin = source.origin.clone();
        added.push(Setting { key: "profiles".to_owned(), value: page.clone(), origin });
    }
    Ok(added)
}

/// The name of the profile that a source's `profile` chooses; if that is a path, its page is added.
pub(super) fn choose(
    source: &ConfigSource,
    profiles: &mut Profiles,
    load: &Load<'_>,
) -> Result<String, ConfigError> {
    let name = match source.values.get("profile") {
        Some(Value::String(name)) if !name.is_empty() => name,
        other => {
            let value = other.map(Value::to_string).unwrap_or_default();
            return Err(ConfigError::key(
                &source.origin,
                "profile",
                &value,
                "the name of a profile, or its path",
            ));
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
        let allowed = "a path in the project's folder; put others into your own file";
        return Err(ConfigError::key(&source.origin, key, &format!("{name:?}"), allowed));
    }
    let path = source.folder.join(name);
    let unread = |error| {
        let (origin, path) = (source.origin.clone(), path.clone());
        ConfigError::Page { origin, key, path, source: error }
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
