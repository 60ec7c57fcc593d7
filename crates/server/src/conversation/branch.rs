//! One branch of a conversation: the chain of its messages, and the session that decides about them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use secateur::Usage;
use secateur_engine::FollowedSession;
use secateur_engine::provider::LanguageModel;

use super::ResponseReport;
use super::background_tasks::BackgroundTasks;
use super::branch_state::BranchState;
use super::chain::{ChainId, ChainLink, SharedChain};
use super::client_model::SummaryUsage;
use super::prompt_record::{AnsweredPrompt, PromptRecord};
use crate::outcome::PromptEffect;

/// How long messages and what was learned may be in memory only. No agent continues faster.
const STORE_DELAY: Duration = Duration::from_millis(10);

/// How long a response may take until its request is stored without it. Until then all of the request is in memory.
const RESPONSE_DELAY: Duration = Duration::from_secs(1);

/// How long to wait before the store is asked again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Counts uses, to find the least recently used branch.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// One branch of a conversation.
pub(crate) struct Branch {
    root: ChainId,
    session: String,
    key: Option<String>,
    used: AtomicU64,
    /// The chain, outside of the state, so that requests are recognised while the branch is busy.
    chain: Arc<SharedChain>,
    /// Responses that ended and are not settled yet, oldest first.
    unsettled: Mutex<Vec<UnsettledResponse>>,
    state: tokio::sync::Mutex<BranchState>,
    is_storing_soon: AtomicBool,
    /// The last prompt with usage.
    prompt: Mutex<Option<AnsweredPrompt>>,
    /// What summaries cost that may still be made.
    spending: Mutex<Vec<SummaryUsage>>,
    /// Long messages wait to be stored.
    has_long_messages: AtomicBool,
    /// A response is being sent.
    is_awaiting_response: AtomicBool,
    /// The store is asked again and again to take what was decided without it.
    is_retrying: AtomicBool,
    tasks: Arc<BackgroundTasks>,
}

/// A response that ended and is not settled yet.
pub(crate) struct UnsettledResponse {
    pub report: ResponseReport,
    /// The characters of its request, as the session counted them. There may have been other requests since.
    pub characters: Option<u64>,
    /// Writes the summary, if one is made because of it.
    pub client_model: Arc<dyn LanguageModel>,
}

impl Branch {
    /// A branch of a session, with what is known of its chain.
    pub(crate) fn new(
        root: ChainId,
        session: FollowedSession,
        key: Option<String>,
        chain: Vec<ChainLink>,
        tasks: Arc<BackgroundTasks>,
    ) -> Self {
        let chain = Arc::new(SharedChain::new(chain));
        Self {
            root,
            session: session.id().to_owned(),
            key,
            used: AtomicU64::new(CLOCK.fetch_add(1, Ordering::Relaxed)),
            chain: chain.clone(),
            unsettled: Mutex::default(),
            state: tokio::sync::Mutex::new(BranchState::new(session, chain)),
            is_storing_soon: AtomicBool::new(false),
            prompt: Mutex::default(),
            spending: Mutex::default(),
            has_long_messages: AtomicBool::new(false),
            is_awaiting_response: AtomicBool::new(false),
            is_retrying: AtomicBool::new(false),
            tasks,
        }
    }

    /// A branch of the same conversation, with a session that was forked from this one's.
    pub(crate) fn fork(&self, session: FollowedSession, chain: Vec<ChainLink>) -> Self {
        Self::new(self.root, session, self.key.clone(), chain, self.tasks.clone())
    }

    pub(crate) fn root(&self) -> ChainId {
        self.root
    }

    /// The id of its session.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// What the client calls the conversation.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// When it was last used, on a clock that counts uses.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether no request uses it and nothing waits to be stored.
    pub(crate) fn is_at_rest(&self) -> bool {
        let is_stored = self.state.try_lock().is_ok_and(|state| state.session.provisional().0 == 0);
        is_stored && self.unsettled.lock().is_empty()
    }

    /// The chain of its messages.
    pub(crate) fn chain(&self) -> Arc<Vec<ChainLink>> {
        self.chain.get()
    }

    /// Waits for exclusive use, then settles the responses that ended. If one cannot be settled, nothing is learned from
    /// it.
    pub(crate) async fn state(&self) -> tokio::sync::MutexGuard<'_, BranchState> {
        self.used.store(CLOCK.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut state = self.state.lock().await;
        loop {
            let next = {
                let mut unsettled = self.unsettled.lock();
                if unsettled.is_empty() { None } else { Some(unsettled.remove(0)) }
            };
            let Some(UnsettledResponse { report, characters, client_model }) = next else { return state };
            if let Err(error) = state.with_client_model(client_model).settle(report, characters).await {
                tracing::warn!(session = self.session, %error, "response not settled");
            }
        }
    }

