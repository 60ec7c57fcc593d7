mod errors;
mod layers;
mod locations;

use std::path::Path;
use std::{fs, io};

use super::*;

/// The user's own file.
fn user(text: &str) -> ConfigSource {
    ConfigSource::user("/home/me/.config/secateur/config.toml", text).unwrap()
}

/// The file of a project.
fn project(text: &str) -> ConfigSource {
    ConfigSource::project("/srv/project/secateur.toml", text).unwrap()
}

fn flag(flag: &str) -> ConfigSource {
    ConfigSource::flag(flag).unwrap()
}

/// Reads sources that name no profile files.
fn read(sources: &[ConfigSource]) -> Result<Config, ConfigError> {
    Config::read(sources, &|path| panic!("{} is read", path.display()))
}

/// What is wrong with these sources.
fn wrong(sources: &[ConfigSource]) -> String {
    let nothing = |_: &Path| -> io::Result<String> { Err(io::ErrorKind::NotFound.into()) };
    match Config::read(sources, &nothing).and_then(|config| config.check()) {
        Err(error) => error.to_string(),
        Ok(()) => "nothing is wrong".to_owned(),
    }
}

/// A setting as it is shown: value and origin.
fn shown(config: &Config, key: &str) -> Option<String> {
    let setting = config.settings().into_iter().find(|setting| setting.key == key)?;
    Some(format!("{} from {}", setting.value, setting.origin))
}

#[test]
fn the_schema_is_as_recorded() {
    let text = serde_json::to_string_pretty(&schema()).unwrap();
    insta::assert_snapshot!("schema", text);
}

#[test]
fn the_schema_knows_every_key_of_every_profile() {
    let schema = schema();
    let profiles = Profiles::builtin();
    let mut checked = 0;
    for name in profiles.names() {
        for (key, ..) in profiles.get(name).unwrap().settings() {
            let parts: Vec<_> = key.split('.').collect();
            // Name and description of a profile are not settings; patterns can be any keys.
            if matches!(parts[0], "name" | "about" | "reproduces") || key.starts_with("compaction.caps") {
                continue;
            }
            let mut at = &schema["properties"];
            for part in &parts {
                let inner = at.get(part).unwrap_or_else(|| panic!("{key} of {name} is missing at {at}"));
                let refers = inner["anyOf"][0]["$ref"].as_str().or(inner["$ref"].as_str());
                let referred = refers.and_then(|path| schema.pointer(path.trim_start_matches('#')));
                at = referred.unwrap_or(inner).get("properties").unwrap_or(inner);
            }
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
}

#[test]
fn the_defaults_are_as_recorded() {
    let rows: Vec<_> = read(&[]).unwrap().settings();
    let rows: Vec<_> =
        rows.iter().map(|row| format!("{} = {}  # {}", row.key, row.value, row.origin)).collect();
    insta::assert_snapshot!("defaults", rows.join("\n"));
}

#[test]
fn the_reader_of_files_is_the_callers() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), "name = \"mine\"\nextends = \"balanced\"\n").unwrap();
    let source = ConfigSource::user(folder.path().join("config.toml"), "profile = \"mine.toml\"").unwrap();
    let config = Config::read(&[source], &|path| fs::read_to_string(path)).unwrap();
    assert_eq!(config.profile().name, "mine");
}
