//! What the models can take that conversations are with.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use http::HeaderMap;
use secateur::{Catalogue, Price};
use secateur_engine::Target;

use super::spans::Frame;

/// A window that is only open to those who ask for it.
const MILLION: i64 = 1_000_000;

/// What models can take: by the catalogue, and by what providers said when they refused.
pub(crate) struct Windows {
    catalogue: Catalogue,
    learned: Mutex<HashMap<String, i64>>,
}

impl Windows {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self { catalogue, learned: Mutex::default() }
    }

    /// The model that a request is for.
    pub(crate) fn target(&self, model: &str, frame: &Frame, headers: &HeaderMap) -> Target {
        let known = self.catalogue.find(model);
        let mut limits = known.map(secateur::Model::limits).unwrap_or_default();
        if is_wide(headers) && limits.context > 0 {
            limits.context = limits.context.max(MILLION);
        }
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&context) = learned.get(model) {
            limits.context = context;
        }
        if let Some(asked) = frame.max_tokens.filter(|asked| *asked > 0) {
            limits.output = Some(limits.output.map_or(asked, |output| output.min(asked)));
        }
        Target { limits, ..Target::new(model, limits.context) }
    }

    /// What a model costs, if the catalogue knows.
    pub(crate) fn price(&self, model: &str) -> Option<Price> {
        self.catalogue.find(model).and_then(|model| model.price)
    }

    /// A provider said how much a model can take.
    pub(crate) fn learn(&self, model: &str, context: u64) {
        let Ok(context) = i64::try_from(context) else { return };
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned(), context);
    }
}

/// Whether a request asks Anthropic for its longest window.
fn is_wide(headers: &HeaderMap) -> bool {
    let values = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|beta| beta.trim().starts_with("context-1m"))
}
