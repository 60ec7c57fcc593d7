//! The windows of models: from the catalogue, and learned from refusals.

use std::collections::HashMap;

use http::HeaderMap;
use parking_lot::{Mutex, MutexGuard};
use secateur::session::BoundThinking;
use secateur::{Catalogue, Price};
use secateur_engine::Target;

use super::bound_thinking::{ThinkingKnowledge, ThinkingSettings};
use super::spans::Envelope;

/// The window of Anthropic models that requests must ask for by a header.
const MILLION: i64 = 1_000_000;

/// The most windows that are remembered. Clients may invent names of models.
const MAX_LEARNED: usize = 1_024;

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

/// The windows of models: from the catalogue, and learned from refusals.
pub(crate) struct ModelWindows {
    catalogue: Catalogue,
    learned: Mutex<HashMap<ModelWindow, i64>>,
    /// What is known about how they bind their thinking.
    pub thinking: ThinkingKnowledge,
}

impl ModelWindows {
    pub(crate) fn new(catalogue: Catalogue, thinking: ThinkingSettings) -> Self {
        Self { catalogue, learned: Mutex::default(), thinking: ThinkingKnowledge::new(thinking) }
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
        if window.is_wide && limits.context > 0 {
            limits.context = limits.context.max(MILLION);
        }
        if let Some(&context) = self.learned().get(window) {
            limits.context = context;
        }
        if let Some(asked) = envelope.max_tokens.filter(|asked| *asked > 0) {
            limits.output = Some(limits.output.map_or(asked, |output| output.min(asked)));
        }
        let thinking = self.thinking(model, envelope);
        Target { limits, thinking, ..Target::new(model, limits.context) }
    }

    fn learned(&self) -> MutexGuard<'_, HashMap<ModelWindow, i64>> {
        self.learned.lock()
    }

    /// The price of a model, if the catalogue has one.
    pub(crate) fn price(&self, model: &str) -> Option<Price> {
        self.catalogue.find(model).and_then(|model| model.price)
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
        let windows = ModelWindows::new(Catalogue::parse(CATALOGUE, "test").unwrap(), SETTINGS);
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
    fn made_up_models_do_not_fill_the_memory() {
        let windows = ModelWindows::new(Catalogue::parse(CATALOGUE, "test").unwrap(), SETTINGS);
        for number in 0..5_000 {
            windows.learn(&window(&format!("model {number}"), ""), 1_000);
        }
        assert!(windows.learned().len() <= MAX_LEARNED);
        windows.accepted(&window("never refused", ""), 1_000);
        assert!(!windows.learned().contains_key(&window("never refused", "")));
    }
}
