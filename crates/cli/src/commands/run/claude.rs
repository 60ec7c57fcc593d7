//! Claude Code reads a variable, but what stands in its settings goes over it. Settings that an argument names go over
//! both. They lie in a file, because everybody on the machine can read arguments.

use std::net::SocketAddr;

use anyhow::Result;
use secateur_server::Provider;
use serde_json::{Value, json};

use super::launch::{AgentCall, Launch};
use super::proxy_url::{OriginalUrls, ProxyUrl};

const VARIABLE: &str = "ANTHROPIC_BASE_URL";

/// Variables by which Claude Code speaks to a cloud instead, whose requests are signed and cannot be changed.
const CLOUDS: [&str; 2] = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"];

/// The address in the settings.
pub(crate) fn before(call: &AgentCall<'_>, before: &mut OriginalUrls, proxy: SocketAddr) {
    if let Some(url) = in_settings(call) {
        before.note(Provider::Anthropic, &url, proxy);
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) -> Result<()> {
    for cloud in CLOUDS {
        if std::env::var_os(cloud).is_some_and(|value| !value.is_empty() && value != "0") {
            launch
                .notes
                .push(format!("{cloud} is set, so Claude Code goes to that cloud and not through here"));
        }
    }
    if in_settings(call).is_none() {
        return Ok(());
    }
    if !call.values(None, "settings").is_empty() {
        let note = format!("{VARIABLE} in Claude Code's settings may go over the address of this run");
        launch.notes.push(note);
        return Ok(());
    }
    let settings = json!({ "env": { VARIABLE: proxy_url.address(Provider::Anthropic) } });
    let file = launch.write("settings.json", &settings.to_string())?;
    launch.arguments.extend(["--settings".into(), file.into_os_string()]);
    Ok(())
}

/// The address that the user's settings name.
fn in_settings(call: &AgentCall<'_>) -> Option<String> {
    let files = call.agent.own_files(&call.homes);
    files.iter().rev().find_map(|file| {
        let settings: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        settings["env"][VARIABLE].as_str().map(str::to_owned)
    })
}
