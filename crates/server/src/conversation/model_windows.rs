//! The windows of models: from the catalogue, learned from refusals, or else assumed.

use std::collections::{HashMap, HashSet};

use http::HeaderMap;
use parking_lot::{Mutex, MutexGuard};
use secateur::Catalogue;
use secateur::session::BoundThinking;
use secateur_engine::Target;

use super::bound_thinking::{ThinkingKnowledge, ThinkingSettings};
use super::spans::Envelope;

/// The window of Anthropic models that requests must ask for by a header.
const MILLION: i64 = 1_000_000;

/// The most windows that are remembered. Clients may invent names of models.
const MAX_LEARNED: usize = 1_024;

/// The most characters of a model's name in the log.
const LONGEST_LOGGED_NAME: usize = 200;

/// Names a window: that of a model, or its wide one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModelWindow {
    model: String,
    is_wide: bool,
}

impl ModelWindow {
    /// The window for a request with these headers.
    pub(crate) fn new(model: &str, headers: &HeaderMap) -> Self {
        Self { model: model.to_owned(), is_wide: is_wide(headers) }
    }

    /// The name of the model.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }
}

/// The windows of models: from the catalogue, learned from refusals, or else assumed.
pub(crate) struct ModelWindows {
    catalogue: Catalogue,
    /// The window of a model about which nothing is known.
    assumed: i64,
    learned: Mutex<HashMap<ModelWindow, i64>>,
    /// The models for which the log says that their window is assumed.
    logged: Mutex<HashSet<String>>,
    /// What is known about how they bind their thinking.
    pub thinking: ThinkingKnowledge,
}

impl ModelWindows {
    pub(crate) fn new(catalogue: Catalogue, assumed: i64, thinking: ThinkingSettings) -> Self {
        let (learned, logged) = (Mutex::default(), Mutex::default());
        Self { catalogue, assumed, learned, logged, thinking: ThinkingKnowledge::new(thinking) }
    }

    /// Whether nothing is known about a window, so that its size is assumed.
    pub(crate) fn is_assumed(&self, window: &ModelWindow) -> bool {
        let known = self.catalogue.find(&window.model);
        known.is_none_or(|model| model.context <= 0) && !self.learned().contains_key(window)
    }

    /// Logs that the window of a model is assumed, once for each model.
    pub(crate) fn log_assumption(&self, model: &str, tokens: i64) {
        {
            let mut logged = self.logged.lock();
            if logged.len() >= MAX_LEARNED || !logged.insert(model.to_owned()) {
                return;
            }
        }
        // A client may name its model as it likes.
        let model: String = model.chars().take(LONGEST_LOGGED_NAME).collect();
        tracing::warn!(
            model,
            tokens,
            "the window of this model is not known, and this many tokens are assumed; set it with windows.{model:?} = \
             TOKENS at the top of config.toml, or with --window"
        );
    }

    /// How the model of a request binds its thinking; none if it does not.
    pub(crate) fn thinking(&self, model: &str, envelope: &Envelope) -> Option<BoundThinking> {
        self.thinking.of(&self.catalogue, model, envelope)
    }

    /// The model that a request is for.
    pub(crate) fn target(&self, window: &ModelWindow, envelope: &Envelope) -> Target {
        let model = window.model.as_str();
        let known = self.catalogue.find(model);
        let mut limits = known.map(secateur::ModelInfo::limits).unwrap_or_default();
        if limits.context <= 0 {
            limits.context = self.assumed;
        }
        if window.is_wide && !known.is_some_and(|model| model.has_fixed_window) {
            limits.context = limits.context.max(MILLION);
        }
        if let Some(&context) = self.learned().get(window) {
            limits.context = context;
        }
        if let Some(asked) = envelope.max_tokens.filter(|asked| *asked > 0) {
            limits.output = Some(limits.output.map_or(asked, |output| output.min(asked)));
        }
        let thinking = self.thinking(model, envelope);
        Target { limits, thinking, ..Target::of(&self.catalogue, model, limits.context) }
    }

