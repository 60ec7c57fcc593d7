//! What the proxy was told, and by whom.

use axum::Json;
use axum::extract::State;
use secateur_engine::config::Setting;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Desk;
use super::problem::Problems;
use crate::settings::Settings;

/// An effective value and where it came from.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Configured {
    /// The key, as a path such as `compaction.threshold`.
    key: String,
    /// The value. What may be a secret in it is not shown.
    value: Value,
    /// Where it came from: a file, a variable, a flag, a profile, `default`, or the program that runs the proxy.
    origin: String,
}

/// Every effective value.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Configuration {
    settings: Vec<Configured>,
}

impl From<Setting> for Configured {
    fn from(setting: Setting) -> Self {
        let Setting { key, value, origin } = setting;
        // Whatever TOML can say, JSON can say, but for numbers that are none.
        Self { key, value: serde_json::to_value(value).unwrap_or_default(), origin }
    }
}

/// What the proxy itself knows of what it was told. An upstream has no place for a password.
pub(super) fn of(settings: &Settings) -> Vec<Configured> {
    let of =
        |key: &str, value: Value| Configured { key: key.to_owned(), value, origin: "program".to_owned() };
    vec![
        of("profile", json!(settings.profile)),
        of("serve.listen", json!(settings.listen.to_string())),
        of("serve.anthropic", json!(settings.anthropic.to_string())),
        of("serve.openai", json!(settings.openai.to_string())),
        of("serve.gemini", json!(settings.gemini.to_string())),
        of("serve.headers", json!(settings.headers)),
    ]
}

/// Every effective value of the configuration and where it came from, never a secret.
#[utoipa::path(
    get,
    path = "/api/configuration",
    tag = "proxy",
    responses((status = 200, body = Configuration, description = "The values."), Problems)
)]
pub(super) async fn configuration(State(desk): State<Desk>) -> Json<Configuration> {
    Json(Configuration { settings: desk.configuration.as_ref().clone() })
}
