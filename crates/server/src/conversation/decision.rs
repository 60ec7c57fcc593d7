//! Decides what is sent: takes the request into its branch, lets the session prune or compact, and lays out the body.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use secateur::ModelInfo;
use secateur_engine::EngineError;
use tokio::time::sleep;

use super::bound_thinking::ProviderControls;
use super::branch::Branch;
use super::branch_state::BranchState;
use super::error::ConversationError;
use super::layout::{BodyLayout, ComposedBody};
use super::pending_exchange::{ManagedRequest, PendingExchange};
use super::recognition::ReceivedRequest;
use super::{Conversations, PreparedRequest};
use crate::outcome::{ExchangeReport, Outcome, PassReason};

/// How often a decision is tried again because another request changed the session.
pub(super) const MAX_TRIES: u32 = 24;

/// The longest pause between two tries.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// What was decided about a request.
pub(crate) struct Decided {
    /// The body, piece by piece.
    pub body: Vec<Bytes>,
    pub report: ExchangeReport,
    /// What the provider is asked for.
    pub controls: ProviderControls,
    pub is_tight: bool,
    /// The characters of the request as the session counted them, if it decided. Usage of the response is about those.
    pub characters: Option<u64>,
}

impl Conversations {
    /// Makes a request fit, on the branch that it continues.
    pub(super) async fn decide_on_branch(
        &self,
        found: Option<Arc<Branch>>,
        request: &ManagedRequest,
    ) -> Result<(Arc<Branch>, Decided), ConversationError> {
        let (received, key) = (&request.received, request.key.as_deref());
        let mut found = found;
        // What is tried without asking the store: the branch in memory, if the store names another, then a new one.
        let (mut in_memory, mut is_new) = (found.clone(), false);
        let mut fallback: Option<Arc<Branch>> = None;
        for attempt in 0..MAX_TRIES {
            let branch = match fallback.clone() {
                Some(branch) => branch,
                None => match self.branch_for(received, found.clone(), key).await {
                    // What is found again and again is of a session that is being deleted.
                    Err(error) if error.leaves_branch() || (error.is_session_lost() && attempt > 1) => {
                        is_new = true;
                        fallback.insert(self.begin_branch_after(&error, received, key)?).clone()
                    }
                    // It was deleted after it was found.
                    Err(error) if error.is_session_lost() => continue,
                    branch => branch?,
                },
            };
            match self.fit(branch.clone(), request).await {
                Ok(decided) => return Ok(decided),
                Err(error) if error.is_collision() => {
                    tracing::debug!(session = branch.session(), "another request changed the session first");
                    if let Some(doublings) = attempt.checked_sub(2) {
                        sleep(MAX_PAUSE.min(Duration::from_millis(1 << doublings.min(10)))).await;
                    }
                }
                Err(error) if error.is_session_lost() => {
                    tracing::warn!(session = branch.session(), "the store has lost the session");
                    self.registry.remove(&branch);
                    found = None;
                }
                Err(error @ ConversationError::Lint { .. }) => return Err(error),
                Err(error) => {
                    // The branch in memory may be half changed; the store has the truth.
                    self.registry.remove(&branch);
                    if is_new || !error.leaves_branch() {
                        return Err(error);
                    }
                    let is_usable = |other: &Arc<Branch>| {
                        !Arc::ptr_eq(other, &branch) && received.common(&other.chain()) > 0
                    };
                    let other = in_memory.take().filter(is_usable);
                    is_new = other.is_none();
                    fallback = Some(match other {
                        Some(other) => other,
                        None => self.begin_branch_after(&error, received, key)?,
                    });
                }
            }
        }
        let session = found.map(|branch| branch.session().to_owned()).unwrap_or_default();
        Err(ConversationError::Contended { session })
    }

    /// Makes a request fit on a branch, or on a fork of it if the request leaves it on the way.
    async fn fit(
        &self,
        branch: Arc<Branch>,
        request: &ManagedRequest,
    ) -> Result<(Arc<Branch>, Decided), ConversationError> {
        let received = &request.received;
        let mut branch = branch;
        loop {
            let mut state = branch.state().await;
            state.catch_up(received).await?;
            let shared = received.common(&branch.chain());
            if !state.rewind(shared).await? {
                let (session, chain) = state.fork(shared).await?;
                let fork = self.registry.add(Arc::new(branch.fork(session, chain)));
                drop(state);
                branch = fork;
                continue;
            }
            state.show_last(received).await?;
            request.hold.on(&branch);
            if state.take_in(received, shared).await? {
                branch.store_when_accepted();
            }
            let decided = self.decide(&mut state, request).await?;
            for dropped in branch.note_provisional(&mut state) {
                self.registry.remove(&dropped);
            }
            drop(state);
            return Ok((branch, decided));
        }
    }

