//! What `/api/configuration` shows: all settings, with the flags of `serve` over them.

use std::collections::BTreeMap;

use secateur_engine::config::{Config, Setting};
use secateur_server::Settings;
use serde::Deserialize;
use toml::Value;

use super::ServeArgs;
use super::log::LogLines;
use crate::settings_args::FlagValue;

/// Settings that say where a proxy listens, who may use it, how it starts and logs, but not what it does to requests.
const ACCESS_KEYS: [&str; 5] =
    ["serve.listen", "serve.token_file", "serve.hosts", "serve.log_format", "serve.require_store"];

/// Whether a setting says what a proxy does to requests.
fn matters(key: &str) -> bool {
    !ACCESS_KEYS.contains(&key) && !key.starts_with("serve.tokens") && !key.starts_with("retention.")
}

impl ServeArgs {
    /// Every setting with its value and origin.
    pub(crate) fn effective_settings(&self, config: &Config, settings: &Settings) -> Vec<Setting> {
        let mut shown = config.settings();
        set(&mut shown, ("store", self.store.named(), "--store"));
        let serve = config.serve();
        let file = self.token_file(config).cloned().unwrap_or_default();
        let upstreams = [
            ("serve.listen", &self.listen, &serve.listen, settings.listen.to_string()),
            ("serve.anthropic", &self.anthropic, &serve.anthropic, settings.anthropic.to_string()),
            ("serve.openai", &self.openai, &serve.openai, settings.openai.to_string()),
            ("serve.gemini", &self.gemini, &serve.gemini, settings.gemini.to_string()),
            // Only the path; the token itself is never shown.
            ("serve.token_file", &self.token_file, &serve.token_file, file),
        ];
        for (key, flag, set, value) in upstreams {
            let origin = match (flag, set) {
                (Some(_), _) => key.replace("serve.", "--").replace('_', "-"),
                (None, Some(_)) => config.origin(key).to_owned(),
                (None, None) => "default".to_owned(),
            };
            shown.push(Setting::new(key, &Value::String(value), &origin));
        }
        for (index, token) in serve.tokens.iter().flatten().enumerate() {
            let mut push = |name: &str, value: Value| {
                let key = format!("serve.tokens[{index}].{name}");
                shown.push(Setting::new(&key, &value, config.origin("serve.tokens")));
            };
            push("tenant", Value::String(token.tenant.clone()));
            // Only where the token is. Whether by hash, but not which.
            push("file", Value::String(token.file.clone().unwrap_or_default()));
            push("sha256", Value::String(token.sha256.as_ref().map_or("", |_| "***").to_owned()));
            push("operator", Value::Boolean(token.operator));
        }
        if serve.tokens.iter().flatten().next().is_none() {
            shown.push(Setting::new("serve.tokens", &Value::Array(Vec::new()), "default"));
        }
        let origin = match (self.require_store, serve.require_store) {
            (true, _) => "--require-store",
            (false, Some(_)) => config.origin("serve.require_store"),
            (false, None) => "default",
        };
        shown.push(Setting::new("serve.require_store", &Value::Boolean(self.requires_store(config)), origin));
        let origin = match (self.no_headers, serve.headers) {
            (true, _) => "--no-headers",
            (false, Some(_)) => config.origin("serve.headers"),
            (false, None) => "default",
        };
        shown.push(Setting::new("serve.headers", &Value::Boolean(settings.headers), origin));
        let origin = serve.hosts.as_ref().map_or("default", |_| config.origin("serve.hosts"));
        let hosts = settings.hosts.iter().cloned().map(Value::String).collect();
        shown.push(Setting::new("serve.hosts", &Value::Array(hosts), origin));
        let switches = [
            ("serve.provider_clearing", serve.provider_clearing, settings.provider_clearing),
            ("serve.drop_block", serve.drop_block, settings.drop_block),
        ];
        for (key, set, value) in switches {
            let origin = set.map_or("default", |_| config.origin(key));
            shown.push(Setting::new(key, &Value::Boolean(value), origin));
        }
        let limits = [
            ("serve.client_memory", serve.client_memory, settings.client_memory >> 20),
            ("serve.client_bodies", serve.client_bodies, settings.client_bodies as u64),
            ("serve.client_summaries", serve.client_summaries, settings.client_summaries as u64),
        ];
        for (key, set, value) in limits {
            let origin = set.map_or("default", |_| config.origin(key));
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            shown.push(Setting::new(key, &Value::Integer(value), origin));
        }
        let format = match self.log_lines(config) {
            LogLines::Text => "text",
            LogLines::Json => "json",
        };
        let origin = match (self.log_format, serve.log_format) {
            (Some(_), _) => "--log-format",
            (None, Some(_)) => config.origin("serve.log_format"),
            (None, None) => "default",
        };
        shown.push(Setting::new("serve.log_format", &Value::String(format.to_owned()), origin));
        shown
    }

