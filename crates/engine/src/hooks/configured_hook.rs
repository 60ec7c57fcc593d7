//! A hook that was built from its settings.

use std::time::Duration;

use async_trait::async_trait;

use super::call::HookCall;
use super::config::HookConfig;
use super::endpoint::HookEndpoint;
use super::error::HookError;
use super::moment::HookMoment;
use super::program::HookProgram;
use super::response::HookResponse;
use super::{GRACE, Hook};

/// A program or an endpoint with its settings, which were checked.
pub(super) struct ConfiguredHook {
    pub(super) config: HookConfig,
    pub(super) target: HookTarget,
}

/// What is called.
pub(super) enum HookTarget {
    Program(HookProgram),
    Endpoint(HookEndpoint),
}

#[async_trait]
impl Hook for ConfiguredHook {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn wants(&self, moment: HookMoment) -> bool {
        self.config.moments.contains(&moment)
    }

    fn time_limit(&self) -> Duration {
        self.config.time() + GRACE
    }

    async fn call(&self, call: &HookCall) -> Result<HookResponse, HookError> {
        let body = serde_json::to_vec(call).map_err(HookError::own)?;
        let answer = match &self.target {
            HookTarget::Program(program) => program.call(&self.config, body).await?,
            HookTarget::Endpoint(endpoint) => endpoint.call(&self.config, body).await?,
        };
        HookResponse::read(&answer, call.moment())
    }
}
