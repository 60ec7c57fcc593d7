//! A request that was sent and awaits its response.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use secateur_engine::Target;
use secateur_engine::provider::LanguageModel;

use super::ResponseReport;
use super::bound_thinking::ProviderControls;
use super::branch::{Branch, UnsettledResponse};
use super::client_model::SummaryUsage;
use super::model_windows::{ModelWindow, ModelWindows};
use super::prompt_record::PromptRecord;
use super::recognition::ReceivedRequest;
use crate::outcome::{ExchangeReport, PromptEffect};

/// A request whose conversation is managed, for a model.
pub(crate) struct ManagedRequest {
    pub received: Arc<ReceivedRequest>,
    /// What the client calls the conversation.
    pub key: Option<String>,
    pub target: Target,
    pub window: ModelWindow,
    /// Writes summaries on the client's account.
    pub client_model: Arc<dyn LanguageModel>,
    /// What those cost.
    pub spent: SummaryUsage,
    pub hold: BodyHold,
}

impl ManagedRequest {
    pub(super) fn new(
        received: ReceivedRequest,
        key: Option<String>,
        target: Target,
        window: ModelWindow,
        client_model: Arc<dyn LanguageModel>,
        spent: SummaryUsage,
    ) -> Self {
        let received = Arc::new(received);
        Self { received, key, target, window, client_model, spent, hold: BodyHold::default() }
    }
}

/// The branch that has taken in the messages of a request.
///
/// Messages that are not stored yet are slices of the request's body, and keep all of it in memory. When a request ends
/// without being accepted, the branch must copy them.
#[derive(Default)]
pub(crate) struct BodyHold(Mutex<Weak<Branch>>);

impl BodyHold {
    /// The request is taken in by a branch.
    pub(super) fn on(&self, branch: &Arc<Branch>) {
        *self.0.lock() = Arc::downgrade(branch);
    }

    /// The provider accepted the request, so it will be stored soon.
    fn release(&self) {
        *self.0.lock() = Weak::new();
    }
}

impl Drop for BodyHold {
    fn drop(&mut self) {
        if let Some(branch) = self.0.get_mut().upgrade() {
            branch.release_bodies();
        }
    }
}

/// A request that was sent and awaits its response.
pub(crate) struct PendingExchange {
    windows: Arc<ModelWindows>,
    pub(super) branch: Arc<Branch>,
    client_model: Arc<dyn LanguageModel>,
    prompt: PromptRecord,
    window: ModelWindow,
    /// Bytes that were sent.
    bytes: u64,
    /// The same in characters, as the session counts them.
    characters: Option<u64>,
    /// What the provider was asked for.
    controls: ProviderControls,
    /// None once the request is accepted: it may be large, and the response may take minutes.
    request: Option<ManagedRequest>,
}

/// A request that the provider refused as too long.
pub(super) struct RefusedRequest {
    pub branch: Arc<Branch>,
    pub request: ManagedRequest,
    pub bytes: u64,
    pub characters: Option<u64>,
}

impl PendingExchange {
    pub(super) fn new(
        windows: Arc<ModelWindows>,
        branch: Arc<Branch>,
        request: ManagedRequest,
        characters: Option<u64>,
        controls: ProviderControls,
        report: &ExchangeReport,
    ) -> Self {
        let prompt = PromptRecord::new(&request.received, report);
        let (client_model, window) = (request.client_model.clone(), request.window.clone());
        let bytes = report.bytes_out;
        branch.watch_spending(request.spent.clone());
        let request = Some(request);
        Self { windows, branch, client_model, prompt, window, bytes, characters, controls, request }
    }

    /// What the provider was asked for.
    pub(super) fn controls(&self) -> &ProviderControls {
        &self.controls
    }

    /// The provider accepted the request, so its body is not needed any more.
    pub(crate) fn accepted(&mut self) {
        if let Some(request) = self.request.take() {
            request.hold.release();
        }
        self.branch.accepted();
    }

    /// The provider refused the request; none if it was accepted before.
    pub(super) fn into_refused(self) -> Option<RefusedRequest> {
        let Self { branch, request, bytes, characters, .. } = self;
        Some(RefusedRequest { branch, request: request?, bytes, characters })
    }

    /// The response ended. Nothing is waited for: the branch learns from it in the background. Returns what became of the
    /// prompt, if the provider reported its usage.
    pub(crate) fn settle(self, report: ResponseReport) -> Option<PromptEffect> {
        if let Some(usage) = report.usage {
            self.windows.accepted(&self.window, usage.context());
        }
        let dropped = report.provider.map_or(0, |done| done.dropped_blocks);
        let effect = report.usage.map(|usage| self.branch.prompted(self.prompt, usage, dropped));
        let client_model = self.client_model;
        // The session counts characters as if the provider had cleared what it was asked to.
        let characters = match (&self.controls.clearing, report.provider) {
            (Some(asked), done) if done.map(|done| done.cleared_results) != Some(asked.results.into()) => {
                if report.usage.is_some() && done.is_none_or(|done| done.cleared_results == 0) {
                    self.windows.thinking.ignored_clearing(self.window.model());
                }
                None
            }
            _ => self.characters,
        };
        self.branch.responded(UnsettledResponse { report, characters, client_model });
        self.branch.store_soon();
        effect
    }
}
