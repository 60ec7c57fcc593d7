//! The effective configuration.

use axum::Json;
use axum::extract::State;
use secateur_engine::config::Setting;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::ApiState;
use super::problem::Problems;
use crate::settings::Settings;

/// An effective setting and its origin.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Configured {
    /// The key, as a path such as `compaction.threshold`.
    key: String,
    /// The value, without secrets.
    value: Value,
    /// Its origin: a file, a variable, a flag, a profile, `default`, or the program that runs the proxy.
    origin: String,
}

impl Configured {
    /// Whether it says which tokens and tenants there are.
    pub(super) fn is_about_tokens(&self) -> bool {
        self.key.starts_with("serve.token")
    }
}

/// Every effective setting.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Configuration {
    settings: Vec<Configured>,
}

impl From<Setting> for Configured {
    fn from(setting: Setting) -> Self {
        let Setting { key, value, origin } = setting;
        // Every TOML value is a JSON value, except for NaN and infinities.
        Self { key, value: serde_json::to_value(value).unwrap_or_default(), origin }
    }
}

/// The settings of the proxy itself. Upstreams have no passwords.
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

/// Every effective setting and its origin, without secrets.
#[utoipa::path(
    get,
    path = "/api/configuration",
    tag = "proxy",
    responses((status = 200, body = Configuration, description = "The settings."), Problems)
)]
pub(super) async fn configuration(State(state): State<ApiState>) -> Json<Configuration> {
    Json(Configuration { settings: state.configuration.as_ref().clone() })
}
