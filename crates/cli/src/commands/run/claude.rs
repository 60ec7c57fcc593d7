//! Claude Code reads a variable, but its settings override it. Settings named by an argument override both. They are in
//! a file, because every user of the machine can read arguments.

use std::net::SocketAddr;

use anyhow::Result;
use secateur_server::Provider;
use serde_json::{Value, json};

use super::launch::{AgentCall, Launch};
use super::proxy_url::{OriginalUrls, ProxyUrl};

const VARIABLE: &str = "ANTHROPIC_BASE_URL";

/// Variables that make Claude Code use a cloud, whose requests are signed and cannot be changed.
const CLOUDS: [&str; 2] = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"];

/// Records the address in the settings.
pub(crate) fn original_urls(call: &AgentCall<'_>, urls: &mut OriginalUrls, proxy: SocketAddr) {
    if let Some(url) = in_settings(call) {
        urls.record(Provider::Anthropic, &url, proxy);
    }
}

pub(crate) fn configure(call: &AgentCall<'_>, proxy_url: &ProxyUrl, launch: &mut Launch) -> Result<()> {
    for cloud in CLOUDS {
        if std::env::var_os(cloud).is_some_and(|value| !value.is_empty() && value != "0") {
            launch.notes.push(format!("{cloud} is set, so Claude Code uses that cloud and not the proxy"));
        }
    }
    if in_settings(call).is_none() {
        return Ok(());
    }
    if !call.values(None, "settings").is_empty() {
        let note = format!("{VARIABLE} in Claude Code's settings may override the proxy's address");
        launch.notes.push(note);
        return Ok(());
    }
    let settings = json!({ "env": { VARIABLE: proxy_url.address(Provider::Anthropic) } });
    let file = launch.write("settings.json", &settings.to_string())?;
    launch.arguments.extend(["--settings".into(), file.into_os_string()]);
    Ok(())
}

/// The address in the user's settings.
fn in_settings(call: &AgentCall<'_>) -> Option<String> {
    let files = call.agent.own_files(&call.homes);
    files.iter().rev().find_map(|file| {
        let settings: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        settings["env"][VARIABLE].as_str().map(str::to_owned)
    })
}
