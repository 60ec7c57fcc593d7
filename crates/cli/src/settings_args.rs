//! The files, variables and flags that settings are read from.

use std::env::{self, VarError};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use secateur_engine::config::{Config, ConfigSource, LARGEST_FILE, VARIABLES};

const PROJECT_FILE: &str = "secateur.toml";

/// Flags that say where settings are read from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SettingsArgs {
    /// Read settings from this file instead of your own and the project's.
    #[arg(long, env = "SECATEUR_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set a value, e.g. `compaction.threshold=80%`. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What other flags set. It overrides everything else.
    #[arg(skip)]
    flags: Vec<ConfigSource>,
}

/// A setting that a flag may have made: its key, the value, and the flag.
pub(crate) type FlagValue = (&'static str, Option<String>, &'static str);

/// A file in which settings are looked for.
pub(crate) struct SettingsFile {
    /// `user`, `project` or `--config`.
    pub(crate) origin: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) found: bool,
}

impl SettingsArgs {
    /// These flags with what another flag sets.
    pub(crate) fn with(&self, flag: ConfigSource) -> Self {
        let flags = self.flags.iter().cloned().chain([flag]).collect();
        Self { flags, ..self.clone() }
    }

    /// These flags with the profile that `--profile` names.
    pub(crate) fn with_profile(&self, profile: &str) -> Self {
        self.with(ConfigSource::named_flag("--profile", "profile", profile))
    }

    /// The settings without files and variables, except those of OpenCode.
    pub(crate) fn without_configuration(&self) -> Result<Config> {
        let mut sources = ConfigSource::opencode(|name| env::var(name).ok());
        sources.extend(self.flags.iter().cloned());
        Ok(Config::read(&sources, &read_file)?)
    }

    /// The file that `--config` names, if it does.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    pub(crate) fn read(&self) -> Result<Config> {
        let mut sources = Vec::new();
        if let Some(store) =
            home("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("secateur/sessions.db"))
        {
            sources.push(ConfigSource::default_value("store", &format!("sqlite:{}", store.display())));
        }
        for SettingsFile { origin, path, found } in self.files() {
            if !found && origin != "--config" {
                continue;
            }
            let text = read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            sources.push(match origin {
                "project" => ConfigSource::project(&path, &text)?,
                _ => ConfigSource::user(&path, &text)?,
            });
        }
        for (name, _) in VARIABLES {
            if let Err(error @ VarError::NotUnicode(_)) = env::var(name) {
                return Err(error).with_context(|| format!("cannot read the variable {name}"));
            }
        }
        sources.extend(ConfigSource::opencode(|name| env::var(name).ok()));
        sources.extend(ConfigSource::environment(|name| env::var(name).ok()));
        for flag in &self.set {
            sources.push(ConfigSource::flag(flag)?);
        }
        sources.extend(self.flags.iter().cloned());
        Ok(Config::read(&sources, &read_file)?)
    }

    /// The files in which settings are looked for.
    pub(crate) fn files(&self) -> Vec<SettingsFile> {
        let file = |origin, path: PathBuf| SettingsFile { origin, found: path.is_file(), path };
        if let Some(path) = &self.config {
            return vec![file("--config", path.clone())];
        }
        let user = home("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("secateur/config.toml"));
        let here = env::current_dir().unwrap_or_default();
        let above = here.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|path| path.is_file());
        let project = above.unwrap_or_else(|| here.join(PROJECT_FILE));
        let user = user.map(|path| file("user", path));
        user.into_iter().chain([file("project", project)]).collect()
    }
}

/// An XDG base directory: from its variable, or below the home folder.
fn home(variable: &str, fallback: &str) -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder(variable).or_else(|| Some(folder("HOME")?.join(fallback)))
}

/// The text of a file. Reading a pipe could block, and an endless file could fill the memory.
fn read_file(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut text = String::new();
    // One byte more than allowed, so that a file that is too long is detected.
    File::open(path)?.take(LARGEST_FILE as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
