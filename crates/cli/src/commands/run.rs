//! `secateur run`: runs an agent behind the proxy.

mod child;
mod claude;
mod codex;
mod launch;
mod openclaw;
mod opencode;
mod pi;
mod provider_urls;
pub(crate) mod proxy_url;
mod savings_line;
#[cfg(unix)]
mod signals;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use secateur_engine::config::Config;
use secateur_server::{AccessToken, Counters, Provider, Server, Settings, TenantToken};
use secateur_sources::AgentFolders;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::agents::AgentSpec;
use crate::commands::serve::{
    Colours, ServeArgs, has_same_settings, raise_open_file_limit, survive_file_size_limit,
};
use crate::http_get;
use crate::listener::{ListenerKind, TIMEOUT, client_address};
use crate::terminal;
use launch::AgentCall;
use proxy_url::{ApiVersion, OriginalUrls, ProxyUrl, root, split_version};

/// How long the proxy waits for open streams when the agent has exited and no longer reads them.
const DRAIN: Duration = Duration::from_secs(1);

/// Run an agent behind the proxy: `secateur run -- claude`.
///
/// A running proxy is used; otherwise one is started and ends with the agent. Variables and arguments point the agent at
/// the proxy, and none of its files is changed. If the agent was pointed at another address, the proxy sends its requests
/// there. The exit code is the agent's.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The agent and its arguments: claude, codex, opencode, pi, aider, gemini, openclaw, or any program that reads
    /// ANTHROPIC_BASE_URL, OPENAI_BASE_URL, OPENAI_API_BASE or GOOGLE_GEMINI_BASE_URL.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
    /// Log to this file [default: no log, because the terminal is the agent's]
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    #[command(flatten)]
    serve: ServeArgs,
}

/// The proxy for an agent.
enum RunProxy {
    /// It was already running.
    Found(SocketAddr),
    /// It ends with the agent.
    Ours { address: SocketAddr, counters: Counters, stop: oneshot::Sender<()>, serving: JoinHandle<()> },
}

impl RunArgs {
    pub(crate) fn run(&self, _: &mut dyn Write) -> Result<ExitCode> {
        let config = self.serve.config()?;
        self.log(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.run_agent(&config))
    }

    fn log(&self, config: &Config) -> Result<()> {
        let Some(path) = &self.log_file else { return Ok(()) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("cannot write to {}", path.display()))?;
        self.serve.log(config, Mutex::new(file), Colours::None);
        Ok(())
    }

    async fn run_agent(&self, config: &Config) -> Result<ExitCode> {
        survive_file_size_limit();
        let (program, arguments) = self.command.split_first().ok_or_else(|| anyhow!("no program given"))?;
        let call = AgentCall {
            agent: AgentSpec::of(program),
            arguments,
            homes: AgentFolders::from_env(),
            here: env::current_dir().unwrap_or_default(),
        };
        let settings = self.serve.settings(config)?;
        if let Some(warning) = self.serve.token_file_warning(config) {
            terminal::warn(warning);
        }
        let mut settings = Settings { drain: DRAIN, ..settings };
        let mut original = call.original_urls(client_address(settings.listen));
        if original.openai.is_none()
            && config.serve().openai.is_none()
            && !self.serve.sets_upstream(Provider::OpenAi)
        {
            original.openai = call.default_openai();
        }
        let version = self.redirect(&original, &mut settings)?;
        let mut token = self.serve.token(config)?;
        if token.is_some() && call.has_address_in_arguments() {
            // Every user can read arguments, so this token is for a proxy of this run only.
            let run_token = uuid::Uuid::new_v4().simple().to_string();
            settings.tokens = vec![TenantToken::of_owner(AccessToken::new(&run_token)?)];
            settings.listen.set_port(0);
            token = Some(run_token);
        }
        let proxy = self.proxy(config, settings, &original, token.as_deref()).await?;
        let run = run_name(program);
        let proxy_url = ProxyUrl::new(proxy.address(), token.as_deref(), &run);
        let proxy_url = if version == ApiVersion::Included { proxy_url.without_version() } else { proxy_url };
        let launch = call.launch(&proxy_url)?;
        for note in &launch.notes {
            terminal::note(note);
        }
        let code = match child::start(launch.command(program, arguments)) {
            Ok(program) => {
                // Only now, because the program would inherit the limit.
                raise_open_file_limit();
                child::wait(program).await.context("cannot wait for the program")?
            }
            Err(error) => {
                terminal::error(&anyhow!("cannot start {}: {error}", program.display()));
                // The exit codes of shells and `env`.
                if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
            }
        };
        let line = proxy.close(token.as_deref(), &run).await;
        anstream::eprintln!("secateur: {line}");
        Ok(ExitCode::from(code))
    }

