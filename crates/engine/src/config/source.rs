//! A source of settings: a file, a variable or a flag.

use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::error::ConfigError;

/// The largest configuration file in bytes.
pub const LARGEST_FILE: usize = 1 << 20;

/// The environment variables and the settings that they set.
pub const VARIABLES: &[(&str, &str)] = &[
    ("SECATEUR_STORE", "store"),
    ("SECATEUR_PROFILE", "profile"),
    ("SECATEUR_MODELS", "models"),
    ("SECATEUR_SUMMARISER_WIRE", "summariser.wire"),
    ("SECATEUR_SUMMARISER_URL", "summariser.url"),
    ("SECATEUR_SUMMARISER_MODEL", "summariser.model"),
    ("SECATEUR_SUMMARISER_KEY_ENV", "summariser.key_env"),
    ("SECATEUR_COMPACTION_AUTO", "compaction.auto"),
    ("SECATEUR_COMPACTION_PRUNE", "compaction.prune"),
    ("SECATEUR_COMPACTION_THRESHOLD", "compaction.threshold"),
];

/// Settings that are texts even if they look like numbers.
const TEXTS: [&str; 7] = [
    "store",
    "profile",
    "models",
    "summariser.wire",
    "summariser.url",
    "summariser.model",
    "summariser.key_env",
];

/// Who wrote the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// The user, or a file that the user named.
    User,
    /// The author of the project.
    Project,
}

/// A source of settings.
#[derive(Clone, PartialEq)]
pub struct ConfigSource {
    pub(super) origin: String,
    pub(super) author: Author,
    /// The folder that paths are relative to.
    pub(super) folder: PathBuf,
    pub(super) values: Table,
    /// The system whose profiles take the values; none if all do.
    pub(super) system: Option<&'static str>,
}

impl ConfigSource {
    /// The user's own file, or one that the user named. `path` is its origin; paths in it are relative to its folder.
    pub fn user(path: impl AsRef<Path>, text: &str) -> Result<Self, ConfigError> {
        Self::file(path.as_ref(), text, Author::User)
    }

    /// The file of a project, which comes with the repository and is not trusted. Refused are:
    ///
    /// * `hooks`, `summariser`, `store`, `models`, `redaction` and `serve`: they run programs, read files and decide where the
    ///   conversation goes;
    /// * `compaction.marker`, `compaction.resume` and `prune.placeholder`: a model reads them as the user's words or
    ///   a tool's output. The same holds for profile files of the project;
    /// * paths of profile files outside of the project's folder.
    pub fn project(path: impl AsRef<Path>, text: &str) -> Result<Self, ConfigError> {
        Self::file(path.as_ref(), text, Author::Project)
    }

    /// A default that depends on the system, such as a folder.
    pub fn default_value(key: &str, value: &str) -> Self {
        Self::set("default", key, Value::String(value.to_owned()))
    }

    /// A flag `KEY=VALUE`. The value is TOML, or else a text. A part of the key that contains a dot is quoted:
    /// `compaction.models."gpt-4.1*".threshold=50%`.
    pub fn flag(flag: &str) -> Result<Self, ConfigError> {
        let Some((key, text)) = flag.split_once('=') else {
            return Err(ConfigError::Flag { flag: flag.to_owned() });
        };
        let key = key.trim();
        Ok(Self::set("--set", key, read_value(key, text)))
    }

    /// A flag of its own, such as `--profile`.
    pub fn named_flag(flag: &str, key: &str, value: &str) -> Self {
        Self::set(flag, key, read_value(key, value))
    }

    /// A flag `--window MODEL=TOKENS`.
    pub fn window_flag(flag: &str) -> Result<Self, ConfigError> {
        let read = flag.rsplit_once('=').and_then(|(model, tokens)| {
            let tokens = tokens.trim().parse().ok().filter(|tokens: &i64| *tokens > 0)?;
            Some((model.trim(), tokens)).filter(|(model, _)| !model.is_empty())
        });
        let Some((model, tokens)) = read else {
            return Err(ConfigError::WindowFlag { flag: flag.to_owned() });
        };
        Ok(Self::at("--window", vec!["windows".to_owned(), model.to_owned()], Value::Integer(tokens)))
    }

