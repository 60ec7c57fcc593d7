//! Every effective setting with its origin, safe to show.

use std::collections::BTreeMap;

use secateur::{Family, Layer, Profile};
use serde::Serialize;
use toml::{Table, Value};

use super::mask::shown;
use super::{Config, Endpoint};

/// An effective value and its origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The key, as a path such as `compaction.threshold`.
    pub key: String,
    /// The value, with secrets masked.
    pub value: Value,
    /// The origin: a file, a variable, a flag, a profile, or `default`.
    pub origin: String,
}

impl Setting {
    /// A masked value and its origin.
    pub fn new(key: &str, value: &Value, origin: &str) -> Self {
        Self { key: key.to_owned(), value: shown(key, value), origin: origin.to_owned() }
    }
}

impl Config {
    /// All effective settings: the engine's first, then the profile's by key. Passwords, headers and anything that
    /// looks like a credential are masked.
    pub fn settings(&self) -> Vec<Setting> {
        let text = |text: &str| Value::String(text.to_owned());
        let mut settings = vec![
            self.setting("store", &text(&self.store)),
            self.setting("profile", &text(&self.profile.name)),
        ];
        if self.profile_files.is_empty() {
            settings.push(self.setting("profiles", &Value::Array(Vec::new())));
        }
        settings.extend(self.profile_files.iter().cloned());
        let unset = text("");
        settings.push(self.setting("models", self.values.get("models").unwrap_or(&unset)));
        settings.extend(self.window_settings());
        match &self.summariser {
            Some(endpoint) => {
                let values = endpoint_values(endpoint).into_iter();
                settings
                    .extend(values.map(|(key, value)| self.setting(&format!("summariser.{key}"), &value)));
            }
            None => settings.push(self.setting("summariser", &Value::Boolean(false))),
        }
        let mut patterns = BTreeMap::new();
        if let Some(value) = self.values.get("redaction") {
            flatten("redaction", value, &mut patterns);
        }
        if patterns.is_empty() {
            patterns.insert("redaction.patterns".to_owned(), Value::Table(Table::new()));
        }
        settings.extend(patterns.iter().map(|(key, value)| self.setting(key, value)));
        let retention = self.values.get("retention");
        for name in ["age", "size", "tenant_size"] {
            let value = retention.and_then(|table| table.get(name));
            settings.push(self.setting(&format!("retention.{name}"), value.unwrap_or(&unset)));
        }
        if self.hooks.is_empty() {
            settings.push(self.setting("hooks", &Value::Array(Vec::new())));
        }
        settings.extend(self.hook_settings());
        settings.extend(self.profile_settings());
        settings
    }

    /// A setting of the engine.
    fn setting(&self, key: &str, value: &Value) -> Setting {
        Setting::new(key, value, self.values.exact_origin(key))
    }

    fn window_settings(&self) -> Vec<Setting> {
        let mut windows = BTreeMap::new();
        if let Some(value) = self.values.get("windows") {
            flatten("windows", value, &mut windows);
        }
        if windows.is_empty() {
            windows.insert("windows".to_owned(), Value::Table(Table::new()));
        }
        windows.iter().map(|(key, value)| self.setting(key, value)).collect()
    }

    fn hook_settings(&self) -> Vec<Setting> {
        let origin = self.values.origin("hooks");
        let given = self.values.get("hooks").and_then(Value::as_array);
        let mut settings = Vec::new();
        for (index, hook) in self.hooks.iter().enumerate() {
            let Ok(Value::Table(table)) = Value::try_from(hook) else { continue };
            let given = given.and_then(|list| list.get(index));
            for (name, value) in &table {
                let key = format!("hooks[{index}].{name}");
                let origin =
                    if given.is_some_and(|hook| hook.get(name).is_some()) { origin } else { "default" };
                settings.push(Setting::new(&key, value, origin));
            }
        }
        settings
    }

