//! One branch of a conversation: the chain of its messages, and the session that decides about them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use secateur_engine::FollowedSession;
use secateur_engine::provider::LanguageModel;

use super::Report;
use super::background_tasks::Apart;
use super::branch_state::Work;
use super::cache_miss::Prompt;
use super::chain::{Id, Link};

/// How long what was said and learned may be in memory only. No agent goes on faster than that.
const MOMENT: Duration = Duration::from_millis(10);

/// How long an answer may take until what was asked is stored without it: until then all of it is in memory.
const WHILE: Duration = Duration::from_secs(1);

/// Counts uses, so that the branch that was not used for longest can be told.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// One branch of a conversation.
pub(crate) struct Branch {
    root: Id,
    session: String,
    key: Option<String>,
    used: AtomicU64,
    /// What is said in it. Apart from the rest, so that requests are recognised while a branch is at work.
    chain: RwLock<Arc<Vec<Link>>>,
    /// Answers that came and were not settled yet, oldest first.
    answers: Mutex<Vec<Answered>>,
    work: tokio::sync::Mutex<Work>,
    is_kept_soon: AtomicBool,
    /// The last prompt that a provider reported on.
    prompt: Mutex<Option<Prompt>>,
    /// Long messages wait to be stored.
    is_heavy: AtomicBool,
    /// The last answer is on its way.
    is_awaited: AtomicBool,
    apart: Arc<Apart>,
}

impl Branch {
    /// A branch of a session, with what is known of its chain.
    pub(crate) fn new(
        root: Id,
        session: FollowedSession,
        key: Option<String>,
        chain: Vec<Link>,
        apart: Arc<Apart>,
    ) -> Self {
        Self {
            root,
            apart,
            session: session.id().to_owned(),
            key,
            used: AtomicU64::new(CLOCK.fetch_add(1, Ordering::Relaxed)),
            chain: RwLock::new(Arc::new(chain)),
            answers: Mutex::default(),
            is_kept_soon: AtomicBool::new(false),
            prompt: Mutex::default(),
            is_heavy: AtomicBool::new(false),
            is_awaited: AtomicBool::new(false),
            work: tokio::sync::Mutex::new(Work::new(session)),
        }
    }

    pub(crate) fn root(&self) -> Id {
        self.root
    }

    /// The id of its session.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// What is done apart from requests, here and in all branches.
    pub(crate) fn apart(&self) -> Arc<Apart> {
        self.apart.clone()
    }

    /// What the client calls the conversation.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// When it was used last, on a clock that only counts uses.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// What is said in it.
    pub(crate) fn chain(&self) -> Arc<Vec<Link>> {
        self.chain.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes what is said in it. Whoever looks meanwhile sees it as it was.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Vec<Link>)) {
        let mut chain = self.chain.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut chain));
    }

    /// Takes note of an answer. It is settled by whoever works with the branch next.
    pub(crate) fn report(&self, answered: Answered) {
        self.is_awaited.store(false, Ordering::Relaxed);
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(answered);
    }

    /// Lets what was said and learned be stored in a moment. Nobody waits for that: the client says it all again. Requests
    /// that follow one another closely are stored together.
    pub(crate) fn keep_soon(self: Arc<Self>) {
        if self.is_kept_soon.swap(true, Ordering::Relaxed) {
            return;
        }
        let keeping = self.apart.begin();
        tokio::spawn(async move {
            tokio::time::sleep(MOMENT).await;
            self.is_kept_soon.store(false, Ordering::Relaxed);
            let mut work = self.work().await;
            if let Err(error) = work.keep().await {
                tracing::warn!(session = self.session, %error, "what was learned is not stored");
            }
            let end = work.session.background_end();
            drop((work, keeping));
            if let Some(end) = end {
                end.await;
                let _taking = self.apart.begin();
                self.take_summary().await;
            }
        });
    }

    /// Lets a summary that was made in the background take its place. The next request may come to another process.
    async fn take_summary(&self) {
        let mut work = self.work().await;
        if let Err(error) = work.session.refresh().await {
            tracing::warn!(session = self.session, %error, "a summary is not stored");
        }
        let events = work.session.take_events();
        self.apart.count(&events);
        work.note(events);
    }

    /// Takes note of a prompt that a provider reported on. Says why most of it was not in the provider's cache, if so.
    pub(crate) fn prompted(&self, prompt: Prompt) -> Option<&'static str> {
        let mut last = self.prompt.lock().unwrap_or_else(PoisonError::into_inner);
        let missed = prompt.missed(last.as_ref());
        *last = Some(prompt);
        missed
    }

    /// Long messages came that are to be stored once the provider takes them.
    pub(crate) fn weigh(&self) {
        self.is_heavy.store(true, Ordering::Relaxed);
    }

    /// The provider took what was said last. What is long is stored at once, the rest if the answer takes its time.
    pub(crate) fn accepted(self: &Arc<Self>) {
        if self.is_heavy.swap(false, Ordering::Relaxed) {
            return Arc::clone(self).keep_soon();
        }
        self.is_awaited.store(true, Ordering::Relaxed);
        let branch = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(WHILE).await;
            if let Some(branch) = branch.upgrade().filter(|branch| branch.is_awaited.load(Ordering::Relaxed))
            {
                branch.keep_soon();
            }
        });
    }

    /// A request ended without being accepted: what was taken in of it must not hold all of it.
    pub(crate) fn let_go(self: Arc<Self>) {
        if let Ok(mut work) = self.work.try_lock() {
            return work.session.copy_pending();
        }
        tokio::spawn(async move { self.work.lock().await.session.copy_pending() });
    }

    /// Waits for its turn, then settles the answers that came. If one cannot be, what would have been learned from it is
    /// not learned.
    pub(crate) async fn work(&self) -> tokio::sync::MutexGuard<'_, Work> {
        self.used.store(CLOCK.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut work = self.work.lock().await;
        loop {
            let next = {
                let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
                if answers.is_empty() { None } else { Some(answers.remove(0)) }
            };
            let Some(Answered { report, sent, lent }) = next else { return work };
            if let Err(error) = work.borrowing(lent).settle(report, sent).await {
                tracing::warn!(session = self.session, %error, "an answer is not settled");
            }
        }
    }
}

/// An answer that came.
pub(crate) struct Answered {
    pub report: Report,
    /// The characters of its request, as the session counted them. Others may have been made since.
    pub sent: Option<u64>,
    /// Who may be asked for a summary because of it.
    pub lent: Lent,
}

/// Who may be asked for a summary on a client's account.
pub(crate) type Lent = Option<Arc<dyn LanguageModel>>;
