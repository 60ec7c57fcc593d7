//! The conversations that pass through: what is known of each, and what is done to a request.
//!
//! ```text
//!   recognition ─▶ placement ─▶ decision ─▶ layout ─▶ (proxy sends) ─▶ pending_exchange ─▶ branch
//!   spans, chain   lookup       branch_state fidelity                  observe              settle, store
//! ```
//!
//! Each branch of a conversation is a followed session of the engine. Decisions are stored before they are sent, so that
//! every process decides the same. Messages are stored later, after the response. When anything goes wrong, the request
//! is passed through.

mod background_tasks;
mod bound_thinking;
mod branch;
mod branch_state;
mod chain;
mod client_model;
mod compaction_request;
mod decision;
mod error;
mod fidelity;
mod layout;
mod lookup;
mod model_windows;
mod overflow;
mod pending_exchange;
mod placement;
mod prompt_record;
mod provisional_branches;
mod recognition;
mod registry;
mod request_messages;
mod spans;
mod timeout_store;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use secateur::session::{ProviderReport, TurnState};
use secateur::{Catalogue, DEFAULT_WINDOW, Usage};
use secateur_engine::Engine;
use secateur_formats::Wire;

use crate::metrics::Metrics;
use crate::outcome::{ExchangeReport, Outcome, PassReason};
use crate::quota::ClientQuota;
use crate::route::RequestKind;
use background_tasks::BackgroundTasks;
use branch::Branch;
use client_model::SummaryUsage;
use error::ConversationError;
use layout::BodyLayout;
use model_windows::{ModelWindow, ModelWindows};
use pending_exchange::ManagedRequest;
use recognition::ReceivedRequest;
use registry::BranchRegistry;
use timeout_store::TimeoutStore;

pub(crate) use bound_thinking::{ThinkingSettings, add_betas};
pub(crate) use client_model::ClientEndpoint;
pub(crate) use error::TooDeep;
pub(crate) use pending_exchange::PendingExchange;

/// Bodies of this length and longer are parsed on a thread of their own.
const LARGE_BODY: usize = 1 << 20;

/// A request with a conversation in it.
pub(crate) struct ConversationRequest<'r> {
    pub wire: Wire,
    pub kind: RequestKind,
    /// The model, where the path names it.
    pub model: Option<&'r str>,
    pub headers: &'r HeaderMap,
    pub body: &'r Bytes,
    /// Where the request goes. Summaries are made there, with the same credentials.
    pub endpoint: ClientEndpoint,
    /// What its client may take up.
    pub quota: Arc<ClientQuota>,
}

/// A request that is ready to be sent.
pub(crate) struct PreparedRequest {
    /// The body, piece by piece; slices of the original wherever nothing was cut.
    pub body: Vec<Bytes>,
    /// What was done.
    pub report: ExchangeReport,
    /// Values that are added to the header for beta features.
    pub betas: Vec<&'static str>,
    /// What awaits the response; none if the request is passed through.
    pub pending: Option<PendingExchange>,
    /// It fills more than half of the usable window, so the provider may refuse it.
    pub is_tight: bool,
}

/// What a response said about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ResponseReport {
    /// The provider's token counts, if it reported them.
    pub usage: Option<Usage>,
    /// Whether the model has more to do.
    pub turn: TurnState,
    /// What the provider did to the request, if it reported that.
    pub provider: Option<ProviderReport>,
}

/// All conversations of a tenant. Tenants share nothing in memory.
pub(crate) struct Conversations {
    engine: Engine,
    profile: String,
    registry: Arc<BranchRegistry>,
    windows: Arc<ModelWindows>,
    tasks: Arc<BackgroundTasks>,
}

impl PreparedRequest {
    /// A body that is sent as it came.
    pub(crate) fn passed_through(body: Bytes, reason: PassReason) -> Self {
        let report = ExchangeReport::passed_through(reason, body.len() as u64);
        Self { body: vec![body], report, betas: Vec::new(), pending: None, is_tight: false }
    }
}

impl Conversations {
    /// Conversations that an engine manages by this profile.
    pub(crate) fn new(
        engine: Engine,
        profile: &str,
        catalogue: Catalogue,
        thinking: ThinkingSettings,
        metrics: Arc<Metrics>,
    ) -> Self {
        // The profile was checked when the settings were made.
        let assumed = engine.profile(profile).map_or(DEFAULT_WINDOW as i64, |profile| profile.window.default);
        Self {
            registry: Arc::new(BranchRegistry::new(engine.tenant().unwrap_or_default())),
            engine: engine.with_store_behind(TimeoutStore::in_front_of),
            profile: profile.to_owned(),
            windows: Arc::new(ModelWindows::new(catalogue, assumed, thinking)),
            tasks: Arc::new(BackgroundTasks::new(metrics)),
        }
    }

