//! The size of a model's window, if several places name one.

use serde::{Deserialize, Serialize};

/// The window that is assumed if neither a place nor the profile names one.
pub const DEFAULT_WINDOW: f64 = 200_000.0;

/// How a profile finds the size of a window: its table `[window]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowRule {
    /// Which place takes precedence.
    pub order: WindowOrder,
    /// The window that is assumed if no place names one, in tokens.
    pub default: i64,
}

impl Default for WindowRule {
    fn default() -> Self {
        Self { order: WindowOrder::default(), default: DEFAULT_WINDOW as i64 }
    }
}

/// Which place takes precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowOrder {
    /// The model's own definition, then the provider override, then the agent's setting.
    #[default]
    ModelFirst,
    /// The provider override, then the model; the agent's setting only lowers the result.
    OverrideFirst,
}

/// Where a window's size came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowSource {
    /// The model's own definition.
    Model,
    /// An override for this model at its provider.
    ProviderOverride,
    /// The agent's own setting.
    AgentSetting,
    /// No place names one.
    Default,
}

/// The window by place, in tokens. Only finite and positive numbers count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowHints {
    /// The model's own definition.
    pub model: Option<f64>,
    /// An override for this model at its provider.
    pub provider: Option<f64>,
    /// The agent's own setting.
    pub agent: Option<f64>,
}

impl WindowHints {
    /// The size of the window, and where it came from.
    ///
    /// ```
    /// use secateur::{WindowHints, WindowRule, WindowSource};
    ///
    /// let hints = WindowHints { agent: Some(64_000.0), ..Default::default() };
    /// assert_eq!(hints.resolve(WindowRule::default()), (64_000.0, WindowSource::AgentSetting));
    /// let rule = WindowRule { default: 32_000, ..WindowRule::default() };
    /// assert_eq!(WindowHints::default().resolve(rule), (32_000.0, WindowSource::Default));
    /// ```
    pub fn resolve(&self, rule: WindowRule) -> (f64, WindowSource) {
        let valid = |hint: Option<f64>| hint.filter(|size| size.is_finite() && *size > 0.0);
        let model = valid(self.model).map(|size| (size, WindowSource::Model));
        let provider = valid(self.provider).map(|size| (size, WindowSource::ProviderOverride));
        let agent = valid(self.agent).map(|size| (size, WindowSource::AgentSetting));
        let fallback = (rule.default as f64, WindowSource::Default);
        match rule.order {
            WindowOrder::ModelFirst => model.or(provider).or(agent).unwrap_or(fallback),
            WindowOrder::OverrideFirst => {
                let found = provider.or(model).unwrap_or(fallback);
                agent.filter(|cap| cap.0 < found.0).unwrap_or(found)
            }
        }
    }
}
