//! The model of a summariser whose key is not there.
//!
//! Most of what is done with sessions needs no summary. So a missing key does not stop the engine from being built; it
//! stops every question, with an error that names the variable.

use async_trait::async_trait;
use secateur::Limits;

use crate::provider::{Answer, AskError, Deltas, Endpoint, Model, Question};

/// A model that answers every question with why it cannot be asked.
pub(super) struct Keyless {
    name: String,
    limits: Limits,
    /// The variable that should hold the key.
    variable: String,
}

impl Keyless {
    pub(super) fn new(endpoint: &Endpoint, variable: String) -> Self {
        Self { name: endpoint.model.clone(), limits: endpoint.limits(), variable }
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
        Err(AskError::NoKey { variable: self.variable.clone() })
    }
}