    /// Drops what is in memory of a session. False if it is in use.
    pub(crate) fn release(&self, session: &str) -> bool {
        self.registry.release(session)
    }

    /// Waits until everything is stored. To be called once, when the proxy stops.
    pub(crate) async fn finish(&self) {
        self.tasks.finish().await;
    }

    /// Decides what is sent in place of a request.
    pub(crate) async fn prepare(&self, request: ConversationRequest<'_>) -> Result<PreparedRequest, TooDeep> {
        let body = request.body.clone();
        match self.try_prepare(request).await {
            Ok(prepared) => Ok(prepared),
            Err(error) if error.is_too_deep() => Err(TooDeep),
            Err(error) => {
                let reason = error.pass_reason();
                if !matches!(reason, PassReason::KeptByProvider | PassReason::ManagedByProvider) {
                    tracing::warn!(reason = reason.as_str(), %error, "request passed through");
                }
                Ok(PreparedRequest::passed_through(body, reason))
            }
        }
    }

    async fn try_prepare(
        &self,
        request: ConversationRequest<'_>,
    ) -> Result<PreparedRequest, ConversationError> {
        let key = client_key(request.headers);
        let (received, found) = if request.body.len() < LARGE_BODY {
            recognition::recognise(&self.registry, request.wire, request.body, key)?
        } else {
            // It takes long, and the threads of the runtime have other requests.
            let (registry, wire) = (Arc::clone(&self.registry), request.wire);
            let (body, key) = (request.body.clone(), key.map(str::to_owned));
            request.quota.work(move || recognition::recognise(&registry, wire, &body, key.as_deref())).await?
        };
        if received.envelope.is_remote {
            return Err(ConversationError::KeptByProvider);
        }
        if received.envelope.is_managed {
            return Err(ConversationError::ManagedByProvider);
        }
        let key = key.or(received.envelope.key.as_deref()).map(str::to_owned);
        // Not every store can hold it.
        let key = key.filter(|key| !key.contains('\0'));
        if request.kind == RequestKind::Count {
            return self.replay(&received, found, key.as_deref()).await;
        }
        let model = received.envelope.model.as_deref().or(request.model).unwrap_or_default().to_owned();
        let window = ModelWindow::new(&model, request.headers);
        let target = self.windows.target(&window, &received.envelope);
        let spent = SummaryUsage::default();
        let ConversationRequest { wire, headers, quota, .. } = request;
        let client_model = request.endpoint.model(wire, &model, target.limits, headers, quota, spent.clone());
        let managed = ManagedRequest::new(received, key, target, window, client_model, spent);
        let (branch, decided) = self.decide_on_branch(found, &managed).await?;
        Ok(self.await_response(branch, managed, decided))
    }

    /// Prepares a request that asks for the length of a conversation: earlier decisions are applied, none are made.
    async fn replay(
        &self,
        received: &ReceivedRequest,
        found: Option<Arc<Branch>>,
        key: Option<&str>,
    ) -> Result<PreparedRequest, ConversationError> {
        let mut report = ExchangeReport { bytes_in: received.body.len() as u64, ..ExchangeReport::default() };
        let mut body = vec![received.body.clone()];
        if let Some(branch) = self.known_branch(received, found, key).await? {
            let state = branch.state().await;
            let chain = branch.chain();
            if received.common(&chain) == chain.len() && state.check_current().is_ok() {
                let composed = BodyLayout::of(&state.session, &chain, &[]).apply(received)?;
                report.outcome = Outcome::without_decision(composed.is_changed());
                (report.cuts, report.replaced) = (composed.cuts, composed.replaced);
                body = composed.pieces;
            }
            report.session = Some(branch.session().to_owned());
        }
        report.bytes_out = body.iter().map(|piece| piece.len() as u64).sum();
        Ok(PreparedRequest { body, report, betas: Vec::new(), pending: None, is_tight: false })
    }
}

/// What a client calls its conversation, if a header names it.
fn client_key(headers: &HeaderMap) -> Option<&str> {
    const NAMES: [&str; 4] = ["x-claude-code-session-id", "x-session-affinity", "x-session-id", "session-id"];
    NAMES.iter().find_map(|name| headers.get(*name)).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests;
