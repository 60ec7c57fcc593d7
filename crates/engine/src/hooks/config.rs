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
    /// The program is empty.
    #[error("program of hook {name} is empty; name a program, then its arguments")]
    Program {
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
    /// A number is out of range.
    #[error("{key} of hook {name} is {value}; expected 1 to {most}")]
    Range {
        /// The hook.
        name: String,
        /// The key.
        key: &'static str,
        /// The value.
        value: u64,
        /// The largest allowed value.
        most: u64,
    },
    /// The URL is unusable.
    #[error("url of hook {name} {what}")]
    Url {
        /// The hook.
        name: String,
        /// What is wrong and what to do.
        what: &'static str,
    },
    /// A key that belongs to the other kind of hook.
    #[error("{key} of hook {name} has no meaning without {needs}")]
    Misplaced {
        /// The hook.
        name: String,
        /// The key.
        key: &'static str,
        /// The key that it requires.
        needs: &'static str,
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
        let name = self.name.clone();
        if self.moments.is_empty() {
            return Err(HookConfigError::Moments { name });
        }
        self.check_range("timeout_ms", self.timeout_ms, millis(MAX_TIME))?;
        self.check_range("max_bytes", self.max_bytes as u64, MAX_BYTES as u64)?;
        match (&self.program, &self.url) {
            (Some(_), None) if self.token_env.is_some() => {
                Err(HookConfigError::Misplaced { name, key: "token_env", needs: "url" })
            }
            (None, Some(_)) if !self.env.is_empty() => {
                Err(HookConfigError::Misplaced { name, key: "env", needs: "program" })
            }
            (Some(_), None) => Ok(Arc::new(self.into_program()?)),
            (None, Some(_)) => Ok(Arc::new(self.into_endpoint()?)),
            (Some(_), Some(_)) | (None, None) => Err(HookConfigError::Target { name }),
        }
    }

    fn check_range(&self, key: &'static str, value: u64, most: u64) -> Result<(), HookConfigError> {
        if (1..=most).contains(&value) {
            return Ok(());
        }
        Err(HookConfigError::Range { name: self.name.clone(), key, value, most })
    }

    fn into_program(self) -> Result<HookProgram, HookConfigError> {
        let mut words = self.program.unwrap_or_default().into_iter();
        let Some(program) = words.next().filter(|program| !program.is_empty()) else {
            return Err(HookConfigError::Program { name: self.name });
        };
        Ok(HookProgram {
            name: self.name,
            program,
            arguments: words.collect(),
            moments: self.moments,
            time: Duration::from_millis(self.timeout_ms),
            max_bytes: self.max_bytes,
            env: self.env,
        })
    }

    fn into_endpoint(self) -> Result<HookEndpoint, HookConfigError> {
        let refuse = |what| HookConfigError::Url { name: self.name.clone(), what };
        let url = Url::parse(self.url.as_deref().unwrap_or_default())
            .map_err(|_| refuse("is not a URL; write http://… or https://…"))?;
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
        Ok(HookEndpoint {
            name: self.name,
            url,
            moments: self.moments,
            time: Duration::from_millis(self.timeout_ms),
            max_bytes: self.max_bytes,
            authorization,
            client,
        })
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
