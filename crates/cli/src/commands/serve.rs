//! `secateur serve`: the proxy, and what to paste into each agent so that it is used.

mod effective_settings;
mod log;

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use secateur_engine::config::Config;
use secateur_server::{Provider, Server, Settings, Token, Upstream};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

pub(crate) use effective_settings::{FlagValue, is_alike};
pub(crate) use log::Colours;

use crate::models::catalogue;
use crate::store_args::{self, StoreArgs, StoreFolder, StoreLocation};
use crate::summariser_args::SummariserArgs;
use crate::terminal;

/// How long a conversation that was being summarised waits after the process that did so has died: a client waits with it.
const LEASE: Duration = Duration::from_secs(5);

/// Keep every agent's conversation inside its model's window: a proxy behind one changed URL.
///
/// Agents send their requests here instead of to the provider. Old tool results are cut when that pays, older history is
/// summarised when that is not enough, and everything else passes through byte for byte. Credentials are passed on and
/// kept nowhere. What the proxy does not understand goes on as it came.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen. Port 0 lets the system choose.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// A file with the token that clients have to show; needed to listen on more than this machine.
    #[arg(long, value_name = "FILE")]
    token_file: Option<String>,
    /// The profile by which conversations are kept small: a name, or the path of a page.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// Where requests in Anthropic's language go.
    #[arg(long, value_name = "URL")]
    anthropic: Option<String>,
    /// Where requests in OpenAI's languages go.
    #[arg(long, value_name = "URL")]
    openai: Option<String>,
    /// Where requests in Google's language go.
    #[arg(long, value_name = "URL")]
    gemini: Option<String>,
    /// Do not say in x-secateur-… headers of answers what was done to the request.
    #[arg(long)]
    no_headers: bool,
    /// What is logged about requests: off, error, warn, info or debug. Never what was said in them.
    #[arg(long, value_name = "LEVEL", env = "SECATEUR_LOG", default_value = "warn")]
    log: LevelFilter,
    /// How the lines of the log are written: for people, or as JSON for programs.
    #[arg(long, value_name = "FORMAT", env = "SECATEUR_LOG_FORMAT")]
    log_format: Option<log::LogLines>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    summariser: SummariserArgs,
}