    /// Long messages were taken in. They are stored once the provider accepts the request.
    pub(crate) fn store_when_accepted(&self) {
        self.has_long_messages.store(true, Ordering::Relaxed);
    }

    /// The provider accepted the last request. Long messages are stored at once, others if the response takes long.
    pub(crate) fn accepted(self: &Arc<Self>) {
        if self.has_long_messages.swap(false, Ordering::Relaxed) {
            return Arc::clone(self).store_soon();
        }
        self.is_awaiting_response.store(true, Ordering::Relaxed);
        let branch = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(RESPONSE_DELAY).await;
            let branch = branch.upgrade();
            if let Some(branch) = branch.filter(|it| it.is_awaiting_response.load(Ordering::Relaxed)) {
                branch.store_soon();
            }
        });
    }

    /// A response ended. The next use of the branch settles it.
    pub(crate) fn responded(&self, response: UnsettledResponse) {
        self.is_awaiting_response.store(false, Ordering::Relaxed);
        self.unsettled.lock().push(response);
    }

    /// Watches what summaries of a request cost: one in the background may end after the request.
    pub(super) fn watch_spending(&self, spent: SummaryUsage) {
        self.spending.lock().push(spent);
    }

    /// Remembers a prompt that was answered, after the provider has dropped `dropped` blocks of thinking from it. Returns
    /// what became of it.
    pub(crate) fn prompted(&self, prompt: PromptRecord, usage: Usage, dropped: u64) -> PromptEffect {
        let mut last = self.prompt.lock();
        let (answered, effect) = prompt.answered(usage, dropped, last.as_ref());
        *last = Some(answered);
        let mut summaries = Vec::new();
        self.spending.lock().retain(|spent| match spent.take() {
            Some(usage) => {
                summaries.push(usage);
                true
            }
            None => false,
        });
        PromptEffect { summaries, ..effect }
    }

    /// Stores messages and what was learned, in a moment and in the background: the client sends it all again anyway.
    /// Requests in quick succession are stored together.
    pub(crate) fn store_soon(self: Arc<Self>) {
        if self.is_storing_soon.swap(true, Ordering::Relaxed) {
            return;
        }
        let storing = self.tasks.begin();
        tokio::spawn(async move {
            tokio::time::sleep(STORE_DELAY).await;
            self.is_storing_soon.store(false, Ordering::Relaxed);
            let mut state = self.state().await;
            if let Err(error) = state.store().await {
                tracing::warn!(session = self.session, %error, "messages not stored");
            } else if let Err(error) = state.session.note_use().await {
                tracing::debug!(session = self.session, %error, "use not noted");
            }
            self.note_provisional(&mut state);
            let summary_end = state.session.background_end();
            drop((state, storing));
            if let Some(end) = summary_end {
                end.await;
                let _storing = self.tasks.begin();
                self.apply_summary().await;
            }
        });
    }

    /// Notes which decisions are not stored, and tries again until they are. Returns the branches that have to go for
    /// that.
    pub(crate) fn note_provisional(self: &Arc<Self>, state: &mut BranchState) -> Vec<Arc<Self>> {
        let dropped = self.tasks.provisional.note(self, &mut state.session);
        if state.session.provisional().0 > 0 && !self.is_retrying.swap(true, Ordering::Relaxed) {
            tokio::spawn(retry_storing(Arc::downgrade(self)));
        }
        dropped
    }

    /// Applies a summary that was made in the background, as the next request may come to another process.
    async fn apply_summary(&self) {
        let mut state = self.state().await;
        if let Err(error) = state.session.refresh().await {
            tracing::warn!(session = self.session, %error, "summary not stored");
        }
        let events = state.session.take_events();
        self.tasks.count_events(&events);
        state.add_counted_events(events);
    }

    /// A request ended without being accepted. Its messages must not keep its whole body in memory.
    pub(crate) fn release_bodies(self: Arc<Self>) {
        if let Ok(mut state) = self.state.try_lock() {
            return state.session.copy_pending();
        }
        tokio::spawn(async move { self.state.lock().await.session.copy_pending() });
    }
}

/// Asks the store again and again to take what was decided without it, until it has, or the branch is gone.
async fn retry_storing(branch: Weak<Branch>) {
    let mut pause = FIRST_PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
        let Some(branch) = branch.upgrade() else { return };
        let mut state = branch.state().await;
        if let Err(error) = state.store().await {
            tracing::warn!(session = branch.session, %error, "decisions not stored");
        }
        branch.is_retrying.store(state.session.provisional().0 > 0, Ordering::Relaxed);
        branch.note_provisional(&mut state);
        if !branch.is_retrying.load(Ordering::Relaxed) {
            return;
        }
    }
}
