//! Who keeps sessions for the commands: the store that the user means, and the engine on top of it.
//!
//! Every command that works on kept sessions opens its engine here and nowhere else, so that there is one answer to
//! where sessions are and who summarises them.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use secateur_engine::config::Config;
use secateur_engine::provider::Endpoint;
use secateur_engine::{Engine, EngineError, Session};
use secateur_formats::Wire;
use secateur_store::StoreError;

use crate::config::Sources;
use crate::serve::Flagged;
use crate::session::catalogue;

/// Where sessions are kept.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StoreArgs {
    /// Where sessions are kept: a file, or postgres://… Without it, `secateur/sessions.db` in the user's data folder.
    #[arg(long, value_name = "FILE|URL", env = "SECATEUR_STORE", hide_env_values = true)]
    store: Option<String>,
    #[command(flatten)]
    sources: Sources,
}

/// Who writes summaries. Without any of these, a digest of what is known for certain takes their place.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Who writes summaries (nobody: a digest takes their place)")]
pub(crate) struct SummariserArgs {
    /// The address of a model that writes summaries, e.g. http://127.0.0.1:8080/v1.
    #[arg(long, value_name = "URL", env = "SECATEUR_SUMMARISER_URL", hide_env_values = true)]
    #[arg(hide_short_help = true, requires = "summariser_model")]
    summariser_url: Option<String>,
    /// Its name, as its provider spells it.
    #[arg(long, value_name = "NAME", env = "SECATEUR_SUMMARISER_MODEL", hide_env_values = true)]
    #[arg(hide_short_help = true)]
    summariser_model: Option<String>,
    /// Which requests it understands: openai-chat, openai-responses, anthropic or gemini.
    #[arg(long, value_name = "FORMAT", env = "SECATEUR_SUMMARISER_WIRE", hide_env_values = true)]
    #[arg(hide_short_help = true, default_value = "openai-chat")]
    summariser_wire: Option<Wire>,
    /// The variable of the environment that holds its key.
    #[arg(long, value_name = "VARIABLE", env = "SECATEUR_SUMMARISER_KEY_ENV", hide_env_values = true)]
    #[arg(hide_short_help = true)]
    summariser_key_env: Option<String>,
}

impl SummariserArgs {
    /// The model that is meant, if one is.
    fn endpoint(&self) -> Result<Option<Endpoint>> {
        let Some(url) = self.summariser_url.as_deref().filter(|url| !url.is_empty()) else { return Ok(None) };
        let model = self.summariser_model.as_deref().unwrap_or_default();
        let wire = self.summariser_wire.unwrap_or(Wire::OpenAiChat);
        let mut endpoint = Endpoint::new(wire, url, model);
        endpoint.key_env = self.summariser_key_env.clone().filter(|name| !name.is_empty());
        if let Some(known) = catalogue()?.find(model) {
            endpoint.context = u32::try_from(known.context).unwrap_or(0);
            endpoint.output = known.output.and_then(|output| u32::try_from(output).ok());
        }
        Ok(Some(endpoint))
    }

    /// What the flags say, if they name a model.
    pub(crate) fn flagged(&self) -> Vec<Flagged> {
        if self.summariser_url.as_deref().is_none_or(str::is_empty) {
            return Vec::new();
        }
        let wire = self.summariser_wire.unwrap_or(Wire::OpenAiChat).name().to_owned();
        vec![
            ("summariser.url", self.summariser_url.clone(), "--summariser-url"),
            ("summariser.model", self.summariser_model.clone(), "--summariser-model"),
            ("summariser.wire", Some(wire), "--summariser-wire"),
            ("summariser.key_env", self.summariser_key_env.clone(), "--summariser-key-env"),
        ]
    }

    /// The same engine with the model that writes summaries, if one is named.
    pub(crate) fn join(&self, engine: Engine) -> Result<Engine> {
        Ok(match self.endpoint()? {
            Some(endpoint) => {
                let client = endpoint.connect().map_err(|error| anyhow!("{error}"))?;
                engine.with_model(std::sync::Arc::new(client))
            }
            None => engine,
        })
    }
}

/// The place that a store is at.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Place {
    url: String,
    /// The database file, if it is one.
    pub(crate) file: Option<PathBuf>,
}

impl fmt::Display for Place {
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
pub(crate) enum Folder {
    /// It is made with the store.
    Made,
    /// It has to be there, as the user has named it.
    Needed,
}

impl StoreArgs {
    /// What becomes of the folder of the place that is meant.
    pub(crate) fn folder(&self) -> Folder {
        if self.store.is_none() { Folder::Made } else { Folder::Needed }
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
    pub(crate) fn place(&self) -> Result<Place> {
        Ok(Place::of(match self.store.as_deref().filter(|url| !url.is_empty()) {
            Some(url) => url.to_owned(),
            None => self.sources.read()?.store().to_owned(),
        }))
    }
}

impl Place {
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
pub(crate) async fn open(args: &StoreArgs, summariser: Option<&SummariserArgs>) -> Result<Engine> {
    let place = args.place()?;
    if args.folder() == Folder::Made
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
pub(crate) async fn session(engine: &Engine, args: &StoreArgs, id: &str) -> Result<Session> {
    engine.open(id).await.or_else(|error| Err(missing(error, args, id)?))
}

/// Refuses a session that is not there, without opening one that is.
pub(crate) async fn check(engine: &Engine, args: &StoreArgs, id: &str) -> Result<()> {
    let found = engine.store().session(id).await;
    found.map(|_| ()).or_else(|error| Err(missing(error.into(), args, id)?))
}

/// Why a session cannot be had.
fn missing(error: EngineError, args: &StoreArgs, id: &str) -> Result<anyhow::Error> {
    Ok(match error {
        EngineError::Store(StoreError::NoSession { .. }) => anyhow!(
            "there is no session {id:?} in {}; `secateur session list` shows those there are",
            args.place()?
        ),
        error => told(error),
    })
}

/// An engine's error as it stands: it names its cause itself, so nothing is put behind it.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(crate) fn told(error: EngineError) -> anyhow::Error {
    anyhow!("{error}")
}

/// Runs to the end what waits for a store or a model.
pub(crate) fn run<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
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
        let place = |url: &str| Place::of(url.to_owned());
        for url in ["a/b.db", "sqlite:a/b.db", "sqlite://a/b.db"] {
            assert_eq!(place(url).to_string(), "a/b.db");
        }
        for url in ["postgres://me:secret@host/db", "sqlite::memory:", ":memory:"] {
            assert_eq!(place(url).to_string(), "the store");
        }
    }
}
