//! What a caller chooses: how a session begins, and which model a request is for.

use std::sync::LazyLock;

use secateur::session::BoundThinking;
use secateur::{Cache, Catalogue, Lifetime, Limits, ModelInfo};
use secateur_formats::Wire;
use secateur_store::NewSession;

use super::DEFAULT_PROFILE;
use crate::clock::Clock;
use crate::error::EngineError;

/// Members of a request that hold its messages, in any wire.
const MESSAGE_LISTS: [&str; 3] = ["messages", "contents", "input"];

/// How a new session begins.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Its id (default: a new one).
    pub id: Option<String>,
    /// The wire of its messages.
    pub wire: Wire,
    /// The name of its profile (default: [`DEFAULT_PROFILE`]).
    pub profile: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The rest of its requests: a JSON object with system prompt, tools and parameters, without messages.
    pub envelope: String,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { id: None, wire: Wire::OpenAiChat, profile: None, title: None, envelope: "{}".to_owned() }
    }
}

impl SessionOptions {
    /// The row with which the session begins in the store.
    pub(crate) fn into_row(self, clock: &Clock) -> Result<NewSession, EngineError> {
        Ok(NewSession {
            id: self.id.unwrap_or_else(|| clock.new_id().to_string()),
            wire: self.wire.name().to_owned(),
            profile: self.profile.unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
            title: self.title,
            envelope: check_envelope(&self.envelope)?,
            state: "{}".to_owned(),
            time: clock.now(),
        })
    }
}

/// The model that a request is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name.
    pub model: String,
    /// Its limits in tokens.
    pub limits: Limits,
    /// What the catalogue says about it; none if it is not there.
    pub known: Option<ModelInfo>,
    /// The prices and lifetime of its provider's prompt cache (default: those that the catalogue says).
    pub cache: Option<Cache>,
    /// How the model binds its thinking, and what can be done about that; none if it does not. It matters on the wire
    /// `anthropic` only.
    pub thinking: Option<BoundThinking>,
    /// The wire of the request (default: the session's).
    pub wire: Option<Wire>,
}

/// The table that comes with the kernel.
static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);

/// What a token of output costs where the catalogue does not say, if plain input costs one.
const USUAL_OUTPUT_PRICE: f64 = 5.0;

impl Target {
    /// A model that binds its thinking, for an application that asks nothing of the provider.
    pub const UNCONTROLLED: BoundThinking = BoundThinking {
        can_clear: false,
        can_drop: false,
        is_needed: true,
        output_price: USUAL_OUTPUT_PRICE,
    };

    /// A model with a window of `context` tokens. The rest is looked up in the builtin catalogue.
    pub fn new(model: &str, context: i64) -> Self {
        Self::of(&CATALOGUE, model, context)
    }

    /// A model with a window of `context` tokens. The rest is looked up in this catalogue.
    pub fn of(catalogue: &Catalogue, model: &str, context: i64) -> Self {
        Self {
            model: model.to_owned(),
            limits: Limits { context, ..Limits::default() },
            known: catalogue.find(model).cloned(),
            cache: None,
            thinking: Self::thinking_of(catalogue, model),
            wire: None,
        }
    }

    /// How a model binds its thinking, for an application that asks nothing of the provider; none if it does not.
    pub fn thinking_of(catalogue: &Catalogue, model: &str) -> Option<BoundThinking> {
        let price = catalogue.find(model).and_then(ModelInfo::output_price);
        let output_price = price.unwrap_or(USUAL_OUTPUT_PRICE);
        catalogue.binds_thinking(model).then_some(BoundThinking { output_price, ..Self::UNCONTROLLED })
    }

    /// The prompt cache for a session with this observed cache lifetime; none if nothing is known about it.
    pub(crate) fn cache(&self, lifetime: &Lifetime) -> Option<Cache> {
        self.cache.or_else(|| Cache::of(self.known.as_ref()?, lifetime))
    }

    /// The lengths of a prompt above which the whole request costs more.
    pub(crate) fn band_limits(&self) -> Vec<u64> {
        let prices = self.known.as_ref().and_then(ModelInfo::prices);
        prices.map(|prices| prices.limits()).unwrap_or_default()
    }
}

/// Accepts a JSON object without messages. It is stored as it is, apart from surrounding space.
pub(crate) fn check_envelope(envelope: &str) -> Result<String, EngineError> {
    let refuse = |reason: String| EngineError::InvalidEnvelope { reason };
    let value: serde_json::Value =
        serde_json::from_str(envelope).map_err(|error| refuse(format!("it is not JSON ({error})")))?;
    let Some(object) = value.as_object() else { return Err(refuse("it is not an object".to_owned())) };
    match MESSAGE_LISTS.iter().find(|list| object.contains_key(**list)) {
        Some(list) => Err(refuse(format!("it has a member {list:?}; append messages instead"))),
        None => Ok(envelope.trim().to_owned()),
    }
}
