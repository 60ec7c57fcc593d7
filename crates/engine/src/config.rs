//! The configuration: settings from files, the environment and flags, and where each value came from.
//!
//! ```text
//!   weak   built-in defaults
//!     │    the user's file
//!     │    the project's file        (untrusted: see below)
//!     │    OpenCode's variables      (for its profiles only)
//!     │    variables of the environment
//!   strong flags
//! ```
//!
//! The caller reads files and variables; this module takes texts with their origins and returns a [`Config`], so all
//! of it can be tested without a file. The only exception are keys of hooks and models: they are read from the
//! environment when an [engine](Config::engine) is built, so that they are in memory no longer than needed.
//!
//! **Every value knows its origin**, and every error names the origin, the key, the value and what is allowed. Tables
//! are merged key by key; lists are replaced as a whole, except `profiles`, which accumulates.
//!
//! **Two kinds of keys.** `store`, `profile`, `profiles`, `models`, `[windows]`, `[summariser]`, `[[hooks]]`,
//! `[redaction]`, `[retention]` and `[serve]` configure the engine and the proxy. Every other table belongs to a [profile](secateur::Profiles) and overrides
//! values of the chosen one.
//!
//! **A project is not trusted.** Its file comes with the repository. It may choose and tune a profile. It may not run
//! programs, send the conversation elsewhere, or write text that the model takes for the user's; see
//! [`ConfigSource::project`].
//!
//! **A missing key of the summariser** does not prevent work that needs no summary. If the variable in `key_env` is
//! not set, the engine is built anyway, every request to the model fails with an error that names the variable, and
//! the profile decides what happens then. [`Config::key_env`] lets a command warn beforehand.
//!
//! ```
//! use secateur_engine::config::{Config, ConfigSource};
//!
//! let user = ConfigSource::user("config.toml", r#"
//!     profile = "opencode"
//!     [compaction]
//!     threshold = "80%"
//!     caps = { "mcp_*" = 5000 }
//! "#)?;
//! let flag = ConfigSource::flag("watermark.protect=60000")?;
//! let config = Config::read(&[user, flag], &|path| std::fs::read_to_string(path))?;
//!
//! assert_eq!(config.profile().origin("compaction.threshold"), Some("config.toml"));
//! assert_eq!(config.profile().origin("watermark.protect"), Some("--set"));
//! assert_eq!(config.profile().origin("watermark.minimum"), Some("opencode@2026-01"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod keyless_model;
mod mask;
mod models;
mod opencode_variables;
mod profile_files;
mod project_file;
mod retention;
mod schema;
mod section;
mod setting;
mod source;
mod values;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use secateur::{Catalogue, Layer, Profile, Profiles};
use secateur_store::Store;
use toml::Table;

pub use error::ConfigError;
pub use opencode_variables::OPENCODE_VARIABLES;
pub use schema::schema;
pub use section::{LogFormat, ServeConfig, TokenConfig};
pub use setting::Setting;
pub use source::{ConfigSource, LARGEST_FILE, VARIABLES};

use crate::engine::{DEFAULT_PROFILE, Engine, FAMILIES, ProfileLayer, applicable, family};
use crate::hooks::{HookConfig, Hooks};
use crate::provider::{ConnectError, Endpoint, LanguageModel};
use crate::retention::RetentionLimits;
use keyless_model::KeylessModel;
use section::{ENGINE_KEYS, PROFILE_KEYS};
use values::LayeredValues;

/// The default store: a file in the working directory.
pub const DEFAULT_STORE: &str = "sqlite:secateur.db";

/// Reads a profile file by its path.
pub type Load<'l> = dyn Fn(&Path) -> io::Result<String> + 'l;

/// The whole configuration with the origin of each value.
pub struct Config {
    store: String,
    profile: Profile,
    profiles: Profiles,
    profile_files: Vec<Setting>,
    layers: Vec<ProfileLayer>,
    /// Those of the layers that the profile takes.
    applied: Vec<Layer>,
    catalogue: Catalogue,
    summariser: Option<Endpoint>,
    hooks: Vec<HookConfig>,
    serve: ServeConfig,
    retention: RetentionLimits,
    values: LayeredValues,
}

impl Config {
    /// Merges the sources, later ones override earlier ones, and checks everything. `load` reads the files that
    /// `profile` and `profiles` name; their paths are relative to the file that names them.
    pub fn read(sources: &[ConfigSource], load: &Load<'_>) -> Result<Self, ConfigError> {
        let mut values = LayeredValues::default();
        let mut profiles = Profiles::builtin();
        let mut profile_files = Vec::new();
        let mut layers = Vec::new();
        let (mut chosen, mut models) = (None, None);
        // Layers of sources that are weaker than the one that chose the profile.
        let mut weaker = 0;
        for source in sources {
            section::check_keys(source)?;
            project_file::check(source)?;
            profile_files.extend(profile_files::add_all(source, &mut profiles, load)?);
            if source.values.contains_key("profile") {
                chosen = Some(source);
                weaker = layers.len();
            }
            if source.values.contains_key("models") {
                models = Some(source);
            }
            let belongs = |keys: &[&str]| -> Table {
                let own = source.values.iter().filter(|(key, _)| keys.contains(&key.as_str()));
                own.map(|(key, value)| (key.clone(), value.clone())).collect()
            };
            values.lay(&belongs(&ENGINE_KEYS), &source.origin);
            let over = belongs(&PROFILE_KEYS);
            if !over.is_empty() {
                let layer = Layer { origin: source.origin.clone(), values: over };
                layers.push(ProfileLayer { layer, system: source.system });
            }
        }
        let name = match chosen {
            Some(source) => profile_files::choose(source, &mut profiles, load)?,
            None => DEFAULT_PROFILE.to_owned(),
        };
        let (profile, applied) = resolve(&profiles, &name, &layers, weaker, chosen)?;
        let catalogue = models::catalogue(&values, models, load)?;
        let (summariser, hooks) = (section::summariser(&values)?, section::hooks(&values)?);
        if values.get("redaction").is_some() {
            // Most commands redact nothing, and building the usual patterns takes longer than all the rest.
            section::redactor(&values)?;
        }
        let store = section::store(&values)?.unwrap_or_else(|| DEFAULT_STORE.to_owned());
        let serve = section::serve(&values)?;
        let retention = retention::limits(&values)?;
        Ok(Self {
            store,
            profile,
            profiles,
            profile_files,
            layers,
            applied,
            catalogue,
            summariser,
            hooks,
            serve,
            retention,
            values,
        })
    }