    /// Whether any of these was set by a flag, a variable, or a file that one of them names.
    pub(crate) fn is_customised(&self, shown: &[Setting]) -> bool {
        let file = self.store.settings.file().map(|file| file.display().to_string());
        shown.iter().filter(|setting| matters(&setting.key)).any(|setting| {
            let origin = &setting.origin;
            origin.starts_with("--") || origin.starts_with("environment ") || file.as_ref() == Some(origin)
        })
    }
}

/// The response of `/api/configuration`.
#[derive(Deserialize)]
struct ProxyConfiguration {
    settings: Vec<ProxySetting>,
}

#[derive(Deserialize)]
struct ProxySetting {
    key: String,
    value: serde_json::Value,
}

/// Whether a proxy with this response to `/api/configuration` does the same as one with these settings.
pub(crate) fn has_same_settings(shown: &[Setting], response: &str) -> bool {
    let Ok(ProxyConfiguration { settings }) = serde_json::from_str(response) else { return false };
    let theirs: BTreeMap<_, _> = settings.into_iter().map(|setting| (setting.key, setting.value)).collect();
    let ours: BTreeMap<_, _> = shown
        .iter()
        .map(|setting| (setting.key.clone(), serde_json::to_value(&setting.value).unwrap_or_default()))
        .collect();
    let theirs = theirs.iter().filter(|(key, _)| matters(key));
    theirs.eq(ours.iter().filter(|(key, _)| matters(key)))
}

