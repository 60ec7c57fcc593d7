//! The configuration: what a user, a project, the environment and flags say, and who of them said what.
//!
//! ```text
//!   weak   built-in defaults
//!     │    the user's file
//!     │    the project's file        (untrusted: see below)
//!     │    variables of the environment
//!   strong flags
//! ```
//!
//! Files and variables are read by whoever calls; here texts come in, with their origins, and a [`Config`] goes out.
//! So all of this can be tested without a file. The one exception is a hook's or a model's key, which is taken from
//! the environment when an [engine](Config::engine) is built, because it must not lie around anywhere before.
//!
//! **Every value knows where it came from**, and every error names that place, the key, the value and what is allowed.
//! Tables are laid over one another key by key; lists are replaced as a whole, except `profiles`, where each place
//! adds its own.
//!
//! **Two kinds of keys.** `store`, `profile`, `profiles`, `[summariser]`, `[[hooks]]`, `[redaction]` and `[serve]`
//! belong to the engine and the proxy in front of it. Every other table is one of a [profile's](secateur::Profiles) and goes over the profile that was chosen.
//!
//! **A project is a stranger.** Its file comes with the repository. It may choose and tune a profile. It may not run
//! programs, send the conversation elsewhere, or put words into the user's mouth; see [`ConfigSource::project`].
//!
//! **A summariser without its key** is no reason to refuse work that needs no summary. If the variable that `key_env`
//! names is not set, the engine is built all the same, and every question to the model fails with an error that names
//! the variable; what happens then is what the profile says about a model that fails. [`Config::key_env`] lets a
//! command say so beforehand.
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
mod profile_files;
mod project_file;
mod schema;
mod section;
mod setting;
mod source;
mod values;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use secateur::{Family, Layer, Profile, Profiles};
use secateur_store::Store;
use toml::Table;

pub use error::ConfigError;
pub use schema::schema;
pub use section::{LogFormat, ServeConfig};
pub use setting::Setting;
pub use source::{ConfigSource, LARGEST_FILE, VARIABLES};

use crate::engine::{DEFAULT_PROFILE, Engine};
use crate::hooks::{HookConfig, Hooks};
use crate::provider::{ConnectError, Endpoint, LanguageModel};
use crate::redact::Redactor;
use keyless_model::KeylessModel;
use section::{ENGINE_KEYS, FAMILIES, PROFILE_KEYS};
use values::LayeredValues;

/// Where sessions are kept if nobody says where: a file in the working directory.
pub const DEFAULT_STORE: &str = "sqlite:secateur.db";

/// Reads a page that a setting names, by its path.
pub type Load<'l> = dyn Fn(&Path) -> io::Result<String> + 'l;

/// Everything that is configured, and where it came from.
pub struct Config {
    store: String,
    profile: Profile,
    profiles: Profiles,
    pages: Vec<Setting>,
    layers: Vec<Layer>,
    summariser: Option<Endpoint>,
    hooks: Vec<HookConfig>,
    redactor: Redactor,
    serve: ServeConfig,
    values: LayeredValues,
}

impl Config {
    /// Lays the sources over one another, the last one on top, and checks all of it. `load` reads the pages that
    /// `profile` and `profiles` name; their paths are relative to the file that names them.
    pub fn read(sources: &[ConfigSource], load: &Load<'_>) -> Result<Self, ConfigError> {
        let mut values = LayeredValues::default();
        let mut profiles = Profiles::builtin();
        let mut pages = Vec::new();
        let mut layers = Vec::new();
        let mut chosen = None;
        for source in sources {
            section::check_keys(source)?;
            project_file::check(source)?;
            pages.extend(profile_files::add_all(source, &mut profiles, load)?);
            if source.values.contains_key("profile") {
                chosen = Some(source);
            }
            let belongs = |keys: &[&str]| -> Table {
                let own = source.values.iter().filter(|(key, _)| keys.contains(&key.as_str()));
                own.map(|(key, value)| (key.clone(), value.clone())).collect()
            };
            values.lay(&belongs(&ENGINE_KEYS), &source.origin);
            let over = belongs(&PROFILE_KEYS);
            if !over.is_empty() {
                layers.push(Layer { origin: source.origin.clone(), values: over });
            }
        }
        let name = match chosen {
            Some(source) => profile_files::choose(source, &mut profiles, load)?,
            None => DEFAULT_PROFILE.to_owned(),
        };
        let profile = resolve(&profiles, &name, &layers, chosen)?;
        let (summariser, hooks) = (section::summariser(&values)?, section::hooks(&values)?);
        let redactor = section::redactor(&values)?;
        let store = section::store(&values)?.unwrap_or_else(|| DEFAULT_STORE.to_owned());
        let serve = section::serve(&values)?;
        Ok(Self { store, profile, profiles, pages, layers, summariser, hooks, redactor, serve, values })
    }

