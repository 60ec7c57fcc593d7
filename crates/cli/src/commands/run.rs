//! `secateur run`: an agent with the proxy in front of it, for as long as the agent runs.

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
use secateur_server::{Counters, Provider, Server, Settings, Token};
use secateur_sources::AgentFolders;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::agents::AgentSpec;
use crate::commands::serve::{Colours, ServeArgs, is_alike, raise_open_file_limit};
use crate::http_get;
use crate::listener::{Listener, TIMEOUT, client_address};
use crate::terminal;
use launch::AgentCall;
use proxy_url::{ApiVersion, OriginalUrls, ProxyUrl, root, split_version};

/// How long the proxy goes on when the agent is gone: nobody reads the rest of an answer.
const DRAIN: Duration = Duration::from_secs(1);

/// Run an agent with the proxy in front of it: `secateur run -- claude`.
///
/// A proxy that listens already is used; otherwise one is started and ends with the agent. The agent is told by
/// variables and arguments where to send its requests, and no file of it is changed. Where it was pointed before, the
/// proxy sends its requests. Its exit code is passed on.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The agent and its arguments: claude, codex, opencode, pi, aider, gemini, openclaw, or any program that reads
    /// ANTHROPIC_BASE_URL, OPENAI_BASE_URL, OPENAI_API_BASE or GOOGLE_GEMINI_BASE_URL.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
    /// Log to this file. Without it nothing is logged, as the terminal is the agent's.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    #[command(flatten)]
    serve: ServeArgs,
}

/// The proxy that an agent is sent to.
enum RunProxy {
    /// It was there before.
    Found(SocketAddr),
    /// It ends with the agent.
    Ours { address: SocketAddr, counters: Counters, stop: oneshot::Sender<()>, serving: JoinHandle<()> },
}

impl RunArgs {
    pub(crate) fn run(&self, _: &mut dyn Write) -> Result<ExitCode> {
        let config = self.serve.config()?;
        self.log(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.accompany(&config))
    }

    fn log(&self, config: &Config) -> Result<()> {
        let Some(path) = &self.log_file else { return Ok(()) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("cannot write to {}", path.display()))?;
        self.serve.log(config, Mutex::new(file), Colours::None);
        Ok(())
    }