    /// Lets the session decide, and lays out the body.
    pub(super) async fn decide(
        &self,
        state: &mut BranchState,
        request: &ManagedRequest,
    ) -> Result<Decided, ConversationError> {
        let received = &request.received;
        let mut state = state.with_request(request);
        let state: &mut BranchState = &mut state;
        let chain = state.chain();
        let (mut once, mut events, mut reason, mut is_tight) = (Vec::new(), Vec::new(), None, false);
        let mut characters = None;
        if received.asks_for_summary() && state.has_room(&request.target) {
            // The client writes a summary of its own, so it should see everything.
            reason = Some(PassReason::ClientCompacts);
        } else if state.is_resigned {
            reason = Some(PassReason::Lint);
        } else {
            match state.session.fit(&request.target, received.envelope.bytes).await {
                Ok(fit) => {
                    is_tight = fit.usable.is_some_and(|usable| fit.tokens > usable / 2);
                    (once, events) = (fit.once, fit.events);
                }
                Err(EngineError::NoRoom(_)) => {
                    // Sent all the same: the provider may count differently.
                    (events, reason, is_tight) =
                        (state.session.take_events(), Some(PassReason::NoRoom), true);
                }
                Err(error) => return Err(error.into()),
            }
            characters = state.session.sent_chars();
        }
        // The session may have taken in messages of other clients meanwhile, which this request does not have.
        state.check_current()?;
        state.layout.update(&state.session, &chain);
        let mut composed = if once.is_empty() {
            state.layout.apply(received)?
        } else {
            BodyLayout::of(&state.session, &chain, &once).apply(received)?
        };
        let controls = ProviderControls::of(&state.session, received, request.target.thinking);
        composed.edit(&received.body, &controls.edits);
        composed.cuts += controls.clearing.as_ref().map_or(0, |clearing| clearing.results);
        let (outcome, events) = state.take_events(events);
        let outcome = match outcome {
            Some(outcome) => {
                state.check_acceptable(received, &composed).await?;
                outcome
            }
            None => Outcome::without_decision(composed.is_changed()),
        };
        let reason = reason.or(state.session.is_store_away().then_some(PassReason::Store));
        let provisional = state.session.provisional().0;
        let report = ExchangeReport { outcome, reason, events, provisional, ..ExchangeReport::default() };
        Ok(Decided { controls, ..Decided::new(composed, received, report, is_tight, characters) })
    }

    /// Completes a decision with what awaits the response.
    pub(super) fn await_response(
        &self,
        branch: Arc<Branch>,
        request: ManagedRequest,
        decided: Decided,
    ) -> PreparedRequest {
        let Decided { body, mut report, controls, is_tight, characters } = decided;
        report.session = Some(branch.session().to_owned());
        report.model.clone_from(&request.target.model);
        report.window = request.target.limits.context;
        report.is_window_assumed = self.windows.is_assumed(&request.window);
        if report.is_window_assumed {
            self.windows.log_assumption(&report.model, report.window);
        }
        report.prices = request.target.known.as_ref().and_then(ModelInfo::prices);
        let windows = self.windows.clone();
        let betas = controls.betas.clone();
        let pending = PendingExchange::new(windows, branch, request, characters, controls, &report);
        PreparedRequest { body, report, betas, pending: Some(pending), is_tight }
    }
}

impl Decided {
    fn new(
        composed: ComposedBody,
        received: &ReceivedRequest,
        report: ExchangeReport,
        is_tight: bool,
        characters: Option<u64>,
    ) -> Self {
        let report = ExchangeReport {
            bytes_in: received.body.len() as u64,
            bytes_out: composed.len(),
            cuts: composed.cuts,
            replaced: composed.replaced,
            altered: composed.altered,
            ..report
        };
        let controls = ProviderControls::default();
        Self { body: composed.pieces, report, controls, is_tight, characters }
    }
}