    /// What the proxy is told.
    pub fn serve(&self) -> &ServeConfig {
        &self.serve
    }

    /// Where the value of a key came from.
    pub fn origin(&self, key: &str) -> &str {
        self.values.origin(key)
    }

    /// Where sessions are kept: a path or a URL for [`secateur_store::open`]. It can hold a password.
    pub fn store(&self) -> &str {
        &self.store
    }

    /// The profile of new sessions, with everything that goes over it.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The model that writes summaries; none if summaries are digests.
    pub fn summariser(&self) -> Option<&Endpoint> {
        self.summariser.as_ref()
    }

    /// The variable of the environment that must hold the summariser's key.
    pub fn key_env(&self) -> Option<&str> {
        self.summariser.as_ref()?.key_env.as_deref()
    }

    /// An engine that works as configured, on a store that is open. New sessions have the profile that they are given;
    /// that of the configuration is `config.profile().name`.
    pub fn engine(&self, store: Arc<dyn Store>) -> Result<Engine, ConfigError> {
        let engine = Engine::new(store)
            .with_profiles(self.profiles.clone(), self.layers.clone())
            .with_hooks(self.build_hooks()?)
            .with_redactor(self.redactor.clone());
        Ok(match self.build_model()? {
            Some(model) => engine.with_model(model),
            None => engine,
        })
    }

    /// Checks what reading cannot: that hooks and the summariser can be built in this environment.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.build_hooks()?;
        self.build_model().map(|_| ())
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
        let Some(endpoint) = &self.summariser else { return Ok(None) };
        let refuse = |source| {
            let origin = self.values.origin("summariser").to_owned();
            ConfigError::Summariser { origin, source }
        };
        match endpoint.connect() {
            Ok(client) => Ok(Some(Arc::new(client))),
            Err(ConnectError::NoKey { variable }) => {
                // Whatever else is wrong with it is wrong with any key.
                endpoint.connect_as(None).map_err(refuse)?;
                Ok(Some(Arc::new(KeylessModel::new(endpoint, variable))))
            }
            Err(error) => Err(refuse(error)),
        }
    }
}

impl fmt::Debug for Config {
    /// Shows what cannot hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("profile", &self.profile.name)
            .field("summariser", &self.summariser)
            .field("hooks", &self.hooks.len())
            .finish_non_exhaustive()
    }
}

/// The profile with everything that goes over it.
fn resolve(
    profiles: &Profiles,
    name: &str,
    layers: &[Layer],
    chosen: Option<&ConfigSource>,
) -> Result<Profile, ConfigError> {
    let named = |error| ConfigError::of_profile(error, chosen.map(|source| source.origin.as_str()));
    let base = profiles.get(name).map_err(named)?;
    let family = match base.policy.family {
        Family::Watermark(_) => "watermark",
        Family::Ratio(_) => "ratio",
        Family::KeepLast(_) => "keep-last",
        Family::Rent(_) => "rent",
    };
    for layer in layers {
        let other = FAMILIES.into_iter().find(|key| *key != family && layer.values.contains_key(*key));
        if let Some(key) = other {
            let allowed =
                format!("the profile {name:?} prunes by [{family}]; choose one that prunes by [{key}]");
            return Err(ConfigError::key(&layer.origin, key, "", allowed));
        }
    }
    profiles.get_with(name, layers).map_err(named)
}

#[cfg(test)]
mod tests;
