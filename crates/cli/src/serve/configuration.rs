//! What `/api/configuration` shows: everything that is configured, and over it what the flags of `serve` say.

use secateur_engine::config::{Config, Setting};
use secateur_server::Settings;
use toml::Value;

use super::Serve;

/// A value that a flag may have set: its key, the value, and the flag.
pub(crate) type Flagged = (&'static str, Option<String>, &'static str);

impl Serve {
    /// Every effective value and where it came from.
    pub(super) fn configuration(&self, config: &Config, settings: &Settings) -> Vec<Setting> {
        let mut shown = config.settings();
        lay(&mut shown, ("store", self.store.named(), "--store"));
        let summariser = self.summariser.flagged();
        if !summariser.is_empty() {
            // Who is named by flags has nothing of who is configured; but a variable is read as both.
            let is_known = |setting: &Setting| summariser.iter().any(|(key, ..)| *key == setting.key);
            shown.retain(|setting| !setting.key.starts_with("summariser") || is_known(setting));
        }
        for flagged in summariser {
            lay(&mut shown, flagged);
        }
        let serve = config.serve();
        let upstreams = [
            ("serve.listen", &self.listen, &serve.listen, settings.listen.to_string()),
            ("serve.anthropic", &self.anthropic, &serve.anthropic, settings.anthropic.to_string()),
            ("serve.openai", &self.openai, &serve.openai, settings.openai.to_string()),
            ("serve.gemini", &self.gemini, &serve.gemini, settings.gemini.to_string()),
        ];
        for (key, flag, set, value) in upstreams {
            let origin = match (flag, set) {
                (Some(_), _) => key.replace("serve.", "--"),
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
        shown
    }
}

/// Lays a value over the settings. One that is there already came from where it says.
fn lay(shown: &mut Vec<Setting>, (key, value, flag): Flagged) {
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
    use crate::keeper;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        serve: Serve,
    }

    fn shown(page: &str, flags: &[&str]) -> Vec<Setting> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, page).unwrap();
        let file = file.to_str().unwrap();
        let serve = Command::parse_from([&["serve", "--config", file], flags].concat()).serve;
        let config = keeper::config(&serve.store).unwrap();
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
}
