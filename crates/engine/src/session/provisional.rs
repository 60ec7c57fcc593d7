//! Decisions that the store could not take yet.
//!
//! A followed session goes on while the store is away. It has in memory what it needs to decide, and the client sends
//! the originals with every request. Each commit that the store did not take is kept, and is stored in order as soon as
//! the store answers again. If another process changed the session meanwhile, its decisions count, and the kept commits
//! are dropped: that costs tokens, not work.

use std::collections::VecDeque;

use bytes::Bytes;
use secateur::session::Seq;
use secateur_store::{Commit, Committed, NewStoredMessage, SessionRow, StoreError};

use super::core::SessionCore;
use super::history::History;
use crate::error::EngineError;

/// A revision and a number of an operation that no stored session has. What is decided before the session is loaded again
/// counts on from there.
const NEVER_STORED: u64 = 1 << 62;

/// Commits that the store did not take yet, oldest first.
#[derive(Default)]
pub(crate) struct ProvisionalCommits {
    commits: VecDeque<ProvisionalCommit>,
    /// What became of others since this was last asked.
    pub ends: ProvisionalEnds,
}

/// What became of decisions that the store could not take at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProvisionalEnds {
    /// How many were stored later.
    pub stored: u64,
    /// How many were dropped, because others continued the session, or it was loaded again.
    pub dropped: u64,
}

/// A commit that the store did not take yet.
struct ProvisionalCommit {
    commit: Commit,
    /// The session's numbers after it.
    numbers: Committed,
    bytes: usize,
}

impl ProvisionalCommits {
    pub(crate) fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.commits.len()
    }

    /// The memory that they hold, about.
    pub(crate) fn bytes(&self) -> usize {
        self.commits.iter().map(|held| held.bytes).sum()
    }

    /// The original of a message that one of them appends.
    pub(crate) fn body(&self, seq: Seq) -> Option<&Bytes> {
        self.message(seq).map(|message| &message.body)
    }

    /// The data of the operation that made a message, if both are in one of them.
    pub(crate) fn operation_of(&self, seq: Seq) -> Option<&str> {
        let number = self.message(seq)?.operation?;
        self.commits.iter().find_map(|held| {
            let first = held.numbers.last_operation + 1 - held.commit.operations.len() as u64;
            let at = usize::try_from(number.checked_sub(first)?).ok()?;
            held.commit.operations.get(at).map(|operation| operation.data.as_str())
        })
    }

    fn message(&self, seq: Seq) -> Option<&NewStoredMessage> {
        self.commits.iter().find_map(|held| {
            let first = held.numbers.head + 1 - held.commit.append.len() as u64;
            held.commit.append.get(usize::try_from(seq.checked_sub(first)?).ok()?)
        })
    }

    /// Drops all of them.
    pub(crate) fn clear(&mut self) {
        self.ends.dropped += self.commits.len() as u64;
        self.commits.clear();
    }

    /// Adds a commit. Bodies are copied: they may be slices of a whole request.
    fn push(&mut self, mut commit: Commit, numbers: Committed) {
        for message in &mut commit.append {
            message.body = Bytes::copy_from_slice(&message.body);
        }
        let bytes = size(&commit);
        self.commits.push_back(ProvisionalCommit { commit, numbers, bytes });
    }
}

impl<H: History> SessionCore<H> {
    /// Commits what was decided. If the store is away, a followed session keeps the commit for later.
    pub(crate) async fn commit_decision(&mut self, commit: Commit) -> Result<Committed, EngineError> {
        let numbers = numbers_after(&self.row, &commit);
        let failed = match self.store_in_order(&commit).await {
            Err(error) if self.goes_on_after(&error) => error,
            outcome => return outcome,
        };
        let Some(provisional) = self.history.provisional() else { return Err(failed) };
        provisional.push(commit, numbers);
        Ok(numbers)
    }

    async fn store_in_order(&mut self, commit: &Commit) -> Result<Committed, EngineError> {
        self.store_provisional().await?;
        self.ensure_stored().await?;
        Ok(self.engine.parts.store.commit(&self.row.id, commit.clone()).await?)
    }

    /// Stores the commits that were kept. If the session was changed meanwhile, that is a collision.
    pub(crate) async fn store_provisional(&mut self) -> Result<(), EngineError> {
        if self.history.provisional().is_none_or(|provisional| provisional.is_empty()) {
            return Ok(());
        }
        self.ensure_stored().await?;
        let store = self.engine.parts.store.clone();
        while let Some(held) = self.history.provisional().and_then(|held| held.commits.front()) {
            let is_stored = match store.commit(&self.row.id, held.commit.clone()).await {
                Ok(_) => true,
                Err(error @ StoreError::Database { .. }) => return Err(error.into()),
                // The commit may have been stored, and only the answer lost.
                Err(StoreError::Stale { found, .. }) if found == held.numbers.revision => {
                    is_after(&store.session(&self.row.id).await?, held)
                }
                Err(_) => false,
            };
            if !is_stored {
                return Err(self.drop_provisional());
            }
            if let Some(provisional) = self.history.provisional() {
                provisional.commits.pop_front();
                provisional.ends.stored += 1;
            }
        }
        Ok(())
    }

    /// Drops what was decided without the store, because the session continued differently. All has to be loaded again.
    fn drop_provisional(&mut self) -> EngineError {
        if let Some(provisional) = self.history.provisional() {
            provisional.clear();
        }
        let (id, expected) = (self.row.id.clone(), self.row.revision);
        // So that memory is never taken for current.
        (self.row.revision, self.row.last_operation) = (NEVER_STORED, NEVER_STORED);
        StoreError::Stale { id, expected, found: 0 }.into()
    }

    /// Whether the session goes on in memory after this failure.
    pub(crate) fn goes_on_after(&mut self, error: &EngineError) -> bool {
        let goes_on = error.is_store_outage() && self.history.provisional().is_some();
        if goes_on {
            self.history.set_store_away(true);
        }
        goes_on
    }
}

/// The numbers of a session after a commit.
fn numbers_after(row: &SessionRow, commit: &Commit) -> Committed {
    Committed {
        revision: row.revision + 1,
        head: row.head + commit.append.len() as u64,
        last_operation: row.last_operation + commit.operations.len() as u64,
        last_event: row.last_event + commit.events.len() as u64,
    }
}

/// Whether a stored session is as this commit leaves it.
fn is_after(row: &SessionRow, held: &ProvisionalCommit) -> bool {
    let found = Committed {
        revision: row.revision,
        head: row.head,
        last_operation: row.last_operation,
        last_event: row.last_event,
    };
    found == held.numbers && Some(&row.state) == held.commit.state.as_ref()
}

/// The bytes of a commit, without the small parts.
fn size(commit: &Commit) -> usize {
    let messages = commit.append.iter().map(|message| message.body.len() + message.facts.len());
    let changes = commit.change.iter().map(|change| {
        let shown = change.shown.as_ref().and_then(Option::as_ref);
        shown.map_or(0, Vec::len) + change.cuts.as_ref().map_or(0, String::len)
    });
    let operations = commit.operations.iter().map(|operation| operation.data.len());
    let clippings = commit.clippings.iter().map(|clipping| clipping.text.len());
    let sum = messages.sum::<usize>() + changes.sum::<usize>() + operations.sum::<usize>();
    sum + clippings.sum::<usize>()
}
