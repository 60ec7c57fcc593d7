//! The settings of a hook that is a program or an endpoint.
//!
//! Settings come from the user, so a mistake in them is an error when they are read, not something to skip silently
//! later.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::configured_hook::{ConfiguredHook, HookTarget};
use super::endpoint::{self, HookEndpoint};
use super::moment::HookMoment;
use super::program::HookProgram;
use super::{DEFAULT_TIME, Hook, MAX_TIME, millis};

/// The default size limit of a response.
const DEFAULT_BYTES: usize = 64 * 1024;

/// The largest size limit of a response.
const MAX_BYTES: usize = 1024 * 1024;

/// A hook that is a program or an endpoint.
///
/// ```
/// use secateur_engine::hooks::{HookConfig, HookMoment};
///
/// let config: HookConfig = toml::from_str(r#"
///     name = "archive"
///     url = "https://hooks.example/secateur"
///     moments = ["before_compaction", "after_compaction"]
/// "#)?;
/// let hook = config.build()?;
/// assert!(hook.wants(HookMoment::AfterCompaction) && !hook.wants(HookMoment::BeforePrune));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookConfig {
    /// Its name in events and in the log: 1 to 64 printable characters.
    pub name: String,
    /// The program and its arguments. It is started without a shell. Either this or `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Vec<String>>,
    /// The URL to which calls are posted: http or https, without a user or password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The moments at which it is called.
    pub moments: Vec<HookMoment>,
    /// Its time limit in milliseconds: 1 to 60,000.
    #[serde(default = "default_timeout_ms")]
    #[schemars(range(min = 1, max = 60_000))]
    pub timeout_ms: u64,
    /// The size limit of its response in bytes: 1 to 1,048,576.
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_bytes: usize,
    /// Names of environment variables that a program gets in addition to `PATH`, `HOME` and `LANG`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The name of the environment variable with the token that an endpoint gets as `Authorization: Bearer`. It is
    /// read when the hook is built, and sent only over https or to this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
}

/// An error in the settings of a hook. URLs and tokens are not repeated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HookConfigError {
    /// The name is empty, long or unprintable.
    #[error("a hook has no usable name; give it 1 to 64 printable characters")]
    Name,
    /// Neither program nor url, or both.
    #[error("hook {name} needs either program or url, and not both")]
    Target {
        /// The hook.
        name: String,
    },
    /// No moments: it would never be called.
    #[error(
        "hook {name} names no moments; known are before_prune, before_compaction, session.compacting, \
         after_compaction and autocontinue"
    )]
    Moments {
        /// The hook.
        name: String,
    },
    /// A key has an unusable value, or no meaning for this kind of hook.
    #[error("{key} of hook {name} {problem}")]
    Key {
        /// The hook.
        name: String,
        /// The key.
        key: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The variable with the token is unset or unusable.
    #[error("token_env of hook {name} names {variable}, which is not set to printable ASCII characters")]
    Token {
        /// The hook.
        name: String,
        /// The variable.
        variable: String,
    },
    /// HTTP cannot be used on this system.
    #[error("hook {name} cannot use HTTP: {source}")]
    Client {
        /// The hook.
        name: String,
        /// The system's error.
        source: reqwest::Error,
    },
}

impl HookConfig {
    /// Checks the settings and builds the hook. Nothing is started or sent yet.
    pub fn build(self) -> Result<Arc<dyn Hook>, HookConfigError> {
        if !(1..=64).contains(&self.name.chars().count()) || self.name.contains(char::is_control) {
            return Err(HookConfigError::Name);
        }
        if self.moments.is_empty() {
            return Err(HookConfigError::Moments { name: self.name });
        }
        self.check_range("timeout_ms", self.timeout_ms, millis(MAX_TIME))?;
        self.check_range("max_bytes", self.max_bytes as u64, MAX_BYTES as u64)?;
        let target = match (&self.program, &self.url) {
            (Some(_), None) if self.token_env.is_some() => {
                return Err(self.refuse("token_env", "has no meaning without url"));
            }
            (None, Some(_)) if !self.env.is_empty() => {
                return Err(self.refuse("env", "has no meaning without program"));
            }
            (Some(words), None) => HookTarget::Program(self.read_program(words)?),
            (None, Some(url)) => HookTarget::Endpoint(self.read_endpoint(url)?),
            (Some(_), Some(_)) | (None, None) => return Err(HookConfigError::Target { name: self.name }),
        };
        Ok(Arc::new(ConfiguredHook { config: self, target }))
    }

    /// Its time limit.
    pub(super) fn time(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    fn refuse(&self, key: &'static str, problem: impl Into<String>) -> HookConfigError {
        HookConfigError::Key { name: self.name.clone(), key, problem: problem.into() }
    }

    fn check_range(&self, key: &'static str, value: u64, most: u64) -> Result<(), HookConfigError> {
        if (1..=most).contains(&value) {
            return Ok(());
        }
        Err(self.refuse(key, format!("is {value}; expected 1 to {most}")))
    }

    fn read_program(&self, words: &[String]) -> Result<HookProgram, HookConfigError> {
        match words {
            [program, arguments @ ..] if !program.is_empty() => {
                Ok(HookProgram { program: program.clone(), arguments: arguments.to_vec() })
            }
            _ => Err(self.refuse("program", "is empty; name a program, then its arguments")),
        }
    }

    fn read_endpoint(&self, url: &str) -> Result<HookEndpoint, HookConfigError> {
        let refuse = |problem: &str| self.refuse("url", problem);
        let url = Url::parse(url).map_err(|_| refuse("is not a URL; write http://… or https://…"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("has a scheme other than http and https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("contains a user or password; use token_env"));
        }
        let authorization = match &self.token_env {
            Some(_) if url.scheme() == "http" && !is_local(&url) => {
                return Err(refuse("would send the token unencrypted; use https"));
            }
            Some(variable) => Some(bearer(&self.name, variable)?),
            None => None,
        };
        let client = endpoint::client()
            .map_err(|source| HookConfigError::Client { name: self.name.clone(), source })?;
        Ok(HookEndpoint { url, authorization, client })
    }
}

/// Whether a URL is on this machine, judged by its host name.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The authorization header with the token of an environment variable.
fn bearer(name: &str, variable: &str) -> Result<HeaderValue, HookConfigError> {
    let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
    let value = token.and_then(|token| HeaderValue::try_from(format!("Bearer {token}")).ok());
    let missing = || HookConfigError::Token { name: name.to_owned(), variable: variable.to_owned() };
    let mut value = value.ok_or_else(missing)?;
    value.set_sensitive(true);
    Ok(value)
}

fn default_timeout_ms() -> u64 {
    millis(DEFAULT_TIME)
}

fn default_max_bytes() -> usize {
    DEFAULT_BYTES
}
