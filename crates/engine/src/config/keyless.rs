//! The model of a summariser whose key is not there.
//!
//! Most of what is done with sessions needs no summary. So a missing key does not stop the engine from being built; it
//! stops every question, with an error that names the variable.

use async_trait::async_trait;
use secateur::Limits;

use crate::provider::{Answer, AskError, ConnectError, Deltas, Endpoint, Model, Question};

/// What a provider would answer to a request without a key.
const UNAUTHORIZED: u16 = 401;

/// A model that answers every question with why it cannot be asked.
pub(super) struct Keyless {
    name: String,
    limits: Limits,
    reason: String,
}

impl Keyless {
    pub(super) fn new(endpoint: &Endpoint, error: &ConnectError) -> Self {
        Self { name: endpoint.model.clone(), limits: endpoint.limits(), reason: error.to_string() }
    }
}

#[async_trait]
impl Model for Keyless {
    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    async fn ask(&self, _: &Question<'_>, _: &mut Deltas<'_>) -> Result<Answer, AskError> {
        Err(AskError::Refused { status: UNAUTHORIZED, message: format!("it was not asked: {}", self.reason) })
    }
}
