//! `secateur serve`: the proxy, and how to point each agent at it.

mod effective_settings;
mod log;

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use secateur_engine::config::{Config, ConfigSource};
use secateur_server::{AccessToken, Provider, Server, Settings, TenantToken, Upstream};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

pub(crate) use effective_settings::has_same_settings;
pub(crate) use log::Colours;

use crate::settings_args::SettingsArgs;
use crate::store_args::{self, StoreArgs};
use crate::summariser_args::SummariserArgs;
use crate::terminal;

/// How long a lease lasts after its process has died. A client waits for that time, so it is short.
const LEASE: Duration = Duration::from_secs(5);

/// Run the proxy: it keeps the conversation of every agent that is pointed at it inside its model's window.
///
/// Agents send their requests here instead of to the provider. Old tool results are cut when that saves money or room,
/// older history is summarised when that is not enough, and everything else passes through unchanged, including requests
/// that the proxy does not understand. Credentials are passed on and never stored.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address and port to listen on; port 0 for any free one [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// A file with your own token, which clients must send, and which is an operator's. This or serve.tokens in the
    /// configuration, which has the tokens of tenants, is required to listen on other than loopback addresses.
    #[arg(long, value_name = "FILE")]
    token_file: Option<String>,
    /// The profile of conversations: a name, or the path of a TOML file [default: balanced]
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// The window of a model in tokens, e.g. `my-model=131072`; overrides the catalogue. May be repeated.
    #[arg(long, value_name = "MODEL=TOKENS")]
    window: Vec<String>,
    /// The upstream for Anthropic requests [default: https://api.anthropic.com]
    #[arg(long, value_name = "URL")]
    anthropic: Option<String>,
    /// The upstream for OpenAI requests [default: https://api.openai.com]
    #[arg(long, value_name = "URL")]
    openai: Option<String>,
    /// The upstream for Gemini requests [default: https://generativelanguage.googleapis.com]
    #[arg(long, value_name = "URL")]
    gemini: Option<String>,
    /// Fail at the start if the store cannot be used. Without this, the proxy starts without it and keeps trying.
    #[arg(long)]
    require_store: bool,
    /// Do not add x-secateur-… headers to responses, which say what was done to the request.
    #[arg(long)]
    no_headers: bool,
    /// The log level: off, error, warn, info or debug. Contents of requests are never logged.
    #[arg(long, value_name = "LEVEL", env = "SECATEUR_LOG", default_value = "warn")]
    log: LevelFilter,
    /// The format of log lines.
    #[arg(long, value_name = "FORMAT", env = "SECATEUR_LOG_FORMAT")]
    log_format: Option<log::LogLines>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    summariser: SummariserArgs,
}

