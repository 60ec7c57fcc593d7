//! How an agent is started so that it comes to the proxy: variables, arguments, and what has to be said about it.
//!
//! No file of the user's is changed. What an agent wants in a file is put into a folder that is gone after the run.

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
use crate::agents::{AddressMethod, AgentSpec};
use crate::base_urls::{self, BaseUrl};

/// Variables by which programs are told to ask a proxy, and which of them may therefore have to be told where not to.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Addresses that no other proxy can reach for us.
const LOOPBACK: &str = "127.0.0.1,localhost";

/// What is known about the user and the call before anything is started.
pub(crate) struct AgentCall<'c> {
    pub(crate) agent: &'static AgentSpec,
    /// The user's own arguments.
    pub(crate) arguments: &'c [OsString],
    pub(crate) homes: AgentFolders,
    pub(crate) here: PathBuf,
}

/// What is put around the user's own call.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    pub(crate) variables: Vec<(String, String)>,
    /// Arguments in front of the user's.
    pub(crate) arguments: Vec<OsString>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
    /// Files of this run alone.
    pub(crate) folder: Option<TempDir>,
}

impl AgentCall<'_> {
    /// Where the agent goes without us.
    pub(crate) fn before(&self, proxy: SocketAddr) -> OriginalUrls {
        let mut before = OriginalUrls::default();
        match self.agent.method {
            AddressMethod::Claude => claude::before(self, &mut before, proxy),
            AddressMethod::Codex => codex::before(self, &mut before, proxy),
            AddressMethod::OpenCode => opencode::before(self, &mut before, proxy),
            AddressMethod::Pi => pi::before(self, &mut before, proxy),
            AddressMethod::Variables => written(self, &mut before, proxy),
            AddressMethod::OpenClaw => openclaw::before(self, &mut before, proxy),
        }
        for (name, provider) in self.agent.variables {
            if let Ok(url) = env::var(name) {
                before.note(*provider, &url, proxy);
            }
        }
        before
    }

    /// Where it goes if neither the user nor the proxy's configuration says anything.
    pub(crate) fn usual_openai(&self) -> Option<String> {
        (self.agent.method == AddressMethod::Codex).then(|| codex::usual(self))?.map(str::to_owned)
    }

    /// Whether the address of the proxy stands in its arguments, which everybody on the machine can read.
    pub(crate) fn shows_address(&self) -> bool {
        self.agent.method == AddressMethod::Codex
    }

    /// The values that the user gave an option, in each way that it may be written. A short name is its letter.
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

    /// How it is brought here.
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
                    "names an address; the proxy does not follow a project's files, only flags and yours";
                launch.notes.push(format!("{} {note}", file.display()));
            }
        }
        launch.spare_loopback();
        Ok(launch)
    }
}

impl Launch {
    /// Sets a variable.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.variables.push((name.to_owned(), value));
    }

    /// Writes a file of this run alone, which nobody else can read: an address in it can hold a token.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> Result<PathBuf> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new()
                .prefix("secateur-run-")
                .tempdir()
                .context("cannot make a folder for this run")?,
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

    /// Keeps requests to this machine from being sent to another proxy.
    fn spare_loopback(&mut self) {
        if PROXIES.iter().all(|name| env::var_os(name).is_none_or(|value| value.is_empty())) {
            return;
        }
        for name in ["NO_PROXY", "no_proxy"] {
            let spared = env::var(name).unwrap_or_default();
            let comma = if spared.is_empty() { "" } else { "," };
            self.set(name, format!("{spared}{comma}{LOOPBACK}"));
        }
    }

    /// The program with all of this and the user's own arguments.
    pub(crate) fn command(&self, program: &OsStr, arguments: &[OsString]) -> Command {
        let mut command = Command::new(program);
        command.args(&self.arguments).args(arguments).envs(self.variables.iter().map(|(k, v)| (k, v)));
        command
    }
}

/// Notes the addresses that are written into the user's files in the way of variables: those files would not be looked
/// at any more.
fn written(call: &AgentCall<'_>, before: &mut OriginalUrls, proxy: SocketAddr) {
    for file in call.agent.own_files(&call.homes).iter().rev() {
        for BaseUrl { key, url } in base_urls::in_file(file) {
            let whose = [
                ("anthropic", Provider::Anthropic),
                ("openai", Provider::OpenAi),
                ("gemini", Provider::Gemini),
            ];
            if let Some((_, provider)) = whose.into_iter().find(|(name, _)| key.contains(name)) {
                before.note(provider, &url, proxy);
            }
        }
    }
}

/// The three providers by the names that agents know them by.
pub(crate) const PROVIDERS: [(&str, Provider); 3] =
    [("anthropic", Provider::Anthropic), ("openai", Provider::OpenAi), ("google", Provider::Gemini)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_however_it_is_written() {
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