    async fn accompany(&self, config: &Config) -> Result<ExitCode> {
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| anyhow!("no program is named"))?;
        let call = AgentCall {
            agent: AgentSpec::of(program),
            arguments,
            homes: AgentFolders::from_env(),
            here: env::current_dir().unwrap_or_default(),
        };
        let settings = self.serve.settings(config)?;
        if let Some(warning) = self.serve.open_token(config) {
            terminal::warn(warning);
        }
        let mut settings = Settings { drain: DRAIN, ..settings };
        let mut before = call.before(client_address(settings.listen));
        if before.openai.is_none() && config.serve().openai.is_none() && !self.serve.names(Provider::OpenAi) {
            before.openai = call.usual_openai();
        }
        let version = self.redirect(&before, &mut settings)?;
        let mut token = self.serve.token(config)?;
        if token.is_some() && call.shows_address() {
            // What everybody can read opens no door but that of a proxy for this run alone.
            let word = uuid::Uuid::new_v4().simple().to_string();
            settings.token = Some(Token::new(&word)?);
            settings.listen.set_port(0);
            token = Some(word);
        }
        let proxy = self.proxy(config, settings, &before, token.as_deref()).await?;
        let run = name(program);
        let proxy_url = ProxyUrl::new(proxy.address(), token.as_deref(), &run);
        let proxy_url = if version == ApiVersion::Included { proxy_url.without_version() } else { proxy_url };
        let launch = call.launch(&proxy_url)?;
        for note in &launch.notes {
            terminal::note(note);
        }
        let code = match child::start(launch.command(program, arguments)) {
            Ok(program) => {
                // Not before: the program would inherit it.
                raise_open_file_limit();
                child::wait(program).await.context("the program was lost sight of")?
            }
            Err(error) => {
                terminal::error(&anyhow!("cannot start {}: {error}", program.display()));
                // As shells and `env` have it.
                if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
            }
        };
        let line = proxy.close(token.as_deref(), &run).await;
        anstream::eprintln!("secateur: {line}");
        Ok(ExitCode::from(code))
    }

    /// Has the proxy go where the agent went before, unless a flag says otherwise.
    fn redirect(&self, before: &OriginalUrls, settings: &mut Settings) -> Result<ApiVersion> {
        let said = |provider, url: &Option<String>| url.clone().filter(|_| !self.serve.names(provider));
        let refuse = "the agent's own address cannot be passed on";
        if let Some(url) = said(Provider::Anthropic, &before.anthropic) {
            settings.anthropic = url.parse().context(refuse)?;
        }
        if let Some(url) = said(Provider::Gemini, &before.gemini) {
            settings.gemini = url.parse().context(refuse)?;
        }
        let Some(url) = said(Provider::OpenAi, &before.openai) else { return Ok(ApiVersion::Appended) };
        let (upstream, version) = split_version(&url).context(refuse)?;
        settings.openai = upstream;
        Ok(version)
    }

    /// The proxy that listens already, if it would do the same; otherwise one of our own.
    async fn proxy(
        &self,
        config: &Config,
        settings: Settings,
        before: &OriginalUrls,
        token: Option<&str>,
    ) -> Result<RunProxy> {
        let listen = settings.listen;
        let free = || Settings { listen: SocketAddr::new(listen.ip(), 0), ..settings.clone() };
        if listen.port() == 0 {
            return Ok(RunProxy::start(self.serve.bind(free()).await?));
        }
        let there = root(client_address(listen), token);
        let server = match Listener::local(client_address(listen), &there).await {
            Listener::Secateur { .. } if before.is_empty() && self.suits(config, &settings, &there).await => {
                return Ok(RunProxy::Found(client_address(listen)));
            }
            Listener::OtherUser { user } => {
                terminal::note(format!(
                    "user {user} of this machine listens on {listen}, so a proxy of your own is started elsewhere"
                ));
                self.serve.bind(free()).await?
            }
            Listener::Secateur { .. } | Listener::TokenRequired | Listener::OtherProgram => {
                self.serve.bind(free()).await?
            }
            Listener::Nothing => match self.serve.bind(settings.clone()).await {
                Ok(server) => server,
                // Somebody was faster, or the address cannot be had.
                Err(_) => self.serve.bind(free()).await?,
            },
        };
        Ok(RunProxy::start(server))
    }

    /// Whether a proxy that runs already does what is asked of it here: nothing in particular, or what it does anyway.
    async fn suits(&self, config: &Config, settings: &Settings, there: &str) -> bool {
        let shown = self.serve.configuration(config, settings);
        if self.log_file.is_some() {
            return false;
        }
        if !self.serve.is_particular(&shown) {
            return true;
        }
        let told = http_get::get(&format!("{there}/api/configuration"), &[], TIMEOUT).await;
        told.is_ok_and(|told| told.status == 200 && is_alike(&shown, &told.body))
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

    /// Ends it if it is ours. What it counted for the run, in one line.
    async fn close(self, token: Option<&str>, run: &str) -> String {
        match self {
            Self::Found(address) => savings_line::asked(address, token, run).await,
            Self::Ours { counters, stop, serving, .. } => {
                stop.send(()).ok();
                // Answers are counted when they end. A proxy that broke down has said so, and the agent's end is not
                // changed by it.
                serving.await.ok();
                savings_line::told(counters.run(run))
            }
        }
    }
}

/// A name for the run that tells what ran, and that no other run has.
fn name(program: &OsStr) -> String {
    let stem = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let plain: String = stem.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    let id = uuid::Uuid::now_v7().simple().to_string();
    format!("{}-{}", if plain.is_empty() { "run" } else { &plain }, &id[id.len() - 12..])
}
