//! Finds the branch that a request continues: in memory, in the store, or a new one.

use std::sync::Arc;

use secateur_engine::SessionOptions;

use super::Conversations;
use super::branch::Branch;
use super::chain::{ChainId, ChainLink};
use super::error::ConversationError;
use super::lookup;
use super::recognition::ReceivedRequest;
use super::spans::UnreadableBody;

impl Conversations {
    /// The branch that a request continues, or a new one.
    pub(super) async fn branch_for(
        &self,
        received: &ReceivedRequest,
        found: Option<Arc<Branch>>,
        key: Option<&str>,
    ) -> Result<Arc<Branch>, ConversationError> {
        if let Some(branch) = self.known_branch(received, found, key).await? {
            return Ok(branch);
        }
        self.begin_branch(received, key)
    }

    /// A new branch in place of one that cannot be used: the store is away, or what it has is damaged. The client sends
    /// everything that the new one needs.
    pub(super) fn begin_branch_after(
        &self,
        error: &ConversationError,
        received: &ReceivedRequest,
        key: Option<&str>,
    ) -> Result<Arc<Branch>, ConversationError> {
        tracing::warn!(reason = error.pass_reason().as_str(), %error, "the conversation continues in a new session");
        self.begin_branch(received, key)
    }

    fn begin_branch(
        &self,
        received: &ReceivedRequest,
        key: Option<&str>,
    ) -> Result<Arc<Branch>, ConversationError> {
        let options = SessionOptions {
            wire: received.wire,
            profile: Some(self.profile.clone()),
            title: key.map(str::to_owned),
            ..SessionOptions::default()
        };
        let session = self.engine.follow_new(options)?;
        let key = key.map(str::to_owned);
        let branch = Branch::new(root(received)?, session, key, Vec::new(), self.tasks.clone());
        Ok(self.registry.add(Arc::new(branch)))
    }

    /// The branch that a request continues, if there is one: the one that was found in memory, or one in the store.
    pub(super) async fn known_branch(
        &self,
        received: &ReceivedRequest,
        found: Option<Arc<Branch>>,
        key: Option<&str>,
    ) -> Result<Option<Arc<Branch>>, ConversationError> {
        let root = root(received)?;
        let shared = found.as_ref().map_or(0, |branch| received.common(&branch.chain()));
        if let Some(branch) = found.filter(|_| shared > 0) {
            // Another process may have taken in these messages. Then both must continue the same session. If the store
            // does not answer, the branch in memory is good enough.
            let known = shared.min(received.messages.len() - 1);
            let stored = self.stored_branch(root, received, known, key).await.unwrap_or_default();
            // A branch that ends here is not left for one that continues differently.
            let ends = |branch: &Branch| branch.chain().len() == received.messages.len();
            let stored = stored.filter(|stored| ends(stored) || !ends(&branch));
            return Ok(Some(stored.unwrap_or(branch)));
        }
        if received.messages.len() > 2 {
            return self.stored_branch(root, received, 0, key).await;
        }
        Ok(None)
    }

    /// The branch of a stored session that shares more than the first `shared` messages with a request.
    async fn stored_branch(
        &self,
        root: ChainId,
        received: &ReceivedRequest,
        shared: usize,
        key: Option<&str>,
    ) -> Result<Option<Arc<Branch>>, ConversationError> {
        let ids: Vec<ChainId> = received.messages.iter().skip(shared).map(|message| message.id).collect();
        let Some((place, found)) = lookup::find(&self.engine, &ids).await? else { return Ok(None) };
        let place = shared + place;
        if let Some(branch) = self.registry.of_session(root, &found.session) {
            return Ok(Some(branch));
        }
        let session = self.engine.follow(&found.session).await?;
        if session.wire() != received.wire {
            return Ok(None);
        }
        let known = received.messages.get(..=place).unwrap_or_default();
        let mut chain: Vec<ChainLink> =
            known.iter().map(|message| ChainLink::new(message.id, 0, message.fingerprint)).collect();
        lookup::number(&mut chain, &session).await?;
        let branch = Branch::new(root, session, key.map(str::to_owned), chain, self.tasks.clone());
        Ok(Some(self.registry.add(Arc::new(branch))))
    }
}

/// The first message of a request, which all branches of its conversation share.
fn root(received: &ReceivedRequest) -> Result<ChainId, ConversationError> {
    let root = received.messages.first().map(|message| message.id);
    root.ok_or(ConversationError::Unreadable(UnreadableBody::NoMessages))
}