    /// The values that the profile has without naming them. An empty text stands for one that is not set.
    fn profile_defaults(&self) -> BTreeMap<String, (Value, String)> {
        let Profile { policy, overflow, pivot, window, compaction, .. } = &self.profile;
        let tables = [
            ("compaction", serde_json::to_value(compaction)),
            ("overflow", serde_json::to_value(overflow)),
            ("pivot", serde_json::to_value(pivot)),
            ("window", serde_json::to_value(window)),
            ("budget", serde_json::to_value(policy.budget)),
            match &policy.family {
                Family::Watermark(family) => ("watermark", serde_json::to_value(family)),
                Family::Ratio(family) => ("ratio", serde_json::to_value(family)),
                Family::KeepLast(family) => ("keep-last", serde_json::to_value(family)),
                Family::Rent(family) => ("rent", serde_json::to_value(family)),
            },
        ];
        let mut leaves = BTreeMap::new();
        for (table, value) in tables {
            flatten_defaults(table, &value.unwrap_or_default(), &mut leaves);
        }
        // A rule of the profile that no setting has: `compaction.auto` decides.
        leaves.remove("overflow.auto");
        leaves.into_iter().map(|(key, value)| (key, (value, "default".to_owned()))).collect()
    }

    fn profile_settings(&self) -> Vec<Setting> {
        let mut all = self.profile_defaults();
        for (key, value, origin) in self.profile.settings() {
            // Name and description of a profile are not settings.
            if !matches!(key, "name" | "about") && !key.starts_with("reproduces.") {
                all.insert(key.to_owned(), (value.clone(), origin.to_owned()));
            }
        }
        for Layer { origin, values } in &self.applied {
            for (key, value) in values {
                let mut leaves = BTreeMap::new();
                flatten(key, value, &mut leaves);
                all.extend(leaves.into_iter().map(|(key, value)| (key, (value, origin.clone()))));
            }
        }
        let setting = |(key, (value, origin))| Setting { key, value, origin };
        all.into_iter().map(setting).collect()
    }
}

/// The values in a table, by their paths.
fn flatten(path: &str, value: &Value, leaves: &mut BTreeMap<String, Value>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                flatten(&format!("{path}.{key}"), value, leaves);
            }
        }
        value => {
            leaves.insert(path.to_owned(), value.clone());
        }
    }
}

/// The values in an object, by their paths. What is not set is an empty text.
fn flatten_defaults(path: &str, value: &serde_json::Value, leaves: &mut BTreeMap<String, Value>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                flatten_defaults(&format!("{path}.{key}"), value, leaves);
            }
        }
        value => {
            let unset = || Value::String(String::new());
            leaves.insert(path.to_owned(), Value::try_from(value).unwrap_or_else(|_| unset()));
        }
    }
}

/// The settings of an endpoint, in the order of the documentation. Missing ones are left out.
fn endpoint_values(endpoint: &Endpoint) -> Vec<(String, Value)> {
    let text = |text: &str| Value::String(text.to_owned());
    let whole = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let headers = endpoint.headers.iter().map(|(name, value)| (format!("headers.{name}"), Some(text(value))));
    let plain = [
        ("wire", Some(text(endpoint.wire.name()))),
        ("url", Some(text(&endpoint.url))),
        ("model", Some(text(&endpoint.model))),
        ("key_env", endpoint.key_env.as_deref().map(text)),
        ("key_header", endpoint.key_header.as_deref().map(text)),
        ("context", Some(whole(endpoint.context.into()))),
        ("input", endpoint.input.map(|tokens| whole(tokens.into()))),
        ("output", endpoint.output.map(|tokens| whole(tokens.into()))),
        ("tokens_field", Some(text(endpoint.tokens_field.name()))),
        ("include_usage", Some(Value::Boolean(endpoint.include_usage))),
        ("timeout_ms", Some(whole(endpoint.timeout_ms))),
        ("patience_ms", Some(whole(endpoint.patience_ms))),
        ("retries", Some(whole(endpoint.retries.into()))),
        ("first_wait_ms", Some(whole(endpoint.first_wait_ms))),
        ("longest_wait_ms", Some(whole(endpoint.longest_wait_ms))),
        ("most_bytes", Some(whole(endpoint.most_bytes.into()))),
    ];
    let plain = plain.into_iter().map(|(key, value)| (key.to_owned(), value));
    plain.chain(headers).filter_map(|(key, value)| Some((key, value?))).collect()
}
