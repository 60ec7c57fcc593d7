//! What `/api/configuration` shows: everything that is configured, and over it what the flags of `serve` say.

use std::collections::BTreeMap;

use secateur_engine::config::{Config, Setting};
use secateur_server::Settings;
use serde::Deserialize;
use toml::Value;

use super::ServeArgs;

/// What says where a proxy is and who may ask it, and nothing of what it does.
const SURROUNDINGS: [&str; 3] = ["serve.listen", "serve.token_file", "serve.hosts"];

/// A value that a flag may have set: its key, the value, and the flag.
pub(crate) type FlagValue = (&'static str, Option<String>, &'static str);

impl ServeArgs {
    /// Every effective value and where it came from.
    pub(crate) fn configuration(&self, config: &Config, settings: &Settings) -> Vec<Setting> {
        let mut shown = config.settings();
        lay(&mut shown, ("store", self.store.named(), "--store"));
        let summariser = self.summariser.flag_values();
        if !summariser.is_empty() {
            // Who is named by flags has nothing of who is configured; but a variable is read as both.
            let is_known = |setting: &Setting| summariser.iter().any(|(key, ..)| *key == setting.key);
            shown.retain(|setting| !setting.key.starts_with("summariser") || is_known(setting));
        }
        for flagged in summariser {
            lay(&mut shown, flagged);
        }
        let serve = config.serve();
        let file = self.token_file(config).cloned().unwrap_or_default();
        let upstreams = [
            ("serve.listen", &self.listen, &serve.listen, settings.listen.to_string()),
            ("serve.anthropic", &self.anthropic, &serve.anthropic, settings.anthropic.to_string()),
            ("serve.openai", &self.openai, &serve.openai, settings.openai.to_string()),
            ("serve.gemini", &self.gemini, &serve.gemini, settings.gemini.to_string()),
            // Where it is. What is in it is told to nobody.
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
        let origin = match (self.no_headers, serve.headers) {
            (true, _) => "--no-headers",
            (false, Some(_)) => config.origin("serve.headers"),
            (false, None) => "default",
        };
        shown.push(Setting::new("serve.headers", &Value::Boolean(settings.headers), origin));
        let origin = serve.hosts.as_ref().map_or("default", |_| config.origin("serve.hosts"));
        let hosts = settings.hosts.iter().cloned().map(Value::String).collect();
        shown.push(Setting::new("serve.hosts", &Value::Array(hosts), origin));
        shown
    }

    /// Whether a flag, a variable or a file that is named by one says anything of this.
    pub(crate) fn is_particular(&self, shown: &[Setting]) -> bool {
        let file = self.store.config_file().map(|file| file.display().to_string());
        shown.iter().filter(|setting| !SURROUNDINGS.contains(&setting.key.as_str())).any(|setting| {
            let origin = &setting.origin;
            origin.starts_with("--") || origin.starts_with("environment ") || file.as_ref() == Some(origin)
        })
    }
}

/// What a proxy says under `/api/configuration`.
#[derive(Deserialize)]
struct ProxyConfiguration {
    settings: Vec<ProxySetting>,
}

#[derive(Deserialize)]
struct ProxySetting {
    key: String,
    value: serde_json::Value,
}

/// Whether a proxy that says this of itself does what one with these settings would do.
pub(crate) fn is_alike(shown: &[Setting], told: &str) -> bool {
    let Ok(ProxyConfiguration { settings }) = serde_json::from_str(told) else { return false };
    let counts = |key: &String| !SURROUNDINGS.contains(&key.as_str());
    let theirs: BTreeMap<_, _> = settings.into_iter().map(|answer| (answer.key, answer.value)).collect();
    let ours: BTreeMap<_, _> = shown
        .iter()
        .map(|setting| (setting.key.clone(), serde_json::to_value(&setting.value).unwrap_or_default()))
        .collect();
    let theirs = theirs.iter().filter(|(key, _)| counts(key));
    theirs.eq(ours.iter().filter(|(key, _)| counts(key)))
}

/// Lays a value over the settings. One that is there already came from where it says.
fn lay(shown: &mut Vec<Setting>, (key, value, flag): FlagValue) {
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

    fn shown(page: &str, flags: &[&str]) -> Vec<Setting> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, page).unwrap();
        let file = file.to_str().unwrap();
        let serve = Command::parse_from([&["serve", "--config", file], flags].concat()).serve;
        let config = serve.config().unwrap();
        let mut shown = serve.configuration(&config, &serve.settings(&config).unwrap());
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
    fn every_value_says_where_it_came_from_and_flags_go_over_files() {
        let page = "[serve]\nopenai = \"http://o\"\ngemini = \"http://g\"\nheaders = true\n";
        let shown = shown(page, &["--openai", "http://flag", "--listen", "127.0.0.1:1", "--no-headers"]);
        is(&shown, "serve.listen", "127.0.0.1:1", "--listen");
        is(&shown, "serve.openai", "http://flag", "--openai");
        is(&shown, "serve.gemini", "http://g", "file");
        is(&shown, "serve.anthropic", "https://api.anthropic.com", "default");
        is(&shown, "serve.headers", "false", "--no-headers");
        is(&shown, "profile", "balanced", "default");
        is(&shown, "summariser", "false", "default");
    }

    #[test]
    fn secrets_are_not_shown_wherever_they_come_from() {
        let page = "store = \"postgres://me:sesame@host/db\"\n\
                    [summariser]\nwire = \"openai-chat\"\nurl = \"https://host/v1?key=sesame\"\nmodel = \"m\"\n\
                    headers = { x-key = \"sesame\" }\n";
        let configured = shown(page, &[]);
        is(&configured, "store", "postgres://me:***@host/db", "file");
        is(&configured, "summariser.headers.x-key", "***", "file");
        let flags =
            ["--store", "postgres://you:sesame@host/db", "--summariser-url", "https://u:sesame@host/v1"];
        let flagged = shown(page, &[&flags[..], &["--summariser-model", "n"]].concat());
        is(&flagged, "store", "postgres://you:***@host/db", "--store");
        is(&flagged, "summariser.url", "https://u:***@host/v1", "--summariser-url");
        is(&flagged, "summariser.model", "n", "--summariser-model");
        is(&flagged, "summariser.wire", "openai-chat", "file");
        assert!(!flagged.iter().any(|setting| setting.key.starts_with("summariser.headers")));
        let all = format!("{configured:?}{flagged:?}");
        assert!(!all.contains("sesame"), "{all}");
    }

    #[test]
    fn the_token_is_told_by_its_file_alone() {
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
    fn a_proxy_is_alike_if_it_does_the_same_wherever_it_listens() {
        let told = |flags: &[&str]| serde_json::json!({ "settings": shown("", flags) }).to_string();
        let ours = shown("", &["--no-headers", "--listen", "127.0.0.1:1"]);
        assert!(is_alike(&ours, &told(&["--no-headers", "--listen", "127.0.0.1:2"])));
        for other in
            [&[][..], &["--no-headers", "--profile", "opencode"], &["--no-headers", "--store", "a.db"]]
        {
            assert!(!is_alike(&ours, &told(other)), "{other:?}");
        }
        assert!(!is_alike(&ours, "{}"));
    }
}
