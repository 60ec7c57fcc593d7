//! One branch of a conversation: the chain of its messages, and the session that decides about them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use secateur::Role;
use secateur::session::Event;
use secateur_engine::provider::Model;
use secateur_engine::{Engine, EngineError, NewMessage, Session, Settlement, Target};
use secateur_formats::lint;

use super::Report;
use super::cache::Prompt;
use super::chain::{Id, Link};
use super::hindrance::Hindrance;
use super::layout::{Composed, Layout};
use super::lookup::{find, number, stored};
use super::matching::{Element, Received};

/// How long what was said and learned may be in memory only. No agent goes on faster than that.
const MOMENT: Duration = Duration::from_millis(10);

/// Messages that are this long together are stored as soon as the provider accepts them: until then they hold the whole
/// request in memory, and an answer may take minutes.
const HEAVY: usize = 64 << 10;

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
    /// Answers that came and were not settled yet, oldest first, each with who may be asked for a summary because of it.
    reports: Mutex<Vec<(Report, Lent)>>,
    work: tokio::sync::Mutex<Work>,
    is_kept_soon: AtomicBool,
    /// The last prompt that a provider reported on.
    prompt: Mutex<Option<Prompt>>,
    /// Long messages wait to be stored.
    is_heavy: AtomicBool,
}

/// The part of a branch that one request at a time works with.
pub(crate) struct Work {
    pub session: Session,
    reloads: u64,
    pub layout: Layout,
    /// What happened since the last request.
    happened: Vec<Event>,
    /// What was decided was of no use: from now on nothing new is.
    pub is_resigned: bool,
}

impl Branch {
    /// A branch of a session, with what is known of its chain.
    pub(crate) fn new(root: Id, session: Session, key: Option<String>, chain: Vec<Link>) -> Self {
        Self {
            root,
            session: session.id().to_owned(),
            key,
            used: AtomicU64::new(CLOCK.fetch_add(1, Ordering::Relaxed)),
            chain: RwLock::new(Arc::new(chain)),
            reports: Mutex::default(),
            is_kept_soon: AtomicBool::new(false),
            prompt: Mutex::default(),
            is_heavy: AtomicBool::new(false),
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
    pub(crate) fn report(&self, report: Report, lent: Lent) {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).push((report, lent));
    }

    /// Lets what was said and learned be stored in a moment. Nobody waits for that: the client says it all again. Requests
    /// that follow one another closely are stored together.
    pub(crate) fn keep_soon(self: Arc<Self>) {
        if self.is_kept_soon.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            tokio::time::sleep(MOMENT).await;
            self.is_kept_soon.store(false, Ordering::Relaxed);
            let mut work = self.work().await;
            if let Err(error) = work.keep().await {
                tracing::warn!(session = self.session, %error, "what was learned is not stored");
            }
            let end = work.session.background_end();
            drop(work);
            if let Some(end) = end {
                end.await;
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
        let events = work.session.happened();
        work.happened.extend(events);
    }

    /// Takes note of a prompt that a provider reported on. Says why most of it was not in the provider's cache, if so.
    pub(crate) fn prompted(&self, prompt: Prompt) -> Option<&'static str> {
        let mut last = self.prompt.lock().unwrap_or_else(PoisonError::into_inner);
        let missed = prompt.missed(last.as_ref());
        *last = Some(prompt);
        missed
    }

    /// The provider took what was said last.
    pub(crate) fn accepted(self: &Arc<Self>) {
        if self.is_heavy.swap(false, Ordering::Relaxed) {
            Arc::clone(self).keep_soon();
        }
    }

    /// Waits for its turn, then settles the answers that came. If one cannot be, what would have been learned from it is
    /// not learned.
    pub(crate) async fn work(&self) -> tokio::sync::MutexGuard<'_, Work> {
        self.used.store(CLOCK.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut work = self.work.lock().await;
        loop {
            let next = {
                let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
                if reports.is_empty() { None } else { Some(reports.remove(0)) }
            };
            let Some((report, lent)) = next else { return work };
            work.session.lend(lent);
            if let Err(error) = work.settle(report).await {
                tracing::warn!(session = self.session, %error, "an answer is not settled");
            }
            // A summary that was begun has its own hold on whoever writes it; nobody else needs the credentials.
            work.session.lend(None);
        }
    }
}

/// Who may be asked for a summary on a client's account.
pub(crate) type Lent = Option<Arc<dyn Model>>;

impl Work {
    fn new(session: Session) -> Self {
        let (reloads, layout, happened) = (session.reloads(), Layout::default(), Vec::new());
        Self { session, reloads, layout, happened, is_resigned: false }
    }

    async fn settle(&mut self, report: Report) -> Result<(), EngineError> {
        if let Some(usage) = report.usage {
            let settlement = Settlement::Answered { usage, turn: report.turn };
            let events = self.session.learn(settlement).await?;
            self.happened.extend(events);
        }
        Ok(())
    }

    /// Stores what was said and learned.
    pub(crate) async fn keep(&mut self) -> Result<(), EngineError> {
        self.session.keep_settled().await
    }

    /// Learns that the provider refused the request as too long.
    pub(crate) async fn refuse(&mut self, tokens: Option<u64>) -> Result<(), EngineError> {
        let events = self.session.settle(Settlement::Overflow { tokens }).await?;
        self.happened.extend(events);
        Ok(())
    }

    /// What happened since the last request.
    pub(crate) fn happened(&mut self, now: Vec<Event>) -> Vec<Event> {
        self.happened.extend(now);
        std::mem::take(&mut self.happened)
    }

