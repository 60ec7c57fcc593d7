//! A conversation that waits to hear how its request went.

use std::sync::Arc;

use secateur_engine::provider::Overflow;
use secateur_engine::{EngineError, Target};

use super::branch::{Branch, Lent};
use super::cache::Prompt;
use super::decision::Fitted;
use super::hindrance::Hindrance;
use super::matching::Received;
use super::{Conversations, Ready, Report};

/// What is asked for: a request, of this model.
pub(crate) struct Ask {
    pub received: Arc<Received>,
    pub target: Target,
    /// Who may be asked for a summary on the client's account.
    pub lent: Lent,
}

/// A conversation that waits to hear how its request went.
pub(crate) struct Talk {
    conversations: Conversations,
    pub(super) branch: Arc<Branch>,
    lent: Lent,
    prompt: Prompt,
    /// None as soon as the request is accepted: it may be large, and the answer may take minutes.
    ask: Option<Ask>,
}

impl Talk {
    pub(super) fn new(
        conversations: Conversations,
        branch: Arc<Branch>,
        ask: Ask,
        did: &'static str,
    ) -> Self {
        let prompt = Prompt::new(&ask.received, &ask.target.model, did);
        Self { conversations, branch, lent: ask.lent.clone(), prompt, ask: Some(ask) }
    }

    /// The provider refused the request as too long: what is to be sent instead; none if nothing can be done, and then
    /// the refusal is passed on.
    pub(crate) async fn overflowed(mut self, said: Overflow) -> Option<Ready> {
        let mut ask = self.ask.take()?;
        let conversations = self.conversations.clone();
        match conversations.make_room(&self.branch, &mut ask, said).await {
            Ok(fitted) => Some(conversations.ready(&self.branch, ask, fitted)),
            Err(hindrance) => {
                tracing::warn!(cause = hindrance.cause(), why = %hindrance, "a refusal is passed on");
                None
            }
        }
    }

    /// The provider accepted the request: its body is not needed any more.
    pub(crate) fn accepted(&mut self) {
        self.ask = None;
        self.branch.accepted();
    }

    /// The model answered. Does not wait for anything: what follows is done apart. Says why most of the prompt was not in
    /// the provider's cache, if so.
    pub(crate) fn answered(self, report: Report) -> Option<&'static str> {
        let missed = report.usage.and_then(|usage| self.branch.prompted(self.prompt.counted(usage)));
        self.branch.report(report, self.lent);
        self.branch.keep_soon();
        missed
    }
}

impl Conversations {
    /// Makes room for a request that the provider refused.
    async fn make_room(
        &self,
        branch: &Arc<Branch>,
        ask: &mut Ask,
        said: Overflow,
    ) -> Result<Fitted, Hindrance> {
        let mut work = branch.work().await;
        if received_changed(&ask.received, branch) {
            return Err(Hindrance::Engine(EngineError::Busy { session: branch.session().to_owned() }));
        }
        let estimate = u64::try_from(work.session.machine().tokens()).unwrap_or(0);
        // Somebody who refuses without saying what he takes, takes less than that.
        let known = u64::try_from(ask.target.limits.context).unwrap_or(0);
        let context = said.limit.or_else(|| match known {
            0 => Some(estimate / 5 * 4),
            known => said.used.filter(|used| *used < known),
        });
        if let Some(context) = context {
            self.inside.windows.learn(&ask.target.model, context);
            ask.target.limits.context = i64::try_from(context).unwrap_or(i64::MAX);
        }
        work.session.lend(ask.lent.clone());
        work.refuse(said.used).await?;
        self.inside.decide(&mut work, branch, ask).await
    }
}

/// Whether a branch went on without this request.
fn received_changed(received: &Received, branch: &Branch) -> bool {
    let chain = branch.chain();
    chain.len() != received.elements.len() || received.common(&chain) != chain.len()
}
