//! Which agents are on this machine, and where each of them sends its requests. Their files are only read.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use secateur_sources::AgentFolders;

use super::finding::DoctorFinding;
use crate::agents::{AGENTS, AddressMethod, AgentSpec};
use crate::base_urls;
use crate::commands::run::proxy_url::leads_to;
use crate::listener::Listener;

const CHECK: &str = "agent";
const PORT: &str = "port";

/// An address that an agent would use, and where that is written.
struct AgentUrl {
    place: String,
    url: String,
}

/// What is looked at.
pub(crate) struct AgentCheck<'s> {
    /// The address of the proxy.
    pub(crate) proxy: SocketAddr,
    /// Who listens there.
    pub(crate) listener: &'s Listener,
    pub(crate) homes: AgentFolders,
    pub(crate) here: PathBuf,
    pub(crate) variable: &'s dyn Fn(&str) -> Option<String>,
}

impl AgentCheck<'_> {
    /// Looks at all agents that are there.
    pub(crate) async fn check(&self) -> Vec<DoctorFinding> {
        let mut findings = Vec::new();
        let mut asked = BTreeMap::new();
        for agent in AGENTS.iter().filter(|agent| self.is_here(agent)) {
            findings.extend(self.judge(agent, &mut asked).await);
        }
        if findings.is_empty() {
            let fix = "install one, or see whether PATH is what it is where you start it";
            findings.push(DoctorFinding::warning(CHECK, "no agent that is known here was found", fix));
        }
        findings
    }

    fn is_here(&self, agent: &AgentSpec) -> bool {
        let on_path = (self.variable)("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|dir| is_program(&dir.join(agent.program))));
        on_path || agent.folder(&self.homes).is_some_and(|folder| folder.is_dir())
    }

    /// Everything that tells an agent where to go.
    fn pointers(&self, agent: &AgentSpec) -> Vec<AgentUrl> {
        let variables = agent.variables.iter().filter_map(|(name, _)| {
            let url = (self.variable)(name).filter(|url| !url.trim().is_empty())?;
            Some(AgentUrl { place: (*name).to_owned(), url })
        });
        let files = agent.files(&self.homes, &self.here);
        let written = files.iter().flat_map(|file| {
            let place = file.display().to_string();
            base_urls::in_file(file)
                .into_iter()
                .map(move |entry| AgentUrl { place: place.clone(), url: entry.url })
        });
        variables.chain(written).collect()
    }

    async fn judge(&self, agent: &AgentSpec, asked: &mut BTreeMap<String, Listener>) -> Vec<DoctorFinding> {
        let pointers = self.pointers(agent);
        let mut findings = Vec::new();
        let mut arrives = None;
        for AgentUrl { place, url } in &pointers {
            let Some(root) = local_root(url) else { continue };
            let listener = match asked.get(&root) {
                Some(known) => known.clone(),
                None if leads_to(url, self.proxy) => self.listener.clone(),
                None => Listener::at(&root).await,
            };
            asked.insert(root.clone(), listener.clone());
            let points = format!("{place} points {} at {root}", agent.title);
            match listener {
                Listener::Secateur { .. } | Listener::TokenRequired => {
                    arrives = Some(format!("{points}, where secateur listens"));
                }
                Listener::Nothing => findings.push(self.wrong_port(agent, &points, &root)),
                Listener::OtherUser { user } => findings.push(DoctorFinding::fault(
                    CHECK,
                    format!("{points}, where user {user} of this machine listens"),
                    format!("point it where your own proxy listens: {}", self.remedy(agent)),
                )),
                Listener::OtherProgram => findings.push(DoctorFinding::warning(
                    CHECK,
                    format!("{points}, where another program listens"),
                    format!(
                        "if that is a model of your own, put secateur in front of it: {}",
                        self.remedy(agent)
                    ),
                )),
            }
        }
        match arrives {
            Some(found) => findings.insert(0, DoctorFinding::ok(CHECK, found)),
            None if findings.is_empty() => findings.push(self.elsewhere(agent, &pointers)),
            None => {}
        }
        findings
    }

    /// An agent that goes to a port of this machine where nobody is.
    fn wrong_port(&self, agent: &AgentSpec, points: &str, root: &str) -> DoctorFinding {
        let (proxy, title) = (self.proxy, agent.title);
        let (found, fix) = match self.listener {
            Listener::Secateur { .. } | Listener::TokenRequired => (
                format!("{points}, where nobody listens; the proxy is at http://{proxy}"),
                format!("change it to http://{proxy}: {}", self.remedy(agent)),
            ),
            _ if root.ends_with(&format!(":{}", proxy.port())) => (
                format!("{points}, where nobody listens"),
                format!(
                    "start `secateur serve`, or {title} with a proxy of its own: `secateur run -- {}`",
                    agent.program
                ),
            ),
            _ => (
                format!("{points}, where nobody listens; a proxy would be at http://{proxy}"),
                format!("start `secateur serve` and change it to http://{proxy}: {}", self.remedy(agent)),
            ),
        };
        DoctorFinding::fault(PORT, found, fix)
    }

    /// An agent that does not come here.
    fn elsewhere(&self, agent: &AgentSpec, pointers: &[AgentUrl]) -> DoctorFinding {
        let title = agent.title;
        let found = match pointers.first() {
            // What stands behind the host may be a key.
            Some(AgentUrl { place, url }) => {
                let host = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?']).next());
                let host = host.and_then(|host| host.rsplit('@').next()).unwrap_or_default();
                format!("{title} does not come here: {place} points it at {host}")
            }
            None => format!("{title} does not come here: nothing points it at the proxy"),
        };
        DoctorFinding::warning(CHECK, found, self.remedy(agent))
    }

    /// How an agent is brought here.
    fn remedy(&self, agent: &AgentSpec) -> String {
        let url = format!("http://{}", self.proxy);
        let lasting = match agent.method {
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
        format!("{lasting}, or start it with `secateur run -- {}`", agent.program)
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

/// Whether a path is that of a program.
fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}