impl ServeArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let config = self.config()?;
        let colours = if std::io::stderr().is_terminal() { Colours::Some } else { Colours::None };
        self.log(&config, std::io::stderr, colours);
        raise_open_file_limit();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.serve(&config, out))
    }

    async fn serve(&self, config: &Config, out: &mut dyn Write) -> Result<ExitCode> {
        let settings = self.settings(config)?;
        if let Some(warning) = self.open_token(config) {
            terminal::warn(warning);
        }
        let (profile, place) = (settings.profile.clone(), self.store.location()?);
        let server = self.bind(settings).await?;
        let counters = server.counters();
        write!(out, "{}", guide(server.local_addr(), &profile, &place.to_string()))?;
        out.flush()?;
        server.run_until(stopped()).await;
        let requests = counters.snapshot().requests;
        writeln!(out, "\nstopped after {requests} requests")?;
        Ok(ExitCode::SUCCESS)
    }

    /// Everything that is configured, with the profile that a flag names.
    pub(crate) fn config(&self) -> Result<Config> {
        store_args::config(&self.kept())
    }

    /// Where sessions are kept.
    pub(crate) fn location(&self) -> Result<StoreLocation> {
        self.store.location()
    }

    /// What becomes of its folder.
    pub(crate) fn folder(&self) -> StoreFolder {
        self.store.folder()
    }

    /// The word that the proxy wants to be shown by whoever comes, as it stands in an address.
    pub(crate) fn token(&self, config: &Config) -> Result<Option<String>> {
        let Some(path) = self.token_file(config) else { return Ok(None) };
        Token::read(Path::new(path))?;
        let word = std::fs::read_to_string(path)?.trim().to_owned();
        if word.contains('/') {
            bail!(
                "the token in {path} has a slash, so it cannot stand in an address; make one by `openssl rand -hex 32`"
            );
        }
        Ok(Some(word))
    }

    fn token_file<'a>(&'a self, config: &'a Config) -> Option<&'a String> {
        self.token_file.as_ref().or(config.serve().token_file.as_ref())
    }

    /// What is wrong with the file of the token, if others can read it.
    pub(crate) fn open_token(&self, config: &Config) -> Option<String> {
        let path = self.token_file(config)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(path).ok()?.permissions().mode();
            (mode & 0o077 != 0).then(|| {
                format!("other users of this machine can get at the token in {path}: `chmod 600 {path}`")
            })
        }
        #[cfg(not(unix))]
        None
    }

    /// Logs what is to be logged, in the way that a flag or else the configuration says.
    pub(crate) fn log<W>(&self, config: &Config, to: W, colours: Colours)
    where
        W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
    {
        let format = self.log_format.unwrap_or_else(|| config.serve().log_format.unwrap_or_default().into());
        log::start(self.log, format, to, colours);
    }

    /// Whether a flag says where requests to a provider go.
    pub(crate) fn names(&self, provider: Provider) -> bool {
        let flag = match provider {
            Provider::Anthropic => &self.anthropic,
            Provider::OpenAi => &self.openai,
            Provider::Gemini => &self.gemini,
        };
        flag.is_some()
    }

    /// Takes the address of the settings, with a store behind it.
    pub(crate) async fn bind(&self, settings: Settings) -> Result<Server> {
        let engine = store_args::open_engine(&self.kept(), Some(&self.summariser)).await?.with_lease(LEASE);
        let shown = self.configuration(&self.config()?, &settings);
        let server = Server::bind(settings, engine, catalogue()?).await;
        // It names its cause itself.
        let server = server.map_err(|error| anyhow!("{error}; another address is set by --listen"))?;
        Ok(server.with_configuration(shown))
    }

    fn kept(&self) -> StoreArgs {
        match &self.profile {
            Some(profile) => self.store.with_profile(profile),
            None => self.store.clone(),
        }
    }

    /// What the proxy is told: by flags, or else by the configuration.
    pub(crate) fn settings(&self, config: &Config) -> Result<Settings> {
        let (usual, serve) = (Settings::default(), config.serve());
        let upstream = |flag: &Option<String>, key: &str, set: &Option<String>, usual: Upstream| {
            let (from, url) = match (flag, set) {
                (Some(url), _) => (format!("--{key}"), url),
                (None, Some(url)) => {
                    (format!("serve.{key} in {}", config.origin(&format!("serve.{key}"))), url)
                }
                (None, None) => return Ok(usual),
            };
            url.parse::<Upstream>().with_context(|| from)
        };
        let listen = match self.listen.as_ref().or(serve.listen.as_ref()) {
            Some(address) => address.parse::<SocketAddr>().map_err(|_| {
                anyhow!(
                    "cannot listen on {address:?}: wanted is an address with a port, such as 127.0.0.1:7878"
                )
            })?,
            None => usual.listen,
        };
        let token = self.token_file(config);
        let token = token.map(|path| Token::read(Path::new(path))).transpose()?;
        Ok(Settings {
            listen,
            token,
            hosts: serve.hosts.clone().unwrap_or_default(),
            anthropic: upstream(&self.anthropic, "anthropic", &serve.anthropic, usual.anthropic.clone())?,
            openai: upstream(&self.openai, "openai", &serve.openai, usual.openai.clone())?,
            gemini: upstream(&self.gemini, "gemini", &serve.gemini, usual.gemini.clone())?,
            profile: config.profile().name.clone(),
            headers: !self.no_headers && serve.headers.unwrap_or(usual.headers),
            ..usual
        })
    }
}

/// What to paste, and where to look.
fn guide(address: SocketAddr, profile: &str, place: &str) -> String {
    let url = format!("http://{address}");
    format!(
        "\
secateur listens on {url}, profile {profile}, sessions in {place}

Point an agent here by one of these, then use it as ever:
  Claude Code, Anthropic SDKs   export ANTHROPIC_BASE_URL={url}
  OpenAI SDKs, aider            export OPENAI_BASE_URL={url}/v1 OPENAI_API_BASE={url}/v1
  Codex                         codex -c openai_base_url={url}/v1
  Gemini CLI                    export GOOGLE_GEMINI_BASE_URL={url}
  OpenCode, pi, anything else   set the provider's baseURL to {url}/v1 (Anthropic: {url})

What was done is in the answers' x-secateur-… headers; `secateur session list` shows the conversations, and so does
{url}/api/sessions; {url}/api/openapi.json lists what else can be asked.
Credentials are passed on and kept nowhere. Ctrl-C stops; streams are finished first.
"
    )
}

/// Raises the limit of open files and connections to what the process may have. The usual soft limit is 1,024, and a
/// stream through the proxy takes two. If it cannot be raised, it stays as it was.
pub(crate) fn raise_open_file_limit() {
    #[cfg(unix)]
    rlimit::increase_nofile_limit(u64::MAX).ok();
}

/// Ends when somebody wants the proxy to stop.
async fn stopped() {
    let interrupted = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                () = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    interrupted.await;
}
