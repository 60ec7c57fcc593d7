//! Models that bind their thinking to everything before it: what is known about them, and what is added to requests for
//! them.
//!
//! The session decides what is cut and by whom. Here its decision becomes members of the request: the provider is asked
//! to clear results, to drop thinking, or both. What a provider refuses is learned for its model, so a wrong guess costs
//! one more request and never a failed one.

use std::collections::HashMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use parking_lot::Mutex;
use secateur::Catalogue;
use secateur::session::{BoundThinking, ProviderClearing};
use secateur_engine::{FollowedSession, Target};
use secateur_formats::Wire;
use secateur_formats::json::Edit;
use secateur_formats::thinking::{
    BINDING_BETA, CLEARING_BETA, MismatchBehaviour, ThinkingRefusal, clear_results, clear_results_too,
    drop_invalid,
};

use super::branch::Branch;
use super::decision::{Decided, MAX_TRIES};
use super::error::ConversationError;
use super::pending_exchange::{ManagedRequest, PendingExchange};
use super::recognition::ReceivedRequest;
use super::spans::Envelope;
use super::{Conversations, PreparedRequest};

/// The header that names the beta features of a request.
const BETA_HEADER: &str = "anthropic-beta";

/// The most models that are remembered. Clients may invent names.
const MAX_LEARNED: usize = 1_024;

/// What providers may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThinkingSettings {
    /// Whether they may be asked to clear results.
    pub clearing: bool,
    /// Whether they may be asked to drop thinking.
    pub dropping: bool,
}

/// What was learned about the models that requests are for.
pub(crate) struct ThinkingKnowledge {
    settings: ThinkingSettings,
    learned: Mutex<HashMap<String, LearnedBinding>>,
}

/// What refusals and responses showed about a model.
#[derive(Clone, Copy, Debug, Default)]
struct LearnedBinding {
    binds: bool,
    no_clearing: bool,
    no_dropping: bool,
}

impl ThinkingKnowledge {
    pub(crate) fn new(settings: ThinkingSettings) -> Self {
        Self { settings, learned: Mutex::default() }
    }

    /// How the model of a request binds its thinking; none if it does not.
    pub(crate) fn of(
        &self,
        catalogue: &Catalogue,
        model: &str,
        envelope: &Envelope,
    ) -> Option<BoundThinking> {
        let learned = self.learned.lock().get(model).copied().unwrap_or_default();
        let unasked =
            if learned.binds { Target::UNCONTROLLED } else { Target::thinking_of(catalogue, model)? };
        let thinking = envelope.thinking_member;
        let can_be_told = self.settings.dropping && !learned.no_dropping && thinking.is_on;
        Some(BoundThinking {
            can_clear: self.settings.clearing && !learned.no_clearing,
            can_drop: match thinking.mismatch {
                Some(own) => own == MismatchBehaviour::DropBlock,
                None => can_be_told,
            },
            is_needed: thinking.is_on,
            ..unasked
        })
    }

    /// Learns from a refusal.
    fn refused(&self, model: &str, refusal: ThinkingRefusal, was_cleared: bool) {
        self.learn(model, |learned| match refusal {
            ThinkingRefusal::Bound { .. } => {
                learned.binds = true;
                // Perhaps this provider's clearing makes thinking invalid.
                learned.no_clearing |= was_cleared;
            }
            ThinkingRefusal::NoDropping => learned.no_dropping = true,
            ThinkingRefusal::NoClearing => learned.no_clearing = true,
            ThinkingRefusal::NoControls => (learned.no_dropping, learned.no_clearing) = (true, true),
        });
    }

    /// The provider was asked to clear results, and did not say that it did.
    pub(super) fn ignored_clearing(&self, model: &str) {
        self.learn(model, |learned| learned.no_clearing = true);
    }

    fn learn(&self, model: &str, change: impl FnOnce(&mut LearnedBinding)) {
        let mut learned = self.learned.lock();
        if learned.len() >= MAX_LEARNED && !learned.contains_key(model) {
            learned.clear();
        }
        change(learned.entry(model.to_owned()).or_default());
    }
}

