//! The settings of a model that is used over HTTP.
//!
//! They are a section of a configuration file. The key is not in it, because such files are shown, shared and
//! committed; the section names the environment variable with the key.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secateur::Limits;
use secateur_formats::Wire;
use serde::{Deserialize, Deserializer, de};
use thiserror::Error;

use super::address::without_query;
use super::client::ModelClient;
use super::connector::Connector;
use super::credentials::Credentials;
use super::secret::Secret;

/// The settings of a model that is used over HTTP. Unknown keys are errors.
///
/// ```
/// use secateur_engine::provider::Endpoint;
///
/// let endpoint: Endpoint = toml::from_str(
///     r#"
///     wire = "anthropic"
///     url = "https://api.anthropic.com"
///     model = "claude-haiku-4-5"
///     key_env = "ANTHROPIC_API_KEY"
///     context = 200_000
///     output = 64_000
///     "#,
/// )?;
/// assert_eq!(endpoint.retries, 3);
/// assert!(toml::from_str::<Endpoint>("wire = \"anthropic\"\nkey = \"sesame\"").is_err());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The wire: `openai-chat` (the default), `openai-responses`, `anthropic` or `gemini`.
    #[serde(default = "usual_wire", deserialize_with = "read_wire")]
    #[schemars(schema_with = "wire_schema")]
    pub wire: Wire,
    /// The URL: `https://host`, `https://host/v1`, or everything up to `/chat/completions`, `/responses`, `/messages`
    /// or `:streamGenerateContent`. Without a version in its path, `/v1` is added, or `/v1beta` for `gemini`.
    pub url: String,
    /// The model's name, as the provider spells it.
    pub model: String,
    /// The environment variable with the key; without it, no key is sent.
    #[serde(default)]
    pub key_env: Option<String>,
    /// The header in which the key is sent, as it is. By default `x-api-key` for `anthropic`, `x-goog-api-key` for
    /// `gemini`, and a bearer token in `authorization` for the others.
    #[serde(default)]
    pub key_header: Option<String>,
    /// More headers. Not meant for a key, but their values are treated as secrets.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The model's window in tokens; 0 if unknown.
    #[serde(default)]
    pub context: u32,
    /// The most input tokens, if the model limits them separately.
    #[serde(default)]
    pub input: Option<u32>,
    /// The longest response in tokens. Never more is requested.
    #[serde(default)]
    pub output: Option<u32>,
    /// The name of the response limit in Chat Completions. OpenAI's newer models require `max_completion_tokens`.
    #[serde(default)]
    pub tokens_field: TokensField,
    /// Whether Chat Completions are asked to report usage (`stream_options`). A few servers do not support that and
    /// refuse the request.
    #[serde(default = "yes")]
    pub include_usage: bool,
    /// The time limit of a response in milliseconds, including all retries and waits.
    #[serde(default = "ten_minutes")]
    pub timeout_ms: u64,
    /// The longest pause in milliseconds: before the first byte, and between any two.
    #[serde(default = "two_minutes")]
    pub patience_ms: u64,
    /// How often a request is repeated after a transient error.
    #[serde(default = "three")]
    pub retries: u32,
    /// The wait before the first retry in milliseconds; it doubles each time. Up to the same time again is added at
    /// random, so that requests that failed together are not repeated together.
    #[serde(default = "half_a_second")]
    pub first_wait_ms: u64,
    /// The longest wait before a retry in milliseconds. If the provider asks for a longer one, the request is not
    /// repeated: it would be refused again.
    #[serde(default = "one_minute")]
    pub longest_wait_ms: u64,
    /// The most bytes of a response's text.
    #[serde(default = "one_mebibyte")]
    pub most_bytes: u32,
}

/// The name of the response limit in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokensField {
    /// `max_tokens`, which most servers understand.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl TokensField {
    /// Its name in a request.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// Why an endpoint cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL is unusable.
    #[error("{url} is not the URL of a model: {reason}")]
    Url {
        /// The part of it that can be shown.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The variable with the key is empty or unset.
    #[error("the environment variable {variable} contains no key; set it, or remove key_env")]
    NoKey {
        /// The variable.
        variable: String,
    },
    /// The key has characters that a header cannot contain.
    #[error("the key has characters that cannot be sent in a header")]
    BadKey,
    /// An invalid header.
    #[error("{name:?} or its value is not a valid header")]
    Header {
        /// Its name.
        name: String,
    },
    /// A setting that makes every request fail.
    #[error("{name} must be above 0")]
    Zero {
        /// The setting.
        name: &'static str,
    },
    /// Encrypted connections are not possible on this system.
    #[error("cannot prepare a connection: {reason}")]
    System {
        /// The system's error.
        reason: String,
    },
}