    /// Sets the agent's original addresses as upstreams, unless a flag sets others.
    fn redirect(&self, original: &OriginalUrls, settings: &mut Settings) -> Result<ApiVersion> {
        let wanted =
            |provider, url: &Option<String>| url.clone().filter(|_| !self.serve.sets_upstream(provider));
        let failure = "the agent's configured address cannot be an upstream";
        if let Some(url) = wanted(Provider::Anthropic, &original.anthropic) {
            settings.anthropic = url.parse().context(failure)?;
        }
        if let Some(url) = wanted(Provider::Gemini, &original.gemini) {
            settings.gemini = url.parse().context(failure)?;
        }
        let Some(url) = wanted(Provider::OpenAi, &original.openai) else { return Ok(ApiVersion::Appended) };
        let (upstream, version) = split_version(&url).context(failure)?;
        settings.openai = upstream;
        Ok(version)
    }

    /// The running proxy, if it has the same settings; otherwise a new one.
    async fn proxy(
        &self,
        config: &Config,
        settings: Settings,
        original: &OriginalUrls,
        token: Option<&str>,
    ) -> Result<RunProxy> {
        let listen = settings.listen;
        let free = || Settings { listen: SocketAddr::new(listen.ip(), 0), ..settings.clone() };
        if listen.port() == 0 {
            return Ok(RunProxy::start(self.serve.bind(free()).await?));
        }
        let running = root(client_address(listen), token);
        let server = match ListenerKind::local(client_address(listen), &running).await {
            ListenerKind::Secateur { .. }
                if original.is_empty() && self.suits(config, &settings, &running).await =>
            {
                return Ok(RunProxy::Found(client_address(listen)));
            }
            ListenerKind::OtherUser { user } => {
                terminal::note(format!(
                    "another user of this machine (id {user}) listens on {listen}, so your proxy listens on another port"
                ));
                self.serve.bind(free()).await?
            }
            ListenerKind::Secateur { .. } | ListenerKind::TokenRequired | ListenerKind::OtherProgram => {
                self.serve.bind(free()).await?
            }
            ListenerKind::Nothing => match self.serve.bind(settings.clone()).await {
                Ok(server) => server,
                // Another process was faster, or the address cannot be used.
                Err(_) => self.serve.bind(free()).await?,
            },
        };
        Ok(RunProxy::start(server))
    }

    /// Whether the running proxy can be used: nothing was customised here, or it has the same settings.
    async fn suits(&self, config: &Config, settings: &Settings, running: &str) -> bool {
        let shown = self.serve.effective_settings(config, settings);
        if self.log_file.is_some() {
            return false;
        }
        if !self.serve.is_customised(&shown) {
            return true;
        }
        let response = http_get::get(&format!("{running}/api/configuration"), &[], TIMEOUT).await;
        response.is_ok_and(|response| response.status == 200 && has_same_settings(&shown, &response.body))
    }
}

impl RunProxy {
    fn start(server: Server) -> Self {
        let (address, counters) = (client_address(server.local_addr()), server.counters());
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.run_until(async {
            stopped.await.ok();
        }));
        Self::Ours { address, counters, stop, serving }
    }

    fn address(&self) -> SocketAddr {
        match self {
            Self::Found(address) | Self::Ours { address, .. } => *address,
        }
    }

    /// Ends the proxy if it is ours, and returns what it counted for the run, in one line.
    async fn close(self, token: Option<&str>, run: &str) -> String {
        match self {
            Self::Found(address) => savings_line::fetch(address, token, run).await,
            Self::Ours { counters, stop, serving, .. } => {
                stop.send(()).ok();
                // Responses are counted when they end. A proxy that failed has logged it; the agent's exit code stays.
                serving.await.ok();
                savings_line::text(counters.run(run))
            }
        }
    }
}

/// A unique name for the run, with the name of the program in it.
fn run_name(program: &OsStr) -> String {
    let stem = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let plain: String = stem.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    let id = uuid::Uuid::now_v7().simple().to_string();
    format!("{}-{}", if plain.is_empty() { "run" } else { &plain }, &id[id.len() - 12..])
}
