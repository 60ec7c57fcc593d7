//! `secateur config`: every setting and where it comes from; and the files and variables that settings are read from.

use std::env::{self, VarError};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use secateur_engine::config::{Config, ConfigSource, LARGEST_FILE, VARIABLES, schema};
use serde_json::json;

use crate::paint;
use crate::table::Table;

/// The name of a project's file.
const PROJECT_FILE: &str = "secateur.toml";

/// Show every setting and where it comes from.
///
/// Settings are read, from weak to strong, from built-in defaults, your own file (~/.config/secateur/config.toml), the
/// project's file (secateur.toml here or in the nearest folder above), variables of the environment and --set.
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    sources: Sources,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of a configuration file instead.
    #[arg(long, conflicts_with_all = ["json", "path"])]
    schema: bool,
    /// Print the files that are looked for and whether they are there instead.
    #[arg(long)]
    path: bool,
}

/// Where settings are read from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Sources {
    /// Read this file of settings, and neither your own nor the project's.
    #[arg(long, env = "SECATEUR_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set a value, e.g. `compaction.threshold=80%`; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// A file that settings may be in.
struct Candidate {
    /// Whose it is: `user`, `project` or `--config`.
    whose: &'static str,
    path: PathBuf,
    found: bool,
}

impl Sources {
    /// The same sources with a value set over all of them.
    pub(crate) fn with(&self, key: &str, value: &str) -> Self {
        let set = self.set.iter().cloned().chain([format!("{key}={value}")]).collect();
        Self { set, ..self.clone() }
    }

    /// The file that is named, if one is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Everything that is configured.
    pub(crate) fn read(&self) -> Result<Config> {
        let mut sources = Vec::new();
        if let Some(store) =
            home("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("secateur/sessions.db"))
        {
            sources.push(ConfigSource::default_value("store", &format!("sqlite:{}", store.display())));
        }
        for Candidate { whose, path, found } in self.candidates() {
            if !found && whose != "--config" {
                continue;
            }
            let text = read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            sources.push(match whose {
                "project" => ConfigSource::project(&path, &text)?,
                _ => ConfigSource::user(&path, &text)?,
            });
        }
        for (name, _) in VARIABLES {
            if let Err(error @ VarError::NotUnicode(_)) = env::var(name) {
                return Err(error).with_context(|| format!("cannot read the variable {name}"));
            }
        }
        sources.extend(ConfigSource::environment(|name| env::var(name).ok()));
        for flag in &self.set {
            sources.push(ConfigSource::flag(flag)?);
        }
        Ok(Config::read(&sources, &read_file)?)
    }

    fn candidates(&self) -> Vec<Candidate> {
        let candidate = |whose, path: PathBuf| Candidate { whose, found: path.is_file(), path };
        if let Some(path) = &self.config {
            return vec![candidate("--config", path.clone())];
        }
        let user = home("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("secateur/config.toml"));
        let here = env::current_dir().unwrap_or_default();
        let above = here.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|path| path.is_file());
        let project = above.unwrap_or_else(|| here.join(PROJECT_FILE));
        let user = user.map(|path| candidate("user", path));
        user.into_iter().chain([candidate("project", project)]).collect()
    }
}

impl Show {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        if self.schema {
            writeln!(out, "{}", serde_json::to_string_pretty(&schema())?)?;
        } else if self.path {
            self.show_files(out)?;
        } else {
            self.show_settings(out)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show_files(&self, out: &mut dyn Write) -> Result<()> {
        let files = self.sources.candidates();
        if self.json {
            let row =
                |file: &Candidate| json!({ "from": file.whose, "path": file.path, "found": file.found });
            writeln!(out, "{}", serde_json::to_string(&files.iter().map(row).collect::<Vec<_>>())?)?;
            return Ok(());
        }
        let mut table = Table::new(["from", "file", "found"]);
        for Candidate { whose, path, found } in files {
            let found = if found { "yes" } else { "no" };
            table.row([whose.to_owned(), path.display().to_string(), found.to_owned()]);
        }
        write!(out, "{table}")?;
        Ok(())
    }

    fn show_settings(&self, out: &mut dyn Write) -> Result<()> {
        let config = self.sources.read()?;
        let settings = config.settings();
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&json!({ "settings": settings }))?)?;
        } else {
            let mut table = Table::new(["key", "value", "from"]);
            for setting in settings {
                table.row([setting.key, setting.value.to_string(), setting.origin]);
            }
            write!(out, "{table}")?;
        }
        out.flush()?;
        if let Some(name) =
            config.key_env().filter(|name| env::var(name).map_or(true, |key| key.trim().is_empty()))
        {
            paint::warn(format!("{name} is not set; until it is, the summariser cannot be asked"));
        }
        Ok(config.check()?)
    }
}

/// A folder of the user's, as the XDG base directories say: a variable, or a folder in the home.
fn home(variable: &str, fallback: &str) -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder(variable).or_else(|| Some(folder("HOME")?.join(fallback)))
}

/// The text of a file. A pipe could keep us waiting, and an endless file could fill the memory.
fn read_file(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut text = String::new();
    // One byte more, so that too long a file is told from one that just fits.
    File::open(path)?.take(LARGEST_FILE as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
