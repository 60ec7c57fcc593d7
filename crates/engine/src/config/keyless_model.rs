//! The summariser when its key is missing.
//!
//! Most work with sessions needs no summary. So a missing key does not prevent the engine from being built; it fails
//! every request to the model, with an error that names the variable.

use async_trait::async_trait;
use secateur::Limits;

use crate::provider::{Deltas, Endpoint, LanguageModel, ModelError, ModelRequest, ModelResponse};

/// A model that fails every request because its key is missing.
pub(super) struct KeylessModel {
    pub(super) endpoint: Endpoint,
    /// The variable that should contain the key.
    pub(super) variable: String,
}

#[async_trait]
impl LanguageModel for KeylessModel {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn limits(&self) -> Limits {
        self.endpoint.limits()
    }

    async fn send(&self, _: &ModelRequest<'_>, _: &mut Deltas<'_>) -> Result<ModelResponse, ModelError> {
        Err(ModelError::NoKey { variable: self.variable.clone() })
    }
}