/// What a request asks of its provider beside what the client asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProviderControls {
    /// Edits of the body outside of its messages, in order.
    pub edits: Vec<Edit>,
    /// Values that are added to the beta header.
    pub betas: Vec<&'static str>,
    /// What it is asked to clear.
    pub clearing: Option<ProviderClearing>,
}

impl ProviderControls {
    /// What follows from the cuts of a session.
    pub(crate) fn of(
        session: &FollowedSession,
        received: &ReceivedRequest,
        thinking: Option<BoundThinking>,
    ) -> Self {
        let mut controls = Self::default();
        let Some(thinking) = thinking.filter(|_| received.wire == Wire::Anthropic) else { return controls };
        let envelope = &received.envelope;
        let member = |range: &std::ops::Range<usize>| {
            let bytes = received.body.get(range.clone()).unwrap_or_default();
            std::str::from_utf8(bytes).unwrap_or_default()
        };
        if let Some(clearing) = session.provider_clearing().filter(|_| thinking.can_clear) {
            let edit = match &envelope.context_management {
                Some(range) => {
                    clear_results_too(member(range), &clearing).map(|edit| moved(edit, range.start))
                }
                None => {
                    let start = received.body.iter().position(|&byte| byte == b'{').unwrap_or(0) + 1;
                    Some(Edit { range: start..start, text: clear_results(&clearing) + "," })
                }
            };
            if let Some(edit) = edit {
                controls.edits.push(edit);
                controls.betas.push(CLEARING_BETA);
                controls.clearing = Some(clearing);
            }
        }
        let drops = thinking.can_drop && session.live_messages().has_invalid_thinking();
        if let Some(range) = envelope.thinking.as_ref().filter(|_| drops)
            && envelope.thinking_member.mismatch.is_none()
        {
            controls.edits.push(moved(drop_invalid(member(range)), range.start));
            controls.betas.push(BINDING_BETA);
        }
        controls.edits.sort_by_key(|edit| edit.range.start);
        controls
    }

    /// Whether anything is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

fn moved(edit: Edit, by: usize) -> Edit {
    Edit { range: edit.range.start + by..edit.range.end + by, ..edit }
}

/// Adds values to the beta header, behind those of the client.
pub(crate) fn add_betas(headers: &mut HeaderMap, betas: &[&'static str]) {
    let has = |headers: &HeaderMap, beta: &str| {
        let values = headers.get_all(BETA_HEADER).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|value| value.trim() == beta)
    };
    for beta in betas.iter().filter(|beta| !beta.is_empty()) {
        if !has(headers, beta) {
            headers.append(BETA_HEADER, HeaderValue::from_static(beta));
        }
    }
}

impl Conversations {
    /// Another request in place of one that the provider refused because of thinking, or because of what was added for
    /// its sake. If no decision helps, that is the client's own request, in which its thinking is valid; none if that was
    /// refused already, so that the refusal is passed on.
    pub(crate) async fn adapt_thinking(
        &self,
        refused: PendingExchange,
        refusal: ThinkingRefusal,
    ) -> Option<PreparedRequest> {
        let controls = refused.controls().clone();
        let mut refused = refused.into_refused()?;
        let request = &mut refused.request;
        let is_own = request.received.envelope.thinking_member.mismatch.is_some();
        let is_bound = matches!(refusal, ThinkingRefusal::Bound { .. });
        if is_bound && is_own || !is_bound && controls.is_empty() {
            return None;
        }
        self.windows.thinking.refused(&request.target.model, refusal, controls.clearing.is_some());
        request.target.thinking = self.windows.thinking(&request.target.model, &request.received.envelope);
        let mut branch = refused.branch;
        let mut failed = None;
        for _ in 0..MAX_TRIES {
            match self.decide_without(&branch, request, refusal).await {
                Ok(Some(decided)) => return Some(self.await_response(branch, refused.request, decided)),
                Ok(None) => match self.decide_on_branch(Some(branch.clone()), request).await {
                    Ok((continued, _)) => branch = continued,
                    Err(error) => failed = Some(error),
                },
                Err(error) if error.is_collision() => {}
                Err(error) => failed = Some(error),
            }
            if failed.is_some() {
                break;
            }
        }
        let session = branch.session().to_owned();
        let error = failed.unwrap_or(ConversationError::Contended { session });
        let (reason, body) = (error.pass_reason(), request.received.body.clone());
        let was_changed = refused.bytes != body.len() as u64 || !controls.is_empty();
        tracing::warn!(reason = reason.as_str(), %error, was_changed, "request refused for its thinking");
        was_changed.then(|| PreparedRequest::passed_through(body, reason))
    }

