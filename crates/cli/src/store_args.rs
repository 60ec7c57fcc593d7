//! Who keeps sessions for the commands: the store that the user means, and the engine on top of it.
//!
//! Every command that works on kept sessions opens its engine here and nowhere else, so that there is one answer to
//! where sessions are and who summarises them.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use secateur_engine::config::Config;
use secateur_engine::{Engine, EngineError, Session};
use secateur_store::StoreError;

use crate::settings_args::SettingsArgs;
use crate::summariser_args::SummariserArgs;

/// Where sessions are kept.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StoreArgs {
    /// Where sessions are kept: a file, or postgres://… Without it, `secateur/sessions.db` in the user's data folder.
    #[arg(long, value_name = "FILE|URL", env = "SECATEUR_STORE", hide_env_values = true)]
    store: Option<String>,
    #[command(flatten)]
    sources: SettingsArgs,
}

/// The place that a store is at.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreLocation {
    url: String,
    /// The database file, if it is one.
    pub(crate) file: Option<PathBuf>,
}

impl fmt::Display for StoreLocation {
    /// A URL can hold a password, so only files are named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", file.display()),
            None => f.write_str("the store"),
        }
    }
}

/// What becomes of the folder of a store that is not there yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreFolder {
    /// It is made with the store.
    Created,
    /// It has to be there, as the user has named it.
    Required,
}

impl StoreArgs {
    /// What becomes of the folder of the place that is meant.
    pub(crate) fn folder(&self) -> StoreFolder {
        if self.store.is_none() { StoreFolder::Created } else { StoreFolder::Required }
    }

    /// The same with another profile for new sessions.
    pub(crate) fn with_profile(&self, profile: &str) -> Self {
        Self { sources: self.sources.with("profile", profile), ..self.clone() }
    }

    /// The file of settings that a flag or a variable names, if one does.
    pub(crate) fn config_file(&self) -> Option<&Path> {
        self.sources.file()
    }

    /// The place that a flag or a variable names, if one does.
    pub(crate) fn named(&self) -> Option<String> {
        self.store.clone().filter(|url| !url.is_empty())
    }

    /// The place that is meant.
    pub(crate) fn location(&self) -> Result<StoreLocation> {
        Ok(StoreLocation::of(match self.store.as_deref().filter(|url| !url.is_empty()) {
            Some(url) => url.to_owned(),
            None => self.sources.read()?.store().to_owned(),
        }))
    }
}

impl StoreLocation {
    /// The address of the server, if it is one. It can hold a password.
    pub(crate) fn server(&self) -> Option<&str> {
        Some(self.url.as_str()).filter(|url| url.starts_with("postgres"))
    }

    fn of(url: String) -> Self {
        let path = url.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path));
        let path = path.or_else(|| (!url.contains("://")).then_some(url.as_str()));
        let file = path.filter(|path| !path.is_empty() && !path.starts_with(':')).map(PathBuf::from);
        Self { file, url }
    }
}

/// Opens the engine that works on the sessions of a store.
pub(crate) async fn open_engine(args: &StoreArgs, summariser: Option<&SummariserArgs>) -> Result<Engine> {
    let place = args.location()?;
    if args.folder() == StoreFolder::Created
        && let Some(folder) = place.file.as_deref().and_then(Path::parent)
    {
        make_private(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let store = secateur_store::open(&place.url).await;
    let store = store.map_err(|error| match &place.file {
        Some(file) => anyhow!("{}: {error}", file.display()),
        None => anyhow!("{error}"),
    })?;
    let engine = args.sources.read()?.engine(store)?;
    match summariser {
        Some(summariser) => summariser.join(engine),
        None => Ok(engine),
    }
}

/// Everything that is configured.
pub(crate) fn config(args: &StoreArgs) -> Result<Config> {
    args.sources.read()
}

/// The profile of sessions for which none is named.
pub(crate) fn default_profile(args: &StoreArgs) -> Result<String> {
    Ok(args.sources.read()?.profile().name.clone())
}

/// Opens a session; one that is not there is an error that says where to look.
pub(crate) async fn open_session(engine: &Engine, args: &StoreArgs, id: &str) -> Result<Session> {
    engine.open(id).await.or_else(|error| Err(missing(error, args, id)?))
}

/// Refuses a session that is not there, without opening one that is.
pub(crate) async fn check_session(engine: &Engine, args: &StoreArgs, id: &str) -> Result<()> {
    let found = engine.session_row(id).await;
    found.map(|_| ()).or_else(|error| Err(missing(error, args, id)?))
}

/// Why a session cannot be had.
fn missing(error: EngineError, args: &StoreArgs, id: &str) -> Result<anyhow::Error> {
    Ok(match error {
        EngineError::Store(StoreError::NoSession { .. }) => anyhow!(
            "there is no session {id:?} in {}; `secateur session list` shows those there are",
            args.location()?
        ),
        error => engine_error(error),
    })
}

/// An engine's error as it stands: it names its cause itself, so nothing is put behind it.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(crate) fn engine_error(error: EngineError) -> anyhow::Error {
    anyhow!("{error}")
}

/// Runs to the end what waits for a store or a model.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// Makes a folder that only its owner looks into; one that is there stays as it is.
fn make_private(folder: &Path) -> std::io::Result<()> {
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
    fn files_are_named_and_addresses_are_not() {
        let place = |url: &str| StoreLocation::of(url.to_owned());
        for url in ["a/b.db", "sqlite:a/b.db", "sqlite://a/b.db"] {
            assert_eq!(place(url).to_string(), "a/b.db");
        }
        for url in ["postgres://me:secret@host/db", "sqlite::memory:", ":memory:"] {
            assert_eq!(place(url).to_string(), "the store");
        }
    }
}