    fn learned(&self) -> MutexGuard<'_, HashMap<ModelWindow, i64>> {
        self.learned.lock()
    }

    /// A refusal showed the size of a window.
    pub(crate) fn learn(&self, window: &ModelWindow, context: u64) {
        let Ok(context) = i64::try_from(context) else { return };
        let mut learned = self.learned();
        if learned.len() >= MAX_LEARNED && !learned.contains_key(window) {
            learned.clear();
        }
        learned.insert(window.clone(), context);
    }

    /// A provider accepted a prompt of this many tokens, so the window is at least that large.
    pub(crate) fn accepted(&self, window: &ModelWindow, tokens: i64) {
        if let Some(context) = self.learned().get_mut(window) {
            *context = tokens.max(*context);
        }
    }
}

/// Whether a request asks Anthropic for the wide window.
fn is_wide(headers: &HeaderMap) -> bool {
    let values = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|beta| beta.trim().starts_with("context-1m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOGUE: &str = "[[model]]\nid = \"m\"\nprovider = \"test\"\ncontext = 200000\noutput = 1000\n";

    const SETTINGS: ThinkingSettings = ThinkingSettings { clearing: true, dropping: true };

    fn window(model: &str, beta: &'static str) -> ModelWindow {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-beta", beta.parse().unwrap());
        ModelWindow::new(model, &headers)
    }

    #[test]
    fn what_is_learned_about_a_window_does_not_change_the_wide_one() {
        let windows = ModelWindows::new(Catalogue::parse(CATALOGUE, "test").unwrap(), 50_000, SETTINGS);
        let (narrow, wide) = (window("m", "other"), window("m", "other, context-1m-2025-08-07"));
        let context = |window| windows.target(window, &Envelope::default()).limits.context;
        assert_eq!((context(&narrow), context(&wide)), (200_000, MILLION));
        windows.learn(&narrow, 150_000);
        assert_eq!((context(&narrow), context(&wide)), (150_000, MILLION));
        windows.learn(&wide, 500_000);
        assert_eq!((context(&narrow), context(&wide)), (150_000, 500_000));
        // A longer prompt was accepted after all.
        windows.accepted(&narrow, 149_000);
        assert_eq!(context(&narrow), 150_000);
        windows.accepted(&narrow, 170_000);
        assert_eq!((context(&narrow), context(&wide)), (170_000, 500_000));
    }

    #[test]
    fn an_unknown_model_has_the_assumed_window_until_a_refusal_teaches_another() {
        let catalogue = Catalogue::parse(CATALOGUE, "test").unwrap();
        let windows = ModelWindows::new(catalogue, 50_000, SETTINGS);
        let (known, unknown) = (window("m", ""), window("new", ""));
        let context = |window| windows.target(window, &Envelope::default()).limits.context;
        assert_eq!((context(&unknown), windows.is_assumed(&unknown)), (50_000, true));
        assert!(!windows.is_assumed(&known));
        windows.learn(&unknown, 32_000);
        assert_eq!((context(&unknown), windows.is_assumed(&unknown)), (32_000, false));
    }

    #[test]
    fn a_window_that_the_user_set_is_not_widened() {
        let catalogue = Catalogue::parse(CATALOGUE, "test").unwrap().with_window("m", 60_000);
        let windows = ModelWindows::new(catalogue, 50_000, SETTINGS);
        let target = windows.target(&window("m", "context-1m-2025-08-07"), &Envelope::default());
        assert_eq!((target.limits.context, target.limits.output), (60_000, Some(1_000)));
    }

    #[test]
    fn made_up_models_do_not_fill_the_memory() {
        let windows = ModelWindows::new(Catalogue::parse(CATALOGUE, "test").unwrap(), 50_000, SETTINGS);
        for number in 0..5_000 {
            windows.learn(&window(&format!("model {number}"), ""), 1_000);
        }
        assert!(windows.learned().len() <= MAX_LEARNED);
        windows.accepted(&window("never refused", ""), 1_000);
        assert!(!windows.learned().contains_key(&window("never refused", "")));
    }
}
