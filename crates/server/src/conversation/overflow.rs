//! Makes room for a request that the provider refused as too long.

use std::sync::Arc;

use secateur_engine::provider::ReportedOverflow;

use super::branch::Branch;
use super::decision::{Decided, MAX_TRIES};
use super::error::ConversationError;
use super::pending_exchange::{ManagedRequest, PendingExchange, RefusedRequest};
use super::{Conversations, PreparedRequest};

impl Conversations {
    /// A shorter request in place of one that the provider refused; none if nothing more can be done, so that the
    /// refusal is passed on.
    pub(crate) async fn make_room(
        &self,
        refused: PendingExchange,
        overflow: ReportedOverflow,
    ) -> Option<PreparedRequest> {
        let mut refused = refused.into_refused()?;
        match self.try_make_room(&mut refused, overflow).await {
            Ok((branch, decided)) => Some(self.await_response(branch, refused.request, decided)),
            Err(error) => {
                tracing::warn!(reason = error.pass_reason().as_str(), %error, "refusal passed on");
                None
            }
        }
    }

    async fn try_make_room(
        &self,
        refused: &mut RefusedRequest,
        overflow: ReportedOverflow,
    ) -> Result<(Arc<Branch>, Decided), ConversationError> {
        let RefusedRequest { branch, request, bytes, characters } = refused;
        let mut branch = branch.clone();
        for _ in 0..MAX_TRIES {
            match self.decide_after_refusal(&branch, request, overflow, *characters).await {
                Ok(Some(decided)) => return Ok((branch, decided)),
                Err(error) if !error.is_collision() => return Err(error),
                Ok(None) | Err(_) => {}
            }
            // Another request with the same history was faster. What it taught about the window may be enough.
            let (continued, decided) = self.decide_on_branch(Some(branch), request).await?;
            if decided.report.bytes_out < *bytes {
                return Ok((continued, decided));
            }
            branch = continued;
        }
        Err(ConversationError::Contended { session: branch.session().to_owned() })
    }

    /// Lets a branch learn from the refusal of its last request, and decide again. None if it has continued with another
    /// request meanwhile.
    async fn decide_after_refusal(
        &self,
        branch: &Arc<Branch>,
        request: &mut ManagedRequest,
        overflow: ReportedOverflow,
        characters: Option<u64>,
    ) -> Result<Option<Decided>, ConversationError> {
        let mut state = branch.state().await;
        let estimate = u64::try_from(state.session.tokens()).unwrap_or(0);
        // If the provider does not name its window, it must be smaller than what it refused.
        let is_known = !self.windows.is_assumed(&request.window);
        let known = u64::try_from(request.target.limits.context).unwrap_or(0);
        let context = overflow.limit.or_else(|| match known {
            _ if !is_known => Some(estimate / 5 * 4),
            known => overflow.used.filter(|used| *used < known),
        });
        if let Some(context) = context {
            self.windows.learn(&request.window, context);
            request.target.limits.context = i64::try_from(context).unwrap_or(i64::MAX);
        }
        let chain = branch.chain();
        if chain.len() != request.received.messages.len() || request.received.common(&chain) != chain.len() {
            return Ok(None);
        }
        state.with_request(request).refused(overflow.used, characters).await?;
        self.decide(&mut state, request).await.map(Some)
    }
}
