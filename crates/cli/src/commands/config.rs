//! `secateur config`: every setting and where it comes from.

use std::env;
use std::io::Write;

use anyhow::Result;
use clap::Args;
use secateur_engine::config::schema;
use serde_json::json;

use crate::commands::serve::ServeArgs;
use crate::settings_args::{SettingsArgs, SettingsFile};
use crate::table::Table;
use crate::terminal::{self, print_json};

/// Show every setting and where it comes from.
///
/// Settings come from built-in defaults, your own file (~/.config/secateur/config.toml), the project's file
/// (secateur.toml here or in the nearest folder above), environment variables and --set. Later ones win.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of a configuration file instead.
    #[arg(long, conflicts_with_all = ["json", "path"])]
    schema: bool,
    /// Print the files that are read instead, and whether each exists.
    #[arg(long)]
    path: bool,
}

impl ConfigArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        if self.schema {
            writeln!(out, "{}", serde_json::to_string_pretty(&schema())?)?;
        } else if self.path {
            self.show_files(out)?;
        } else {
            self.show_settings(out)?;
        }
        Ok(())
    }

    fn show_files(&self, out: &mut dyn Write) -> Result<()> {
        let files = self.settings.files();
        if self.json {
            let row =
                |file: &SettingsFile| json!({ "from": file.origin, "path": file.path, "found": file.found });
            return print_json(out, &files.iter().map(row).collect::<Vec<_>>());
        }
        let mut table = Table::new(["from", "file", "found"]);
        for SettingsFile { origin, path, found } in files {
            let found = if found { "yes" } else { "no" };
            table.row([origin.to_owned(), path.display().to_string(), found.to_owned()]);
        }
        write!(out, "{table}")?;
        Ok(())
    }

    fn show_settings(&self, out: &mut dyn Write) -> Result<()> {
        let config = self.settings.read()?;
        let serve = ServeArgs::with_settings(self.settings.clone());
        let settings = serve.effective_settings(&config, &serve.settings(&config)?);
        if self.json {
            print_json(out, &json!({ "settings": settings }))?;
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
            terminal::warn(format!("{name} is not set, so the summariser cannot be asked"));
        }
        Ok(config.check()?)
    }
}
