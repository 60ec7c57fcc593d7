//! pi has no variable for addresses. An extension may give a provider another one, and `-e` loads an extension for one
//! run.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::json;

use super::launch::{Call, Launch, PROVIDERS};
use super::point::Point;
use crate::addresses;

/// Commands of pi that do not talk to a model, and take no extension.
const COMMANDS: [&str; 6] = ["install", "remove", "uninstall", "update", "list", "config"];

pub(crate) fn arrange(call: &Call<'_>, point: &Point, launch: &mut Launch) -> Result<()> {
    if call.arguments.first().is_some_and(|first| COMMANDS.iter().any(|command| first == command)) {
        return Ok(());
    }
    let mut text = String::from("export default function (pi) {\n");
    for (name, provider) in PROVIDERS {
        // Google's client puts no version in front of the path itself.
        let version = if name == "google" { "/v1beta" } else { "" };
        let address = json!(format!("{}{version}", point.address(provider)));
        writeln!(text, "  pi.registerProvider({}, {{ baseUrl: {address} }});", json!(name))?;
    }
    text.push_str("}\n");
    let folder = tempfile::Builder::new().prefix("secateur-run-").tempdir();
    let folder = folder.context("cannot make a folder for pi's extension")?;
    let file = folder.path().join("secateur.mjs");
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    launch.arguments.extend(["-e".into(), file.into_os_string()]);
    launch.folder = Some(folder);
    let files = call.agent.files(&call.homes, &call.here);
    if let Some(url) = files.iter().flat_map(|file| addresses::in_file(file)).next() {
        launch.notes.push(format!("a provider at {url} in pi's models.json is not pointed here"));
    }
    Ok(())
}