/// Sets a value. An equal one keeps its origin.
fn set(shown: &mut Vec<Setting>, (key, value, flag): FlagValue) {
    let Some(value) = value else { return };
    let setting = Setting::new(key, &Value::String(value), flag);
    match shown.iter_mut().find(|known| known.key == key) {
        Some(known) if known.value == setting.value => {}
        Some(known) => *known = setting,
        None => shown.push(setting),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn shown(text: &str, flags: &[&str]) -> Vec<Setting> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let serve = Command::parse_from([&["serve", "--config", file], flags].concat()).serve;
        let config = serve.config().unwrap();
        let mut shown = serve.effective_settings(&config, &serve.settings(&config).unwrap());
        shown.iter_mut().for_each(|setting| setting.origin = setting.origin.replace(file, "file"));
        shown
    }

    #[track_caller]
    fn is(shown: &[Setting], key: &str, value: &str, origin: &str) {
        let found: Vec<&Setting> = shown.iter().filter(|setting| setting.key == key).collect();
        let [found] = found[..] else { panic!("{key}: {found:?}") };
        let text = found.value.as_str().map_or(found.value.to_string(), str::to_owned);
        assert_eq!((text.as_str(), found.origin.as_str()), (value, origin), "{key}");
    }

    #[test]
    fn every_setting_has_an_origin_and_flags_override_files() {
        let text = "[serve]\nopenai = \"http://o\"\ngemini = \"http://g\"\nheaders = true\n";
        let shown = shown(text, &["--openai", "http://flag", "--listen", "127.0.0.1:1", "--no-headers"]);
        is(&shown, "serve.listen", "127.0.0.1:1", "--listen");
        is(&shown, "serve.openai", "http://flag", "--openai");
        is(&shown, "serve.gemini", "http://g", "file");
        is(&shown, "serve.anthropic", "https://api.anthropic.com", "default");
        is(&shown, "serve.headers", "false", "--no-headers");
        is(&shown, "profile", "balanced", "default");
        is(&shown, "summariser", "false", "default");
    }

    #[test]
    fn every_setting_of_the_proxy_is_shown() {
        let text = "[serve]\ndrop_block = false\nlog_format = \"json\"\n[windows]\nm = 5\n";
        let shown = shown(text, &["--window", "n.1=7"]);
        is(&shown, "serve.provider_clearing", "true", "default");
        is(&shown, "serve.drop_block", "false", "file");
        is(&shown, "serve.log_format", "json", "file");
        is(&shown, "windows.m", "5", "file");
        is(&shown, "windows.n.1", "7", "--window");
    }

    #[test]
    fn secrets_are_never_shown() {
        let text = "store = \"postgres://me:sesame@host/db\"\n\
                    [summariser]\nwire = \"openai-chat\"\nurl = \"https://host/v1?key=sesame\"\nmodel = \"m\"\n\
                    headers = { x-key = \"sesame\" }\n";
        let configured = shown(text, &[]);
        is(&configured, "store", "postgres://me:***@host/db", "file");
        is(&configured, "summariser.headers.x-key", "***", "file");
        let flags =
            ["--store", "postgres://you:sesame@host/db", "--summariser-url", "https://u:sesame@host/v1"];
        let flagged = shown(text, &[&flags[..], &["--summariser-model", "n"]].concat());
        is(&flagged, "store", "postgres://you:***@host/db", "--store");
        is(&flagged, "summariser.url", "https://u:***@host/v1", "--summariser-url");
        is(&flagged, "summariser.model", "n", "--summariser-model");
        is(&flagged, "summariser.wire", "openai-chat", "default");
        assert!(!flagged.iter().any(|setting| setting.key.starts_with("summariser.headers")));
        let all = format!("{configured:?}{flagged:?}");
        assert!(!all.contains("sesame"), "{all}");
    }

    #[test]
    fn only_the_path_of_the_token_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "a-word-that-nobody-guesses").unwrap();
        let file = file.to_str().unwrap();
        let shown = shown("[serve]\nhosts = [\"box.example\"]\n", &["--token-file", file]);
        is(&shown, "serve.token_file", file, "--token-file");
        is(&shown, "serve.hosts", "[\"box.example\"]", "file");
        assert!(!format!("{shown:?}").contains("nobody-guesses"), "{shown:?}");
    }

    #[test]
    fn tokens_of_tenants_are_shown_without_themselves() {
        let hash = "ab".repeat(32);
        let text = format!("[[serve.tokens]]\ntenant = \"anna\"\nsha256 = \"{hash}\"\noperator = true\n");
        let shown = shown(&text, &[]);
        is(&shown, "serve.tokens[0].tenant", "anna", "file");
        is(&shown, "serve.tokens[0].sha256", "***", "file");
        is(&shown, "serve.tokens[0].operator", "true", "file");
        assert!(!format!("{shown:?}").contains(&hash), "{shown:?}");
        // They do not matter for what a proxy does to requests.
        let response = serde_json::json!({ "settings": shown }).to_string();
        assert!(has_same_settings(&self::shown("", &[]), &response));
    }

    #[test]
    fn the_address_of_a_proxy_does_not_matter_for_its_settings() {
        let response = |flags: &[&str]| serde_json::json!({ "settings": shown("", flags) }).to_string();
        let ours = shown("", &["--no-headers", "--listen", "127.0.0.1:1"]);
        assert!(has_same_settings(&ours, &response(&["--no-headers", "--listen", "127.0.0.1:2"])));
        for other in
            [&[][..], &["--no-headers", "--profile", "opencode"], &["--no-headers", "--store", "a.db"]]
        {
            assert!(!has_same_settings(&ours, &response(other)), "{other:?}");
        }
        assert!(!has_same_settings(&ours, "{}"));
    }
}
