//! `secateur config`: every setting and where it comes from; and the files and variables that settings are read from.

use std::env;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use secateur_engine::config::schema;
use serde_json::json;

use crate::settings_args::{SettingsArgs, SettingsFile};
use crate::table::Table;
use crate::terminal;

/// Show every setting and where it comes from.
///
/// Settings are read, from weak to strong, from built-in defaults, your own file (~/.config/secateur/config.toml), the
/// project's file (secateur.toml here or in the nearest folder above), variables of the environment and --set.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    sources: SettingsArgs,
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

impl ConfigArgs {
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
        let files = self.sources.files();
        if self.json {
            let row =
                |file: &SettingsFile| json!({ "from": file.whose, "path": file.path, "found": file.found });
            writeln!(out, "{}", serde_json::to_string(&files.iter().map(row).collect::<Vec<_>>())?)?;
            return Ok(());
        }
        let mut table = Table::new(["from", "file", "found"]);
        for SettingsFile { whose, path, found } in files {
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
            terminal::warn(format!("{name} is not set; until it is, the summariser cannot be asked"));
        }
        Ok(config.check()?)
    }
}
