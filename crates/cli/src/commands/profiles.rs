//! `secateur profiles`: the list of profiles, or every setting of one.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use secateur::{Profile, Profiles};
use serde_json::json;

use crate::profile_args::ProfileArgs;
use crate::table::Table;
use crate::terminal::print_json;

/// List the profiles, or show every setting of one and where it comes from.
#[derive(Debug, Args)]
pub(crate) struct ProfilesArgs {
    /// A profile's name, or the path of a TOML file.
    name: Option<String>,
    /// Print JSON: an array of profiles, or one object.
    #[arg(long)]
    json: bool,
}

impl ProfilesArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        match &self.name {
            Some(name) => self.one(out, &ProfileArgs::named(name)?)?,
            None => self.all(out)?,
        }
        Ok(())
    }

    fn all(&self, out: &mut dyn Write) -> Result<()> {
        let profiles = Profiles::builtin();
        let all: Vec<Profile> = profiles.names().map(|name| profiles.get(name)).collect::<Result<_, _>>()?;
        if self.json {
            let rows: Vec<_> =
                all.iter().map(|profile| json!({ "name": profile.name, "about": profile.about })).collect();
            return print_json(out, &rows);
        }
        let mut table = Table::new(["profile", "description"]);
        for profile in all {
            table.row([profile.name, profile.about]);
        }
        write!(out, "{table}")?;
        writeln!(
            out,
            "\n`secateur profiles NAME` shows every setting of a profile and where it comes from."
        )?;
        Ok(())
    }

    fn one(&self, out: &mut dyn Write, profile: &Profile) -> Result<()> {
        if self.json {
            let values: Vec<_> = profile
                .settings()
                .map(|(key, value, origin)| json!({ "key": key, "value": value, "origin": origin }))
                .collect();
            let whole = json!({ "name": profile.name, "about": profile.about, "settings": values });
            return print_json(out, &whole);
        }
        writeln!(out, "{}: {}\n", profile.name, profile.about)?;
        settings(out, profile)
    }
}

/// Prints every setting and where it comes from.
pub(crate) fn settings(out: &mut dyn Write, profile: &Profile) -> Result<()> {
    let mut table = Table::new(["key", "value", "from"]);
    let is_heading = |key: &str| matches!(key, "name" | "about");
    for (key, value, origin) in profile.settings().filter(|(key, ..)| !is_heading(key)) {
        table.row([key.to_owned(), value.to_string(), origin.to_owned()]);
    }
    write!(out, "{table}")?;
    Ok(())
}
