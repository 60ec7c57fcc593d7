//! A conversation that waits to hear how its request went.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use secateur_engine::provider::ReportedOverflow;
use secateur_engine::{EngineError, Target};

use super::branch::{Answered, Branch, Lent};
use super::cache_miss::Prompt;
use super::decision::{Fitted, TRIES};
use super::error::Hindrance;
use super::model_windows::Window;
use super::recognition::Received;
use super::{Conversations, Note, Ready, Report};

/// What is asked for: a request, of this model.
pub(crate) struct Ask {
    pub received: Arc<Received>,
    /// What the client calls the conversation.
    pub key: Option<String>,
    pub target: Target,
    pub window: Window,
    /// Who may be asked for a summary on the client's account.
    pub lent: Lent,
    pub hold: Hold,
}

/// The hold of a request on the branch that has taken it in. Messages that are not stored yet are slices of its body;
/// whatever becomes of the request, they must not be all that is left of it, and hold the whole.
#[derive(Default)]
pub(crate) struct Hold(Mutex<Weak<Branch>>);

impl Hold {
    /// The request is taken in by a branch.
    pub(super) fn on(&self, branch: &Arc<Branch>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(branch);
    }

    /// The provider accepted the request, so it will be stored soon.
    fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Weak::new();
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let branch = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(branch) = branch.upgrade() {
            branch.let_go();
        }
    }
}

/// A conversation that waits to hear how its request went.
pub(crate) struct Talk {
    conversations: Conversations,
    pub(super) branch: Arc<Branch>,
    lent: Lent,
    prompt: Prompt,
    window: Window,
    /// Bytes that were sent.
    bytes: u64,
    /// The same in characters, as the session counts them.
    sent: Option<u64>,
    /// None as soon as the request is accepted: it may be large, and the answer may take minutes.
    ask: Option<Ask>,
}

impl Talk {
    pub(super) fn new(
        conversations: Conversations,
        branch: Arc<Branch>,
        ask: Ask,
        sent: Option<u64>,
        note: &Note,
    ) -> Self {
        let prompt = Prompt::new(&ask.received, &ask.target.model, note.did);
        let (lent, window, bytes) = (ask.lent.clone(), ask.window.clone(), note.bytes_out);
        Self { conversations, branch, lent, prompt, window, bytes, sent, ask: Some(ask) }
    }

    /// The provider refused the request as too long: what is to be sent instead; none if nothing can be done, and then
    /// the refusal is passed on.
    pub(crate) async fn overflowed(mut self, said: ReportedOverflow) -> Option<Ready> {
        let mut ask = self.ask.take()?;
        let conversations = self.conversations.clone();
        match conversations.make_room(self.branch, &mut ask, said, (self.bytes, self.sent)).await {
            Ok((branch, fitted)) => Some(conversations.ready(&branch, ask, fitted)),
            Err(hindrance) => {
                tracing::warn!(cause = hindrance.cause(), why = %hindrance, "a refusal is passed on");
                None
            }
        }
    }

    /// The provider accepted the request: its body is not needed any more.
    pub(crate) fn accepted(&mut self) {
        if let Some(ask) = self.ask.take() {
            ask.hold.release();
        }
        self.branch.accepted();
    }

    /// The model answered. Does not wait for anything: what follows is done apart. Says why most of the prompt was not in
    /// the provider's cache, if so.
    pub(crate) fn answered(self, report: Report) -> Option<&'static str> {
        if let Some(usage) = report.usage {
            self.conversations.inside.windows.took(&self.window, usage.context());
        }
        let missed = report.usage.and_then(|usage| self.branch.prompted(self.prompt.counted(usage)));
        self.branch.report(Answered { report, sent: self.sent, lent: self.lent });
        self.branch.keep_soon();
        missed
    }
}

impl Conversations {
    /// Makes room for a request that the provider refused when it had so many bytes and characters.
    async fn make_room(
        &self,
        branch: Arc<Branch>,
        ask: &mut Ask,
        said: ReportedOverflow,
        (bytes, sent): (u64, Option<u64>),
    ) -> Result<(Arc<Branch>, Fitted), Hindrance> {
        let mut branch = branch;
        for _ in 0..TRIES {
            match self.refuse(&branch, ask, said, sent).await {
                Ok(Some(fitted)) => return Ok((branch, fitted)),
                Err(hindrance) if !hindrance.is_collision() => return Err(hindrance),
                Ok(None) | Err(_) => {}
            }
            // Another request with the same history was faster. What was learned about the window may do for this one.
            let (own, fitted) = self.inside.go_on(Some(branch), ask).await?;
            if fitted.composed.len() < bytes {
                return Ok((own, fitted));
            }
            branch = own;
        }
        Err(EngineError::Busy { session: branch.session().to_owned() }.into())
    }

    /// Tells a branch that the provider refused its last request, and what can be sent instead; none if it went on with
    /// another one meanwhile.
    async fn refuse(
        &self,
        branch: &Arc<Branch>,
        ask: &mut Ask,
        said: ReportedOverflow,
        sent: Option<u64>,
    ) -> Result<Option<Fitted>, Hindrance> {
        let mut work = branch.work().await;
        let estimate = u64::try_from(work.session.tokens()).unwrap_or(0);
        // Somebody who refuses without saying what he takes, takes less than that.
        let known = u64::try_from(ask.target.limits.context).unwrap_or(0);
        let context = said.limit.or_else(|| match known {
            0 => Some(estimate / 5 * 4),
            known => said.used.filter(|used| *used < known),
        });
        if let Some(context) = context {
            self.inside.windows.learn(&ask.window, context);
            ask.target.limits.context = i64::try_from(context).unwrap_or(i64::MAX);
        }
        if received_changed(&ask.received, branch) {
            return Ok(None);
        }
        work.borrowing(ask.lent.clone()).refuse(said.used, sent).await?;
        self.inside.decide(&mut work, branch, ask).await.map(Some)
    }
}

/// Whether a branch went on without this request.
fn received_changed(received: &Received, branch: &Branch) -> bool {
    let chain = branch.chain();
    chain.len() != received.elements.len() || received.common(&chain) != chain.len()
}
