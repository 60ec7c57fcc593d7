//! The engine's own sections, read and checked.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use secateur_store::is_tenant_name;
use serde::Deserialize;
use toml::Value;

use super::error::ConfigError;
use super::mask::names_a_variable;
use super::source::ConfigSource;
use super::values::LayeredValues;
use crate::hooks::HookConfig;
use crate::provider::Endpoint;
use crate::redact::{RedactError, Redactor};

/// The keys of the engine.
pub(super) const ENGINE_KEYS: [&str; 10] = [
    "store",
    "profile",
    "profiles",
    "models",
    "windows",
    "summariser",
    "hooks",
    "redaction",
    "retention",
    "serve",
];

/// The keys that override a profile.
pub(super) const PROFILE_KEYS: [&str; 10] = [
    "compaction",
    "prune",
    "watermark",
    "ratio",
    "keep-last",
    "rent",
    "overflow",
    "pivot",
    "window",
    "budget",
];

/// The most hooks: each can delay every moment.
const MOST_HOOKS: usize = 32;

/// The proxy: where it listens, and its upstreams. Defaults apply to what is not set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Serve")]
pub struct ServeConfig {
    /// The address to listen on, such as 127.0.0.1:7878.
    pub listen: Option<String>,
    /// A file with the token of the machine's own user, who is an operator. Without it and `tokens`, the proxy only listens on loopback addresses.
    pub token_file: Option<String>,
    /// The tokens of tenants, written [[serve.tokens]]. Every request must have one of them.
    pub tokens: Option<Vec<TokenConfig>>,
    /// Host names, in addition to those of this machine, under which clients without a token may use the proxy.
    pub hosts: Option<Vec<String>>,
    /// The upstream of requests on the wire `anthropic`.
    pub anthropic: Option<String>,
    /// The upstream of requests on the wires `openai-chat` and `openai-responses`.
    pub openai: Option<String>,
    /// The upstream of requests on the wire `gemini`.
    pub gemini: Option<String>,
    /// Whether the proxy fails at the start if the store cannot be used, instead of starting without it.
    pub require_store: Option<bool>,
    /// Whether responses tell in x-secateur-… headers what was done to the request.
    pub headers: Option<bool>,
    /// Whether Anthropic may be asked to clear old tool results (clear_tool_uses), for models that bind their thinking.
    pub provider_clearing: Option<bool>,
    /// Whether Anthropic may be asked to drop thinking that a cut made invalid (drop_block).
    pub drop_block: Option<bool>,
    /// The most memory for request bodies of one client, in megabytes. Beyond, bodies are passed through unread.
    pub client_memory: Option<NonZeroU32>,
    /// The most request bodies of one client that are read and decided at once. Beyond, requests are refused with 429.
    pub client_bodies: Option<NonZeroU32>,
    /// The most summaries that are written for one client at once. Beyond, they wait.
    pub client_summaries: Option<NonZeroU32>,
    /// The format of the log: text, or json with one object a line.
    pub log_format: Option<LogFormat>,
}

/// A token of a tenant: its file, or its hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Token")]
pub struct TokenConfig {
    /// The tenant: 1 to 64 letters, digits, or characters of -._@. Several tokens may have the same one.
    pub tenant: String,
    /// A file with the token.
    pub file: Option<String>,
    /// The SHA-256 of the token in place of its file, as 64 hexadecimal digits.
    pub sha256: Option<String>,
    /// Whether the token sees the sessions of all tenants, and the metrics.
    pub operator: bool,
}

/// The format of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// The `[redaction]` table: what is redacted in addition to credentials.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Redaction")]
pub(super) struct RedactionConfig {
    /// Regular expressions by name. The name goes into the marker; if there is a group called `secret`, only that is
    /// replaced.
    patterns: Option<BTreeMap<String, String>>,
}

/// Refuses unknown keys.
pub(super) fn check_keys(source: &ConfigSource) -> Result<(), ConfigError> {
    let known = || ENGINE_KEYS.iter().chain(&PROFILE_KEYS);
    match source.values.keys().find(|key| !known().any(|known| known == key)) {
        None => Ok(()),
        Some(key) => {
            let known: Vec<_> = known().copied().collect();
            let allowed = format!("unknown key; known are {}", known.join(", "));
            Err(ConfigError::key(&source.origin, key, "", allowed))
        }
    }
}

pub(super) fn store(values: &LayeredValues) -> Result<Option<String>, ConfigError> {
    match values.get("store") {
        None => Ok(None),
        Some(Value::String(store)) if !store.trim().is_empty() => Ok(Some(store.clone())),
        other => Err(values.refuse("store", other, "expected a text: a path, sqlite:PATH or postgres://…")),
    }
}

