//! How an agent is started so that it uses the proxy: variables, arguments, and notes for the user.
//!
//! No file of the user is changed. Files that an agent needs are in a temporary folder that is deleted after the run.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use secateur_server::Provider;
use secateur_sources::AgentFolders;
use tempfile::TempDir;

use super::proxy_url::{OriginalUrls, ProxyUrl};
use super::{claude, codex, openclaw, opencode, pi};
use crate::agents::{AddressMethod, AgentSpec, PROXY_VARIABLES};
use crate::base_urls::{self, BaseUrl};

/// Addresses that no other proxy can reach.
const LOOPBACK: &str = "127.0.0.1,localhost";

/// The agent and how the user called it.
pub(crate) struct AgentCall<'c> {
    pub(crate) agent: &'static AgentSpec,
    /// The user's own arguments.
    pub(crate) arguments: &'c [OsString],
    pub(crate) homes: AgentFolders,
    pub(crate) here: PathBuf,
}

/// What is added to the user's call.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    pub(crate) variables: Vec<(String, String)>,
    /// Arguments before the user's.
    pub(crate) arguments: Vec<OsString>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
    /// Files of this run only.
    pub(crate) folder: Option<TempDir>,
}

impl AgentCall<'_> {
    /// The addresses that the agent would use without us.
    pub(crate) fn original_urls(&self, proxy: SocketAddr) -> OriginalUrls {
        let mut urls = OriginalUrls::default();
        match self.agent.method {
            AddressMethod::Claude => claude::original_urls(self, &mut urls, proxy),
            AddressMethod::Codex => codex::original_urls(self, &mut urls, proxy),
            AddressMethod::OpenCode => opencode::original_urls(self, &mut urls, proxy),
            AddressMethod::Pi => pi::original_urls(self, &mut urls, proxy),
            AddressMethod::Variables => urls_in_files(self, &mut urls, proxy),
            AddressMethod::OpenClaw => openclaw::original_urls(self, &mut urls, proxy),
        }
        for (name, provider) in self.agent.variables {
            if let Ok(url) = env::var(name) {
                urls.record(*provider, &url, proxy);
            }
        }
        urls
    }

    /// The agent's default upstream for OpenAI requests, if it is not OpenAI's API.
    pub(crate) fn default_openai(&self) -> Option<String> {
        (self.agent.method == AddressMethod::Codex).then(|| codex::default_upstream(self))?.map(str::to_owned)
    }

    /// Whether the proxy's address is in the agent's arguments, which every user of the machine can read.
    pub(crate) fn has_address_in_arguments(&self) -> bool {
        self.agent.method == AddressMethod::Codex
    }

    /// The values that the user gave to an option, in any of its spellings.
    pub(crate) fn values(&self, short: Option<char>, long: &str) -> Vec<String> {
        let texts = self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
        let mut texts = texts.take_while(|text| text != "--");
        let mut values = Vec::new();
        while let Some(text) = texts.next() {
            let long = text.strip_prefix("--").and_then(|rest| rest.strip_prefix(long));
            let short = || short.and_then(|short| text.strip_prefix('-')?.strip_prefix(short));
            match (long, long.is_none().then(short).flatten()) {
                (Some(""), _) | (_, Some("")) => values.extend(texts.next()),
                (Some(rest), _) => values.extend(rest.strip_prefix('=').map(str::to_owned)),
                (_, Some(rest)) => values.push(rest.trim_start_matches('=').to_owned()),
                _ => {}
            }
        }
        values
    }

    /// What has to be added to the call so that the agent uses the proxy.
    pub(crate) fn launch(&self, proxy_url: &ProxyUrl) -> Result<Launch> {
        let mut launch = Launch::default();
        for (name, provider) in self.agent.variables {
            launch.set(name, proxy_url.address(*provider));
        }
        match self.agent.method {
            AddressMethod::Variables => {}
            AddressMethod::Claude => claude::configure(self, proxy_url, &mut launch)?,
            AddressMethod::Codex => codex::configure(self, proxy_url, &mut launch),
            AddressMethod::OpenCode => opencode::configure(self, proxy_url, &mut launch),
            AddressMethod::Pi => pi::configure(self, proxy_url, &mut launch)?,
            AddressMethod::OpenClaw => openclaw::configure(self, proxy_url, &mut launch)?,
        }
        for file in self.agent.project_files(&self.here) {
            if !base_urls::in_file(&file).is_empty() {
                let note =
                    "names an address; only flags and your own files can set the upstream, not a project's";
                launch.notes.push(format!("{} {note}", file.display()));
            }
        }
        launch.exempt_loopback();
        Ok(launch)
    }
}

impl Launch {
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.variables.push((name.to_owned(), value));
    }

    /// Writes a file of this run. Only the user can read it, because an address in it can hold a token.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> Result<PathBuf> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new()
                .prefix("secateur-run-")
                .tempdir()
                .context("cannot create a folder for this run")?,
        };
        let file = self.folder.insert(folder).path().join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&file).and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }

    /// Keeps requests to this machine from going to another proxy.
    fn exempt_loopback(&mut self) {
        if PROXY_VARIABLES.iter().all(|name| env::var_os(name).is_none_or(|value| value.is_empty())) {
            return;
        }
        for name in ["NO_PROXY", "no_proxy"] {
            let exempt = env::var(name).unwrap_or_default();
            let comma = if exempt.is_empty() { "" } else { "," };
            self.set(name, format!("{exempt}{comma}{LOOPBACK}"));
        }
    }

    /// The program with these additions and the user's arguments.
    pub(crate) fn command(&self, program: &OsStr, arguments: &[OsString]) -> Command {
        let mut command = Command::new(program);
        command.args(&self.arguments).args(arguments).envs(self.variables.iter().map(|(k, v)| (k, v)));
        command
    }
}

/// Records the addresses in the user's files, because the variables override them.
fn urls_in_files(call: &AgentCall<'_>, urls: &mut OriginalUrls, proxy: SocketAddr) {
    for file in call.agent.own_files(&call.homes).iter().rev() {
        for BaseUrl { key, url } in base_urls::in_file(file) {
            let names = [
                ("anthropic", Provider::Anthropic),
                ("openai", Provider::OpenAi),
                ("gemini", Provider::Gemini),
            ];
            if let Some((_, provider)) = names.into_iter().find(|(name, _)| key.contains(name)) {
                urls.record(provider, &url, proxy);
            }
        }
    }
}

/// The providers by their names in agents.
pub(crate) const PROVIDERS: [(&str, Provider); 3] =
    [("anthropic", Provider::Anthropic), ("openai", Provider::OpenAi), ("google", Provider::Gemini)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_in_every_spelling() {
        let texts =
            ["-c", "a=1", "-cb=2", "-c=c=3", "--config=d=4", "--config", "e=5", "--configs=no", "--", "-cx"];
        let arguments: Vec<OsString> = texts.iter().map(OsString::from).collect();
        let call = AgentCall {
            agent: AgentSpec::of(OsStr::new("codex")),
            arguments: &arguments,
            homes: AgentFolders::default(),
            here: PathBuf::new(),
        };
        assert_eq!(call.values(Some('c'), "config"), ["a=1", "b=2", "c=3", "d=4", "e=5"]);
        assert!(call.values(None, "profile").is_empty());
    }
}