impl ServeArgs {
    /// Without flags, except for those that say where settings are read from.
    pub(crate) fn with_settings(settings: SettingsArgs) -> Self {
        Self {
            listen: None,
            token_file: None,
            profile: None,
            window: Vec::new(),
            anthropic: None,
            openai: None,
            gemini: None,
            require_store: false,
            no_headers: false,
            log: LevelFilter::WARN,
            log_format: None,
            store: StoreArgs::with_settings(settings),
            summariser: SummariserArgs::default(),
        }
    }

    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let config = self.config()?;
        let colours = if std::io::stderr().is_terminal() { Colours::Some } else { Colours::None };
        self.log(&config, std::io::stderr, colours);
        raise_open_file_limit();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.serve(&config, out))
    }

    async fn serve(&self, config: &Config, out: &mut dyn Write) -> Result<()> {
        survive_file_size_limit();
        let settings = self.settings(config)?;
        if let Some(warning) = self.token_file_warning(config) {
            terminal::warn(warning);
        }
        let (profile, store) = (settings.profile.clone(), self.store.location()?);
        let server = self.bind(settings).await?;
        let counters = server.counters();
        write!(out, "{}", guide(server.local_addr(), &profile, &store.to_string()))?;
        out.flush()?;
        server.run_until(stop_signal()).await;
        let requests = counters.snapshot().requests;
        writeln!(out, "\nstopped after {requests} requests")?;
        Ok(())
    }

    /// All settings, with the profile that a flag names.
    pub(crate) fn config(&self) -> Result<Config> {
        self.store_args()?.settings.read()
    }

    /// The token that clients must send, for use in a URL.
    pub(crate) fn token(&self, config: &Config) -> Result<Option<String>> {
        let Some(path) = self.token_file(config) else { return Ok(None) };
        AccessToken::read(Path::new(path))?;
        let token = std::fs::read_to_string(path)?.trim().to_owned();
        if token.contains('/') {
            bail!(
                "the token in {path} contains a slash, so it cannot be part of a URL; create another with `openssl rand -hex 32`"
            );
        }
        Ok(Some(token))
    }

    fn token_file<'a>(&'a self, config: &'a Config) -> Option<&'a String> {
        self.token_file.as_ref().or(config.serve().token_file.as_ref())
    }

    /// All tokens: that of the machine's own user, and those of tenants.
    fn tokens(&self, config: &Config) -> Result<Vec<TenantToken>> {
        let own = self.token_file(config).map(|path| AccessToken::read(Path::new(path))).transpose()?;
        let mut tokens: Vec<TenantToken> = own.into_iter().map(TenantToken::of_owner).collect();
        for (index, entry) in config.serve().tokens.iter().flatten().enumerate() {
            let key = format!("serve.tokens[{index}]");
            let origin = || format!("{}: key `{key}`", config.origin("serve.tokens"));
            let token = match (&entry.file, &entry.sha256) {
                (Some(path), _) => AccessToken::read(Path::new(path)).with_context(origin)?,
                // The configuration was checked when it was read.
                (None, hash) => AccessToken::from_hash(hash.as_deref().unwrap_or_default())
                    .with_context(|| format!("{}: expected a file or a hash", origin()))?,
            };
            let token = TenantToken { token, tenant: entry.tenant.clone(), is_operator: entry.operator };
            if tokens.iter().any(|known| known.token == token.token && *known != token) {
                bail!("{}: this token is given to another tenant already; a token has one tenant", origin());
            }
            tokens.push(token);
        }
        Ok(tokens)
    }

    /// A warning if other users can read a token file.
    pub(crate) fn token_file_warning(&self, config: &Config) -> Option<String> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let of_tenants = config.serve().tokens.iter().flatten().filter_map(|token| token.file.as_ref());
            let mut files = self.token_file(config).into_iter().chain(of_tenants);
            files.find_map(|path| {
                let mode = std::fs::metadata(path).ok()?.permissions().mode();
                (mode & 0o077 != 0).then(|| {
                    format!(
                        "other users of this machine can read the token in {path}; run `chmod 600 {path}`"
                    )
                })
            })
        }
        #[cfg(not(unix))]
        None
    }

    /// Starts logging, in the format that a flag or else the configuration names.
    pub(crate) fn log<W>(&self, config: &Config, to: W, colours: Colours)
    where
        W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
    {
        log::start(self.log, self.log_lines(config), to, colours);
    }

    /// The format of log lines that a flag or else the configuration names.
    fn log_lines(&self, config: &Config) -> log::LogLines {
        self.log_format.unwrap_or_else(|| config.serve().log_format.unwrap_or_default().into())
    }

    /// Whether a flag sets the upstream of a provider.
    pub(crate) fn sets_upstream(&self, provider: Provider) -> bool {
        let flag = match provider {
            Provider::Anthropic => &self.anthropic,
            Provider::OpenAi => &self.openai,
            Provider::Gemini => &self.gemini,
        };
        flag.is_some()
    }

    /// Opens the store, or begins to, and binds the address of the settings.
    pub(crate) async fn bind(&self, settings: Settings) -> Result<Server> {
        let (args, config) = (self.store_args()?, self.config()?);
        let engine = if self.requires_store(&config) {
            store_args::open_engine(&args, Some(&self.summariser)).await?
        } else {
            store_args::open_late_engine(&args, &self.summariser).await?
        };
        let engine = engine.with_lease(LEASE);
        let shown = self.effective_settings(&config, &settings);
        let server = Server::bind(settings, engine, config.catalogue().clone()).await;
        let server = server.map_err(|error| anyhow!("{error}; choose another address with --listen"))?;
        Ok(server.with_configuration(shown))
    }

    /// Whether the proxy fails at the start if the store cannot be used.
    fn requires_store(&self, config: &Config) -> bool {
        self.require_store || config.serve().require_store.unwrap_or_default()
    }

    /// The store's arguments, with the profile and the windows that flags name.
    fn store_args(&self) -> Result<StoreArgs> {
        if self.store.names_tenant() {
            bail!(
                "--tenant is for commands that open the store; in a proxy, the token of a request tells its tenant"
            );
        }
        let mut store = match &self.profile {
            Some(profile) => self.store.with_profile(profile),
            None => self.store.clone(),
        };
        store.settings = self.summariser.over(&store.settings);
        for window in &self.window {
            store.settings = store.settings.with(ConfigSource::window_flag(window)?);
        }
        Ok(store)
    }

    /// The proxy's settings: from flags, or else from the configuration.
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
                anyhow!("cannot listen on {address:?}: expected ADDRESS:PORT, such as 127.0.0.1:7878")
            })?,
            None => usual.listen,
        };
        let count = |most: NonZeroU32| usize::try_from(most.get()).unwrap_or(usize::MAX);
        Ok(Settings {
            listen,
            tokens: self.tokens(config)?,
            hosts: serve.hosts.clone().unwrap_or_default(),
            anthropic: upstream(&self.anthropic, "anthropic", &serve.anthropic, usual.anthropic.clone())?,
            openai: upstream(&self.openai, "openai", &serve.openai, usual.openai.clone())?,
            gemini: upstream(&self.gemini, "gemini", &serve.gemini, usual.gemini.clone())?,
            profile: config.profile().name.clone(),
            headers: !self.no_headers && serve.headers.unwrap_or(usual.headers),
            provider_clearing: serve.provider_clearing.unwrap_or(usual.provider_clearing),
            drop_block: serve.drop_block.unwrap_or(usual.drop_block),
            retention: config.retention(),
            client_memory: serve
                .client_memory
                .map_or(usual.client_memory, |most| u64::from(most.get()) << 20),
            client_bodies: serve.client_bodies.map_or(usual.client_bodies, count),
            client_summaries: serve.client_summaries.map_or(usual.client_summaries, count),
            ..usual
        })
    }
}