    /// The [variables](VARIABLES) that are set, in a fixed order. A blank variable counts as unset.
    pub fn environment(variable: impl Fn(&str) -> Option<String>) -> Vec<Self> {
        let set = VARIABLES.iter().filter_map(|(name, key)| {
            let text = variable(name).filter(|text| !text.trim().is_empty())?;
            Some(Self::set(&format!("environment {name}"), key, read_value(key, text.trim())))
        });
        set.collect()
    }

    fn file(path: &Path, text: &str, author: Author) -> Result<Self, ConfigError> {
        let origin = path.display().to_string();
        if text.len() > LARGEST_FILE {
            return Err(ConfigError::TooLong { origin, limit: LARGEST_FILE });
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        match text.parse() {
            Ok(values) => Ok(Self { origin, author, folder, values, system: None }),
            Err(error) => Err(syntax(origin, text, &error)),
        }
    }

    pub(super) fn set(origin: &str, key: &str, value: Value) -> Self {
        Self::at(origin, split_key(key), value)
    }

    fn at(origin: &str, path: Vec<String>, value: Value) -> Self {
        let mut value = value;
        for part in path.into_iter().rev() {
            value = Value::Table(Table::from_iter([(part, value)]));
        }
        let values = if let Value::Table(table) = value { table } else { Table::new() };
        let (origin, folder) = (origin.to_owned(), PathBuf::new());
        Self { origin, author: Author::User, folder, values, system: None }
    }
}

impl fmt::Debug for ConfigSource {
    /// Shows keys only: a value can be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigSource")
            .field("origin", &self.origin)
            .field("author", &self.author)
            .field("keys", &self.values.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The parts of a key: as TOML reads it, or split at dots, since a bare `*` is not TOML.
fn split_key(key: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut table = format!("{key} = 0").parse::<Table>().ok();
    while let Some((part, value)) = table.and_then(|table| table.into_iter().next()) {
        parts.push(part);
        table = if let Value::Table(inner) = value { Some(inner) } else { None };
    }
    if parts.is_empty() { key.split('.').map(str::to_owned).collect() } else { parts }
}

fn read_value(key: &str, text: &str) -> Value {
    let mut read = format!("value = {text}").parse::<Table>().unwrap_or_default();
    match read.remove("value") {
        Some(Value::String(text)) => Value::String(text),
        Some(value) if !TEXTS.contains(&key) && read.is_empty() => value,
        _ => Value::String(text.to_owned()),
    }
}

/// The parser's message without the line that it quotes, which may contain a key.
fn syntax(origin: String, text: &str, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.get(..text.floor_char_boundary(start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let reason = error.message().lines().collect::<Vec<_>>().join(", ");
    ConfigError::Syntax { origin, reason, line, column }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(flag: &str) -> Table {
        ConfigSource::flag(flag).unwrap().values
    }

    #[test]
    fn a_flag_is_toml_or_text() {
        assert_eq!(set("watermark.protect=5").to_string(), "[watermark]\nprotect = 5\n");
        assert_eq!(set("compaction.threshold=80%").to_string(), "[compaction]\nthreshold = \"80%\"\n");
        assert_eq!(
            set("compaction.prune_at=[\"overflow\"]")["compaction"]["prune_at"][0].as_str(),
            Some("overflow")
        );
        assert_eq!(set("profile=2026")["profile"].as_str(), Some("2026"), "a profile is a text");
        assert_eq!(
            set("compaction.resume=a = \"b\nc\"")["compaction"]["resume"].as_str(),
            Some("a = \"b\nc\"")
        );
    }

    #[test]
    fn a_pattern_in_a_key_is_bare_or_quoted() {
        assert_eq!(set("compaction.caps.*=5")["compaction"]["caps"]["*"].as_integer(), Some(5));
        let quoted = set("compaction.models.\"gpt-4.1*\".threshold=5");
        assert_eq!(quoted["compaction"]["models"]["gpt-4.1*"]["threshold"].as_integer(), Some(5));
    }

    #[test]
    fn a_blank_variable_is_not_set() {
        let variables = |name: &str| match name {
            "SECATEUR_STORE" => Some(" ".to_owned()),
            "SECATEUR_COMPACTION_AUTO" => Some("false".to_owned()),
            _ => None,
        };
        let sources = ConfigSource::environment(variables);
        assert_eq!(sources.len(), 1);
        assert_eq!(sources[0].origin, "environment SECATEUR_COMPACTION_AUTO");
        assert_eq!(sources[0].values["compaction"]["auto"].as_bool(), Some(false));
    }
}
