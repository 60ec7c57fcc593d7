//! A model that answers when the test wants it to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use secateur::Limits;
use secateur_engine::provider::{Deltas, Finish, LanguageModel, ModelError, ModelRequest, ModelResponse};
use tokio::sync::{Semaphore, watch};

/// What it answers.
pub(crate) const SUMMARY: &str = "The files that were read so far are fine.";

/// A model that waits for permission before it answers.
pub(crate) struct Slow {
    asked: watch::Sender<usize>,
    left: AtomicUsize,
    permissions: Semaphore,
}

impl Slow {
    pub(crate) fn new() -> Arc<Self> {
        let asked = watch::Sender::new(0);
        Arc::new(Self { asked, left: AtomicUsize::new(0), permissions: Semaphore::new(0) })
    }

    /// Allows this many more responses.
    pub(crate) fn allow(&self, answers: usize) {
        self.permissions.add_permits(answers);
    }

    /// Waits until it was asked so often.
    pub(crate) async fn asked(&self, times: usize) {
        self.asked.subscribe().wait_for(|&asked| asked >= times).await.unwrap();
    }

    /// How often it was asked.
    pub(crate) fn questions(&self) -> usize {
        *self.asked.borrow()
    }

    /// How many requests were abandoned.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }
}

/// Notices that a question is dropped.
struct Waiting<'m>(Option<&'m Slow>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(model) = self.0 {
            model.left.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[async_trait]
impl LanguageModel for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn limits(&self) -> Limits {
        Limits { context: 100_000, ..Limits::default() }
    }

    async fn send(&self, _: &ModelRequest<'_>, _: &mut Deltas<'_>) -> Result<ModelResponse, ModelError> {
        let mut waiting = Waiting(Some(self));
        self.asked.send_modify(|asked| *asked += 1);
        self.permissions.acquire().await.unwrap().forget();
        waiting.0 = None;
        Ok(ModelResponse { text: SUMMARY.to_owned(), finish: Finish::Complete, usage: None })
    }
}