    /// The settings of the proxy.
    pub fn serve(&self) -> &ServeConfig {
        &self.serve
    }

    /// When sessions are deleted.
    pub fn retention(&self) -> RetentionLimits {
        self.retention
    }

    /// The origin of a setting's value.
    pub fn origin(&self, key: &str) -> &str {
        self.values.origin(key)
    }

    /// The address of the store for [`secateur_store::open`]. It can contain a password.
    pub fn store(&self) -> &str {
        &self.store
    }

    /// The profile of new sessions, with all overrides.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The models: the built-in catalogue, with the configured file and windows over it.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The model that writes summaries; none if summaries are digests.
    pub fn summariser(&self) -> Option<&Endpoint> {
        self.summariser.as_ref()
    }

    /// The environment variable with the summariser's key.
    pub fn key_env(&self) -> Option<&str> {
        self.summariser.as_ref()?.key_env.as_deref()
    }

    /// Builds an engine on an open store. New sessions use the profile that they are given; the configured one is
    /// `config.profile().name`.
    pub fn engine(&self, store: Arc<dyn Store>) -> Result<Engine, ConfigError> {
        let engine = Engine::new(store)
            .with_profile_layers(self.profiles.clone(), self.layers.clone())
            .with_hooks(self.build_hooks()?)
            .with_redactor(section::redactor(&self.values)?);
        Ok(match self.build_model()? {
            Some(model) => engine.with_model(model),
            None => engine,
        })
    }

    /// Checks what reading cannot: whether hooks and summariser can be built in this environment.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.build_hooks()?;
        self.build_model().map(|_| ())
    }

    /// Checks that the summariser could be asked now. If its key is missing, [building](Self::engine) an engine is no error.
    pub fn check_summariser(&self) -> Result<(), ConfigError> {
        let connected = self.summariser.as_ref().map(Endpoint::connect).transpose();
        connected.map(drop).map_err(|source| self.refuse_summariser(source))
    }

    fn refuse_summariser(&self, source: ConnectError) -> ConfigError {
        ConfigError::Summariser { origin: self.values.origin("summariser").to_owned(), source }
    }

    fn build_hooks(&self) -> Result<Hooks, ConfigError> {
        let mut hooks = Hooks::default();
        for hook in &self.hooks {
            let origin = || self.values.origin("hooks").to_owned();
            hooks
                .push(hook.clone().build().map_err(|source| ConfigError::Hook { origin: origin(), source })?);
        }
        Ok(hooks)
    }

    fn build_model(&self) -> Result<Option<Arc<dyn LanguageModel>>, ConfigError> {
        let Some(mut endpoint) = self.summariser.clone() else { return Ok(None) };
        if let Some(known) = self.catalogue.find(&endpoint.model).filter(|_| endpoint.context == 0) {
            endpoint.context = u32::try_from(known.context).unwrap_or(0);
            endpoint.output = endpoint.output.or(known.output.and_then(|output| u32::try_from(output).ok()));
        }
        let refuse = |source| self.refuse_summariser(source);
        match endpoint.connect() {
            Ok(client) => Ok(Some(Arc::new(client))),
            Err(ConnectError::NoKey { variable }) => {
                // Report any other problem of the endpoint, which does not depend on the key.
                endpoint.connect_as(None).map_err(refuse)?;
                Ok(Some(Arc::new(KeylessModel { endpoint, variable })))
            }
            Err(error) => Err(refuse(error)),
        }
    }
}

impl fmt::Debug for Config {
    /// Leaves out what can contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("profile", &self.profile.name)
            .field("summariser", &self.summariser)
            .field("hooks", &self.hooks.len())
            .finish_non_exhaustive()
    }
}

/// The profile with all overrides, and the layers that it takes. The first `weaker` layers belong to sources that are weaker
/// than the one that chose the profile: what they set for other policy families has no effect. From then on it is an error.
fn resolve(
    profiles: &Profiles,
    name: &str,
    layers: &[ProfileLayer],
    weaker: usize,
    chosen: Option<&ConfigSource>,
) -> Result<(Profile, Vec<Layer>), ConfigError> {
    let named = |error| ConfigError::of_profile(error, chosen.map(|source| source.origin.as_str()));
    let base = profiles.get(name).map_err(named)?;
    let family = family(&base);
    for ProfileLayer { layer, .. } in layers.iter().skip(weaker) {
        let other = FAMILIES.into_iter().find(|key| *key != family && layer.values.contains_key(*key));
        if let Some(key) = other {
            let allowed =
                format!("the profile {name:?} prunes by [{family}]; choose one that prunes by [{key}]");
            return Err(ConfigError::key(&layer.origin, key, "", allowed));
        }
    }
    let applied = applicable(&base, layers);
    Ok((profiles.get_with(name, &applied).map_err(named)?, applied))
}

#[cfg(test)]
mod tests;
