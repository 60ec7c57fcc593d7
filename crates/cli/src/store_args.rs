//! The store that sessions are kept in, and the engine on top of it.
//!
//! Every command that works on sessions in the store opens its engine here, so all of them use the same store and the
//! same summariser.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use secateur_engine::{Engine, EngineError, Session};
use secateur_server::LateStore;
use secateur_store::{Store, StoreError, TenantScope, is_tenant_name};

use crate::settings_args::SettingsArgs;
use crate::summariser_args::SummariserArgs;
use crate::terminal;

/// The store of sessions.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StoreArgs {
    /// The store of sessions: a file, or postgres://… [default: secateur/sessions.db in your data folder]
    #[arg(long, value_name = "FILE|URL", env = "SECATEUR_STORE", hide_env_values = true)]
    store: Option<String>,
    /// The tenant whose sessions these are, in a store that a shared proxy fills [default: you]
    #[arg(long, value_name = "NAME", value_parser = tenant_name)]
    tenant: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// Reads the name of a tenant.
fn tenant_name(name: &str) -> Result<String, &'static str> {
    let allowed = "expected 1 to 64 letters, digits, or characters of -._@";
    if is_tenant_name(name) { Ok(name.to_owned()) } else { Err(allowed) }
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreLocation {
    url: String,
    /// The database file; none for a server or memory.
    pub(crate) file: Option<PathBuf>,
}

impl fmt::Display for StoreLocation {
    /// A URL can hold a password, so only a file is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", file.display()),
            None => f.write_str("the store"),
        }
    }
}

/// What happens if the folder of a store does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreFolder {
    /// It is created with the store.
    Created,
    /// It must exist, because the user named it.
    Required,
}

impl StoreArgs {
    /// The store of these settings.
    pub(crate) fn with_settings(settings: SettingsArgs) -> Self {
        Self { store: None, tenant: None, settings }
    }

    /// What happens if the store's folder does not exist.
    pub(crate) fn folder(&self) -> StoreFolder {
        if self.store.is_none() { StoreFolder::Created } else { StoreFolder::Required }
    }

    /// These arguments with another profile for new sessions.
    pub(crate) fn with_profile(&self, profile: &str) -> Self {
        Self { settings: self.settings.with_profile(profile), ..self.clone() }
    }

    /// Whether a tenant is named.
    pub(crate) fn names_tenant(&self) -> bool {
        self.tenant.is_some()
    }

    /// The store that a flag or a variable names, if one does.
    pub(crate) fn named(&self) -> Option<String> {
        self.store.clone().filter(|url| !url.is_empty())
    }

    /// The store to use.
    pub(crate) fn location(&self) -> Result<StoreLocation> {
        Ok(StoreLocation::of(match self.store.as_deref().filter(|url| !url.is_empty()) {
            Some(url) => url.to_owned(),
            None => self.settings.read()?.store().to_owned(),
        }))
    }
}

impl StoreLocation {
    /// The URL of the server, if it is one. It can hold a password.
    pub(crate) fn server(&self) -> Option<&str> {
        Some(self.url.as_str()).filter(|url| url.starts_with("postgres"))
    }

    /// Its URL or path. It can hold a password.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    fn of(url: String) -> Self {
        let path = url.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path));
        let path = path.or_else(|| (!url.contains("://")).then_some(url.as_str()));
        let file = path.filter(|path| !path.is_empty() && !path.starts_with(':')).map(PathBuf::from);
        Self { file, url }
    }
}

/// Opens the store and an engine on it.
pub(crate) async fn open_engine(args: &StoreArgs, summariser: Option<&SummariserArgs>) -> Result<Engine> {
    let store = open_store(args).await?;
    engine_on(store, args, summariser)
}

/// Opens the store as soon as it can be opened, and an engine on it. Warns if that is not now.
pub(crate) async fn open_late_engine(args: &StoreArgs, summariser: &SummariserArgs) -> Result<Engine> {
    let location = args.location()?;
    let store = LateStore::open(&location.url).await.map_err(|error| anyhow!("{error}"))?;
    if let Some(why) = store.fault() {
        terminal::warn(format!(
            "{location} cannot be used: {why}; conversations are kept in memory until it can (`--require-store` would fail)"
        ));
    }
    engine_on(store, args, Some(summariser))
}

async fn open_store(args: &StoreArgs) -> Result<Arc<dyn Store>> {
    let location = args.location()?;
    if args.folder() == StoreFolder::Created
        && let Some(folder) = location.file.as_deref().and_then(Path::parent)
    {
        create_private(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let store = secateur_store::open(&location.url).await;
    store.map_err(|error| match &location.file {
        Some(file) => anyhow!("{}: {error}", file.display()),
        None => anyhow!("{error}"),
    })
}

fn engine_on(store: Arc<dyn Store>, args: &StoreArgs, summariser: Option<&SummariserArgs>) -> Result<Engine> {
    let config = match summariser {
        Some(summariser) => summariser.read(&args.settings)?,
        None => args.settings.read()?,
    };
    let engine = config.engine(store)?;
    Ok(match &args.tenant {
        Some(tenant) => engine.scoped(TenantScope::One(tenant.clone())),
        None => engine,
    })
}

/// Opens a session. If it does not exist, the error says how to list those that do.
pub(crate) async fn open_session(engine: &Engine, args: &StoreArgs, id: &str) -> Result<Session> {
    engine.open(id).await.or_else(|error| Err(missing(error, args, id)?))
}

/// Fails if a session does not exist, without opening it.
pub(crate) async fn check_session(engine: &Engine, args: &StoreArgs, id: &str) -> Result<()> {
    let found = engine.session_row(id).await;
    found.map(|_| ()).or_else(|error| Err(missing(error, args, id)?))
}

/// The error for a session that cannot be opened.
fn missing(error: EngineError, args: &StoreArgs, id: &str) -> Result<anyhow::Error> {
    Ok(match error {
        EngineError::Store(StoreError::NoSession { .. }) => anyhow!(
            "there is no session {id:?} in {}; `secateur session list` shows the sessions",
            args.location()?
        ),
        error => engine_error(error),
    })
}

/// An engine's error. Its text names the cause already, so no chain of causes is kept.
#[expect(clippy::needless_pass_by_value, reason = "for use with map_err")]
pub(crate) fn engine_error(error: EngineError) -> anyhow::Error {
    anyhow!("{error}")
}

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// Creates a folder that only its owner can read. An existing one is not changed.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_shown_and_urls_are_not() {
        let location = |url: &str| StoreLocation::of(url.to_owned());
        for url in ["a/b.db", "sqlite:a/b.db", "sqlite://a/b.db"] {
            assert_eq!(location(url).to_string(), "a/b.db");
        }
        for url in ["postgres://me:secret@host/db", "sqlite::memory:", ":memory:"] {
            assert_eq!(location(url).to_string(), "the store");
        }
    }
}