    /// Decides again after a refusal. None if the branch has continued with another request meanwhile.
    async fn decide_without(
        &self,
        branch: &Arc<Branch>,
        request: &ManagedRequest,
        refusal: ThinkingRefusal,
    ) -> Result<Option<Decided>, ConversationError> {
        let mut state = branch.state().await;
        state.catch_up(&request.received).await?;
        let chain = branch.chain();
        if chain.len() != request.received.messages.len() || request.received.common(&chain) != chain.len() {
            return Ok(None);
        }
        if request.target.thinking.is_some_and(|thinking| thinking.is_needed && !thinking.can_drop) {
            state.session.undo_dropping().await?;
        }
        if let (ThinkingRefusal::Bound { message }, Some(thinking)) = (refusal, request.target.thinking) {
            let from = message.and_then(|at| state.session.shown_messages().nth(at)).map(|shown| shown.seq);
            if !state.session.drop_thinking(from, thinking).await?
                && state.session.provider_clearing().is_none()
            {
                let session = branch.session().to_owned();
                return Err(ConversationError::BoundThinking { session });
            }
        }
        self.decide(&mut state, request).await.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn betas_are_added_once_and_behind_the_clients() {
        let mut headers = HeaderMap::new();
        headers.insert(BETA_HEADER, HeaderValue::from_static("own-1, context-management-2025-06-27"));
        add_betas(&mut headers, &[CLEARING_BETA, BINDING_BETA]);
        add_betas(&mut headers, &[BINDING_BETA]);
        let values: Vec<_> = headers.get_all(BETA_HEADER).iter().collect();
        assert_eq!(values, ["own-1, context-management-2025-06-27", BINDING_BETA]);
    }

    #[test]
    fn what_a_provider_refuses_is_not_asked_again() {
        let settings = ThinkingSettings { clearing: true, dropping: true };
        let (knowledge, catalogue) = (ThinkingKnowledge::new(settings), Catalogue::builtin());
        let mut envelope = Envelope::default();
        envelope.thinking_member.is_on = true;
        let of = |model: &str, envelope: &Envelope| {
            knowledge.of(&catalogue, model, envelope).map(|thinking| (thinking.can_clear, thinking.can_drop))
        };
        assert_eq!(of("claude-opus-5-5", &envelope), Some((true, true)));
        assert_eq!(of("claude-opus-4-1", &envelope), None);
        knowledge.refused("claude-opus-5-5", ThinkingRefusal::NoClearing, true);
        assert_eq!(of("claude-opus-5-5", &envelope), Some((false, true)));
        knowledge.refused("claude-opus-5-5", ThinkingRefusal::NoDropping, false);
        assert_eq!(of("claude-opus-5-5", &envelope), Some((false, false)));
        // A model that the catalogue does not know to bind.
        knowledge.refused("house-model", ThinkingRefusal::Bound { message: Some(1) }, false);
        assert_eq!(of("house-model", &envelope), Some((true, true)));
        // What the client wants stands.
        envelope.thinking_member.mismatch = Some(MismatchBehaviour::Error);
        assert_eq!(of("house-model", &envelope), Some((true, false)));
        for number in 0..5_000 {
            knowledge.ignored_clearing(&format!("model {number}"));
        }
        assert!(knowledge.learned.lock().len() <= MAX_LEARNED);
    }
}