impl Endpoint {
    /// An endpoint with default settings, without a key.
    pub fn new(wire: Wire, url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            wire,
            url: url.into(),
            model: model.into(),
            key_env: None,
            key_header: None,
            headers: BTreeMap::new(),
            context: 0,
            input: None,
            output: None,
            tokens_field: TokensField::default(),
            include_usage: yes(),
            timeout_ms: ten_minutes(),
            patience_ms: two_minutes(),
            retries: three(),
            first_wait_ms: half_a_second(),
            longest_wait_ms: one_minute(),
            most_bytes: one_mebibyte(),
        }
    }

    /// Builds a client with the key from the environment. Nothing is sent yet.
    pub fn connect(&self) -> Result<ModelClient, ConnectError> {
        let key = self.key_env.as_deref().map(|variable| {
            let key = std::env::var(variable).map(|key| Secret::new(&key));
            let key = key.ok().filter(|key| !key.is_blank());
            key.ok_or_else(|| ConnectError::NoKey { variable: variable.to_owned() })
        });
        self.connect_as(key.transpose()?.as_ref())
    }

    /// Builds a client with this key, whatever the environment says. Nothing is sent yet.
    pub fn connect_as(&self, key: Option<&Secret>) -> Result<ModelClient, ConnectError> {
        ModelClient::new(self, Credentials::Key(key), &Connector::new())
    }

    /// Builds a client on behalf of a proxy's client, with its headers instead of a key, over shared connections. It
    /// is so cheap that there can be one for every request. Nothing is sent yet.
    ///
    /// The headers may be all of the client's: those that belong to its body or connection are left out, and the
    /// others override the endpoint's own. Their values are secrets, and so are those in the URL's query: they are
    /// sent, but in no error.
    ///
    /// ```
    /// use secateur_engine::provider::{Connector, Endpoint, Secret};
    /// use secateur_formats::Wire;
    ///
    /// let connector = Connector::new();
    /// let endpoint = Endpoint::new(Wire::Anthropic, "http://127.0.0.1:8080", "claude-haiku-4-5");
    /// let theirs = [("x-api-key", Secret::new("sk-sesame")), ("anthropic-beta", Secret::new("some-beta"))];
    /// let model = endpoint.connect_through(&connector, &theirs)?;
    /// # Ok::<(), secateur_engine::provider::ConnectError>(())
    /// ```
    pub fn connect_through(
        &self,
        connector: &Connector,
        headers: &[(&str, Secret)],
    ) -> Result<ModelClient, ConnectError> {
        ModelClient::new(self, Credentials::Headers(headers), connector)
    }

    /// The model's limits.
    pub fn limits(&self) -> Limits {
        Limits {
            context: i64::from(self.context),
            input: self.input.map(i64::from),
            output: self.output.map(i64::from),
        }
    }
}

impl fmt::Debug for Endpoint {
    /// Shows everything but header values and the URL's query, which may contain a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("wire", &self.wire)
            .field("url", &without_query(&self.url))
            .field("model", &self.model)
            .field("key_env", &self.key_env)
            .field("key_header", &self.key_header)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("limits", &self.limits())
            .field("timeout_ms", &self.timeout_ms)
            .field("patience_ms", &self.patience_ms)
            .field("retries", &self.retries)
            .field("most_bytes", &self.most_bytes)
            .finish_non_exhaustive()
    }
}

/// The wire that most servers speak.
fn usual_wire() -> Wire {
    Wire::OpenAiChat
}

fn read_wire<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wire, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

fn wire_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Wire::ALL.map(Wire::name) })
}

fn yes() -> bool {
    true
}

fn three() -> u32 {
    3
}

fn half_a_second() -> u64 {
    500
}

fn one_minute() -> u64 {
    60_000
}

fn two_minutes() -> u64 {
    120_000
}

fn ten_minutes() -> u64 {
    600_000
}

fn one_mebibyte() -> u32 {
    1 << 20
}

#[cfg(test)]
mod tests;
