//! Checks which agents are on this machine, and where each sends its requests. Their files are only read.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use secateur_sources::AgentFolders;

use super::finding::DoctorFinding;
use crate::agents::{AGENTS, AddressMethod, AgentSpec};
use crate::base_urls;
use crate::commands::run::proxy_url::leads_to;
use crate::listener::ListenerKind;

const CHECK: &str = "agent";
const PORT: &str = "port";

/// An address that an agent would use, and the variable or file that holds it.
struct AgentUrl {
    origin: String,
    url: String,
}

pub(crate) struct AgentCheck<'s> {
    pub(crate) proxy: SocketAddr,
    /// What listens there.
    pub(crate) listener: &'s ListenerKind,
    pub(crate) homes: AgentFolders,
    pub(crate) here: PathBuf,
    pub(crate) variable: &'s dyn Fn(&str) -> Option<String>,
}

impl AgentCheck<'_> {
    /// Checks all agents on this machine.
    pub(crate) async fn check(&self) -> Vec<DoctorFinding> {
        let mut findings = Vec::new();
        let mut listeners = BTreeMap::new();
        for agent in AGENTS.iter().filter(|agent| self.is_here(agent)) {
            findings.extend(self.check_agent(agent, &mut listeners).await);
        }
        if findings.is_empty() {
            let fix = "install one, or check that PATH is the same as where you start it";
            findings.push(DoctorFinding::warning(CHECK, "no known agent was found", fix));
        }
        findings
    }

    fn is_here(&self, agent: &AgentSpec) -> bool {
        let on_path = (self.variable)("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|dir| is_program(&dir.join(agent.program))));
        on_path || agent.folder(&self.homes).is_some_and(|folder| folder.is_dir())
    }

    /// The addresses that an agent would use.
    fn urls(&self, agent: &AgentSpec) -> Vec<AgentUrl> {
        let variables = agent.variables.iter().filter_map(|(name, _)| {
            let url = (self.variable)(name).filter(|url| !url.trim().is_empty())?;
            Some(AgentUrl { origin: (*name).to_owned(), url })
        });
        let files = agent.files(&self.homes, &self.here);
        let written = files.iter().flat_map(|file| {
            let origin = file.display().to_string();
            base_urls::in_file(file)
                .into_iter()
                .map(move |entry| AgentUrl { origin: origin.clone(), url: entry.url })
        });
        variables.chain(written).collect()
    }

    async fn check_agent(
        &self,
        agent: &AgentSpec,
        listeners: &mut BTreeMap<String, ListenerKind>,
    ) -> Vec<DoctorFinding> {
        let urls = self.urls(agent);
        let mut findings = Vec::new();
        let mut arrives = None;
        for AgentUrl { origin, url } in &urls {
            let Some(root) = local_root(url) else { continue };
            let listener = match listeners.get(&root) {
                Some(known) => known.clone(),
                None if leads_to(url, self.proxy) => self.listener.clone(),
                None => ListenerKind::at(&root).await,
            };
            listeners.insert(root.clone(), listener.clone());
            let points = format!("{origin} points {} at {root}", agent.title);
            match listener {
                ListenerKind::Secateur { .. } | ListenerKind::TokenRequired => {
                    arrives = Some(format!("{points}, where secateur listens"));
                }
                ListenerKind::Nothing => findings.push(self.wrong_port(agent, &points, &root)),
                ListenerKind::OtherUser { user } => findings.push(DoctorFinding::fault(
                    CHECK,
                    format!("{points}, where another user of this machine (id {user}) listens"),
                    format!("point it at your own proxy: {}", self.how_to_point(agent)),
                )),
                ListenerKind::OtherProgram => findings.push(DoctorFinding::warning(
                    CHECK,
                    format!("{points}, where another program listens"),
                    format!(
                        "if that is a model of yours, put secateur in front of it: {}",
                        self.how_to_point(agent)
                    ),
                )),
            }
        }
        match arrives {
            Some(found) => findings.insert(0, DoctorFinding::ok(CHECK, found)),
            None if findings.is_empty() => findings.push(self.elsewhere(agent, &urls)),
            None => {}
        }
        findings
    }

    /// The finding for an agent that uses a port of this machine on which nothing listens.
    fn wrong_port(&self, agent: &AgentSpec, points: &str, root: &str) -> DoctorFinding {
        let (proxy, title) = (self.proxy, agent.title);
        let (found, fix) = match self.listener {
            ListenerKind::Secateur { .. } | ListenerKind::TokenRequired => (
                format!("{points}, where nothing listens; the proxy is at http://{proxy}"),
                format!("change it to http://{proxy}: {}", self.how_to_point(agent)),
            ),
            _ if root.ends_with(&format!(":{}", proxy.port())) => (
                format!("{points}, where nothing listens"),
                format!(
                    "start `secateur serve`, or start {title} together with a proxy: `secateur run -- {}`",
                    agent.program
                ),
            ),
            _ => (
                format!("{points}, where nothing listens; a proxy would be at http://{proxy}"),
                format!(
                    "start `secateur serve` and change it to http://{proxy}: {}",
                    self.how_to_point(agent)
                ),
            ),
        };
        DoctorFinding::fault(PORT, found, fix)
    }

    /// The finding for an agent that does not use the proxy.
    fn elsewhere(&self, agent: &AgentSpec, urls: &[AgentUrl]) -> DoctorFinding {
        let title = agent.title;
        let found = match urls.first() {
            // The rest of the URL may hold a key.
            Some(AgentUrl { origin, url }) => {
                let host = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?']).next());
                let host = host.and_then(|host| host.rsplit('@').next()).unwrap_or_default();
                format!("{title} does not use the proxy: {origin} points it at {host}")
            }
            None => format!("{title} does not use the proxy: nothing points it there"),
        };
        DoctorFinding::warning(CHECK, found, self.how_to_point(agent))
    }

    fn how_to_point(&self, agent: &AgentSpec) -> String {
        let url = format!("http://{}", self.proxy);
        let setting = match agent.method {
            AddressMethod::Claude => format!("export ANTHROPIC_BASE_URL={url}"),
            AddressMethod::Codex => format!("set openai_base_url = \"{url}/v1\" in its config.toml"),
            AddressMethod::OpenCode => {
                format!("set provider.NAME.options.baseURL to {url}/v1 in opencode.json")
            }
            AddressMethod::Pi => {
                format!("set baseUrl of the provider to {url} (OpenAI: {url}/v1) in its models.json")
            }
            AddressMethod::OpenClaw => {
                return format!(
                    "set models.providers.NAME.baseUrl to {url} (OpenAI: {url}/v1) in openclaw.json, or start it with \
                     `secateur run -- openclaw agent exec`"
                );
            }
            AddressMethod::Variables if agent.program == "gemini" => {
                format!("export GOOGLE_GEMINI_BASE_URL={url}")
            }
            AddressMethod::Variables => format!("export OPENAI_API_BASE={url}/v1 ANTHROPIC_BASE_URL={url}"),
        };
        format!("{setting}, or start it with `secateur run -- {}`", agent.program)
    }
}

/// The scheme, host and port of an address on this machine.
fn local_root(url: &str) -> Option<String> {
    let rest = url.trim().strip_prefix("http://")?;
    let authority = rest.split(['/', '?']).next()?;
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let is_local = host == "localhost" || host == "[::1]" || host.starts_with("127.");
    is_local.then(|| format!("http://{authority}"))
}

/// Whether a path is an executable file.
fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}