    /// Brings session and chain up to date with what others did.
    pub(crate) async fn catch_up(
        &mut self,
        engine: &Engine,
        branch: &Branch,
        received: &Received,
    ) -> Result<(), EngineError> {
        self.session.refresh().await?;
        if self.session.reloads() == self.reloads {
            return Ok(());
        }
        self.reloads = self.session.reloads();
        self.layout = Layout::default();
        let mut chain = branch.chain().as_ref().clone();
        let ids: Vec<Id> = chain.iter().map(|link| link.id).collect();
        chain.truncate(stored(engine, &self.session, &ids).await?);
        if received.common(&chain) == chain.len() {
            // Others may have taken in more of what this request says.
            let ids: Vec<Id> = received.elements.iter().map(|element| element.id).collect();
            let stored = stored(engine, &self.session, &ids).await?;
            let more = received.elements.get(chain.len()..stored).unwrap_or_default();
            chain.extend(more.iter().map(|element| Link::new(element.id, 0, element.spelling)));
        }
        number(&mut chain, &self.session);
        branch.change(|old| *old = chain);
        Ok(())
    }

    /// Takes back what the branch says beyond the messages that it shares with a request. Says whether it could: what
    /// is stored may be gone on with, so leaving it makes another branch.
    pub(crate) async fn rewind(&mut self, branch: &Branch, shared: usize) -> Result<bool, EngineError> {
        let Some(next) = branch.chain().get(shared).map(|link| link.seq) else { return Ok(true) };
        if next == 0 || !self.session.take_back(next).await? {
            return Ok(false);
        }
        branch.change(|chain| chain.truncate(shared));
        self.layout = Layout::default();
        Ok(true)
    }

    /// Another branch that shares its first messages with this one, and what was decided about them.
    pub(crate) async fn fork(
        &mut self,
        engine: &Engine,
        branch: &Branch,
        shared: usize,
    ) -> Result<Branch, EngineError> {
        let mut chain = branch.chain().as_ref().clone();
        chain.truncate(shared);
        let last = chain.last().map_or(0, |link| link.seq);
        let at = if last > 0 {
            last
        } else {
            let ids: Vec<Id> = chain.iter().map(|link| link.id).collect();
            let found = find(engine, &ids, |found| found.session == self.session.id()).await?;
            found.filter(|(place, _)| place + 1 == shared).map_or(0, |(_, found)| found.seq)
        };
        let session = self.session.fork(at).await?;
        number(&mut chain, &session);
        Ok(Branch::new(branch.root, session, branch.key.clone(), chain))
    }

    /// Whether what is there fits a model, as far as is known.
    pub(crate) fn has_room(&self, target: &Target) -> bool {
        let tokens = self.session.machine().tokens();
        target.limits.context == 0 || tokens < target.limits.context - target.limits.output.unwrap_or(0)
    }

    /// Makes sure that a provider takes what was made of a request as willingly as the request. If not, what was done
    /// last is taken back.
    pub(crate) async fn check(&mut self, received: &Received, composed: &Composed) -> Result<(), Hindrance> {
        let body = composed.body.concat();
        let Some(rule) = worse(received, &body) else { return Ok(()) };
        self.is_resigned = true;
        self.session.undo(None).await?;
        self.layout = Layout::default();
        Err(Hindrance::Lint { rule })
    }

    /// Takes in the messages of a request that are new, after the `shared` ones that are not. What the branch says
    /// beyond those must have been taken back.
    pub(crate) async fn take(
        &mut self,
        branch: &Branch,
        received: &Received,
        shared: usize,
    ) -> Result<(), EngineError> {
        let fresh = received.elements.get(shared..).unwrap_or_default();
        let message = |element: &Element| NewMessage {
            id: Some(element.id.to_string()),
            json: received.slice(element),
            pinned: false,
        };
        let seqs = self.session.take(fresh.iter().map(message)).await?;
        let links = fresh.iter().zip(seqs).map(|(element, seq)| Link::new(element.id, seq, element.spelling));
        branch.change(|chain| {
            for (link, element) in chain.iter_mut().zip(&received.elements) {
                link.respell(element.spelling);
            }
            chain.extend(links);
        });
        if fresh.iter().map(|element| element.range.len()).sum::<usize>() > HEAVY {
            branch.is_heavy.store(true, Ordering::Relaxed);
        }
        self.hold();
        Ok(())
    }

    /// What was said since the model spoke last may still be said otherwise.
    fn hold(&mut self) {
        let rows = self.session.machine().window().rows();
        let answered = rows.iter().rev().find(|row| row.entry.role == Role::Assistant);
        let from = answered.map_or(1, |row| row.seq + 1);
        self.session.hold(from);
    }
}

/// What a provider rejects in a body that it would not have rejected in the request; none if there is nothing.
fn worse(received: &Received, body: &[u8]) -> Option<String> {
    let Ok(body) = std::str::from_utf8(body) else { return Some("not UTF-8".to_owned()) };
    let findings = lint::lint(received.wire, body);
    if findings.is_empty() {
        return None;
    }
    let before = std::str::from_utf8(&received.body).unwrap_or_default();
    let before = lint::lint(received.wire, before);
    let is_new = |finding: &&lint::Finding| !before.iter().any(|old| old.rule == finding.rule);
    // The rule and the place, but not the message, which may quote what was said.
    findings.iter().find(is_new).map(|finding| format!("{} at {}", finding.rule.name(), finding.path))
}