/// The model that writes summaries. `false` removes one that a weaker source set.
pub(super) fn summariser(values: &LayeredValues) -> Result<Option<Endpoint>, ConfigError> {
    let value = match values.get("summariser") {
        None | Some(Value::Boolean(false)) => return Ok(None),
        // Variables may complete a summariser that a flag names.
        Some(Value::Table(table)) if is_from_variables(values, table) => return Ok(None),
        Some(value @ Value::Table(_)) => value,
        other => {
            let allowed = "expected a table with url and model, or false";
            return Err(values.refuse("summariser", other, allowed));
        }
    };
    let endpoint: Endpoint = values.read("summariser", value)?;
    check_variable(values, "summariser.key_env", endpoint.key_env.as_deref())?;
    Ok(Some(endpoint))
}

/// Whether only variables are set of a summariser, and none of them names a model.
fn is_from_variables(values: &LayeredValues, summariser: &toml::Table) -> bool {
    let is_variable = |key: &String| values.origin(&format!("summariser.{key}")).starts_with("environment ");
    !["url", "model"].iter().any(|key| summariser.contains_key(*key)) && summariser.keys().all(is_variable)
}

pub(super) fn hooks(values: &LayeredValues) -> Result<Vec<HookConfig>, ConfigError> {
    let list = match values.get("hooks") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= MOST_HOOKS => list,
        other => {
            let allowed = "expected a list of at most 32 tables, written [[hooks]]";
            return Err(values.refuse("hooks", other, allowed));
        }
    };
    let read = list.iter().enumerate().map(|(index, value)| {
        let key = format!("hooks[{index}]");
        let hook: HookConfig = values.read(&key, value)?;
        check_variable(values, &format!("{key}.token_env"), hook.token_env.as_deref())?;
        for variable in &hook.env {
            check_variable(values, &format!("{key}.env"), Some(variable))?;
        }
        Ok(hook)
    });
    read.collect()
}

pub(super) fn serve(values: &LayeredValues) -> Result<ServeConfig, ConfigError> {
    let Some(value) = values.get("serve") else { return Ok(ServeConfig::default()) };
    let serve: ServeConfig = values.read("serve", value)?;
    for (index, token) in serve.tokens.iter().flatten().enumerate() {
        check_token(values, &format!("serve.tokens[{index}]"), token)?;
    }
    Ok(serve)
}

/// Refuses a token that names no tenant, or not exactly one of its file and its hash. A hash is not repeated: it may be the
/// token itself.
fn check_token(values: &LayeredValues, key: &str, token: &TokenConfig) -> Result<(), ConfigError> {
    if !is_tenant_name(&token.tenant) {
        let allowed = "expected the name of a tenant: 1 to 64 letters, digits, or characters of -._@";
        let value = Value::String(token.tenant.clone());
        return Err(values.refuse(&format!("{key}.tenant"), Some(&value), allowed));
    }
    match (&token.file, &token.sha256) {
        (Some(_), None) => Ok(()),
        (None, Some(hash)) if hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(()),
        (None, Some(_)) => {
            let allowed = "expected the SHA-256 of the token as 64 hexadecimal digits, not the token itself; \
                           `printf %s TOKEN | sha256sum` prints it";
            Err(values.refuse(&format!("{key}.sha256"), None, allowed))
        }
        _ => Err(values.refuse(key, None, "expected either `file` or `sha256` with the token of the tenant")),
    }
}

pub(super) fn redactor(values: &LayeredValues) -> Result<Redactor, ConfigError> {
    let Some(value) = values.get("redaction") else { return Ok(Redactor::new()) };
    let redaction: RedactionConfig = values.read("redaction", value)?;
    let patterns = redaction.patterns.unwrap_or_default();
    let patterns = patterns.iter().map(|(name, regex)| (name.as_str(), regex.as_str()));
    for (name, regex) in patterns.clone() {
        // One by one, so that the error can name the wrong one.
        if let Err(error) = Redactor::with_patterns([(name, regex)]) {
            let value = Value::String(regex.to_owned());
            return Err(values.refuse(&format!("redaction.patterns.{name}"), Some(&value), explain(&error)));
        }
    }
    Redactor::with_patterns(patterns)
        .map_err(|error| values.refuse("redaction.patterns", None, explain(&error)))
}

/// An error in a pattern, on one line: the parser draws the pattern with an arrow above its message.
fn explain(error: &RedactError) -> String {
    let RedactError::Pattern { source, .. } = error else { return error.to_string() };
    let text = source.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    format!("unusable regular expression: {}", last.trim_start_matches("error: "))
}

/// Refuses a secret in place of a variable's name, without repeating it.
fn check_variable(values: &LayeredValues, key: &str, name: Option<&str>) -> Result<(), ConfigError> {
    if name.is_none_or(names_a_variable) {
        return Ok(());
    }
    let allowed = "expected the name of an environment variable (letters, digits and _), not the key itself";
    Err(values.refuse(key, None, allowed))
}