/// The text at the start: how to point agents here, and where to look.
fn guide(address: SocketAddr, profile: &str, store: &str) -> String {
    let url = format!("http://{address}");
    format!(
        "\
secateur listens on {url}, profile {profile}, sessions in {store}

Point an agent at it, then use the agent as usual:
  Claude Code, Anthropic SDKs   export ANTHROPIC_BASE_URL={url}
  OpenAI SDKs, aider            export OPENAI_BASE_URL={url}/v1 OPENAI_API_BASE={url}/v1
  Codex                         codex -c openai_base_url={url}/v1
  Gemini CLI                    export GOOGLE_GEMINI_BASE_URL={url}
  OpenCode, pi, anything else   set the provider's baseURL to {url}/v1 (Anthropic: {url})

Response headers x-secateur-… say what was done to a request.
`secateur status` shows the conversations, `secateur session list` the sessions.
API: {url}/api/openapi.json
Credentials are passed on and never stored. Ctrl-C stops after open streams end.
"
    )
}

/// Raises the limit of open files and connections to what the process may have. The usual soft limit is 1,024, and a
/// stream through the proxy takes two. If it cannot be raised, it stays as it was.
pub(crate) fn raise_open_file_limit() {
    #[cfg(unix)]
    rlimit::increase_nofile_limit(u64::MAX).ok();
}

/// Has a file that may not grow any more fail to be written, instead of ending the process. Needs a runtime.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // A handler stays for good and replaces what the system does by default. Programs that are started do not inherit
        // it.
        signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).ok();
    }
}

/// Resolves on Ctrl-C or SIGTERM.
async fn stop_signal() {
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
