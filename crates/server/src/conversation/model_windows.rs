//! What the models can take that conversations are with.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use secateur::{Catalogue, Price};
use secateur_engine::Target;

use super::spans::Frame;

/// A window that is only open to those who ask for it.
const MILLION: i64 = 1_000_000;

/// The most windows that are remembered. Names of models come from clients, who may make them up.
const MOST_LEARNED: usize = 1_024;

/// A window: that of a model, wide if it was asked for like that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Window {
    model: String,
    is_wide: bool,
}

impl Window {
    /// The window that a request with these headers asks for.
    pub(crate) fn new(model: &str, headers: &HeaderMap) -> Self {
        Self { model: model.to_owned(), is_wide: is_wide(headers) }
    }
}

/// What models can take: by the catalogue, and by what providers said when they refused.
pub(crate) struct Windows {
    catalogue: Catalogue,
    learned: Mutex<HashMap<Window, i64>>,
}

impl Windows {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self { catalogue, learned: Mutex::default() }
    }

    /// The model that a request is for.
    pub(crate) fn target(&self, window: &Window, frame: &Frame) -> Target {
        let model = window.model.as_str();
        let known = self.catalogue.find(model);
        let mut limits = known.map(secateur::ModelInfo::limits).unwrap_or_default();
        if window.is_wide && limits.context > 0 {
            limits.context = limits.context.max(MILLION);
        }
        if let Some(&context) = self.learned().get(window) {
            limits.context = context;
        }
        if let Some(asked) = frame.max_tokens.filter(|asked| *asked > 0) {
            limits.output = Some(limits.output.map_or(asked, |output| output.min(asked)));
        }
        Target { limits, ..Target::new(model, limits.context) }
    }

    fn learned(&self) -> MutexGuard<'_, HashMap<Window, i64>> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a model costs, if the catalogue knows.
    pub(crate) fn price(&self, model: &str) -> Option<Price> {
        self.catalogue.find(model).and_then(|model| model.price)
    }

    /// A provider said how much goes into a window, or let it be guessed.
    pub(crate) fn learn(&self, window: &Window, context: u64) {
        let Ok(context) = i64::try_from(context) else { return };
        let mut learned = self.learned();
        if learned.len() >= MOST_LEARNED && !learned.contains_key(window) {
            learned.clear();
        }
        learned.insert(window.clone(), context);
    }

    /// A provider took a prompt of so many tokens: what was learned before may have been too little.
    pub(crate) fn took(&self, window: &Window, tokens: i64) {
        if let Some(context) = self.learned().get_mut(window) {
            *context = tokens.max(*context);
        }
    }
}

/// Whether a request asks Anthropic for its longest window.
fn is_wide(headers: &HeaderMap) -> bool {
    let values = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|beta| beta.trim().starts_with("context-1m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "[[model]]\nid = \"m\"\nprovider = \"test\"\ncontext = 200000\noutput = 1000\n";

    fn window(model: &str, beta: &'static str) -> Window {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-beta", beta.parse().unwrap());
        Window::new(model, &headers)
    }

    #[test]
    fn what_is_learned_of_a_window_is_not_believed_of_a_wider_one() {
        let windows = Windows::new(Catalogue::parse(PAGE, "test").unwrap());
        let (narrow, wide) = (window("m", "other"), window("m", "other, context-1m-2025-08-07"));
        let context = |window| windows.target(window, &Frame::default()).limits.context;
        assert_eq!((context(&narrow), context(&wide)), (200_000, MILLION));
        windows.learn(&narrow, 150_000);
        assert_eq!((context(&narrow), context(&wide)), (150_000, MILLION));
        windows.learn(&wide, 500_000);
        assert_eq!((context(&narrow), context(&wide)), (150_000, 500_000));
        // A longer prompt was taken after all.
        windows.took(&narrow, 149_000);
        assert_eq!(context(&narrow), 150_000);
        windows.took(&narrow, 170_000);
        assert_eq!((context(&narrow), context(&wide)), (170_000, 500_000));
    }

    #[test]
    fn made_up_models_do_not_fill_the_memory() {
        let windows = Windows::new(Catalogue::parse(PAGE, "test").unwrap());
        for number in 0..5_000 {
            windows.learn(&window(&format!("model {number}"), ""), 1_000);
        }
        assert!(windows.learned().len() <= MOST_LEARNED);
        windows.took(&window("never refused", ""), 1_000);
        assert!(!windows.learned().contains_key(&window("never refused", "")));
    }
}
