//! Retention: sessions that are not used any more are deleted, in small steps beside the work.
//!
//! A step removes a few rows, deletes one session, or returns some free space. The caller pauses between steps, so
//! nothing waits for long. Of several processes on one store only one applies retention at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use secateur_store::{SessionCursor, Store, Swept, TenantScope};
use uuid::Uuid;

use crate::clock::Clock;
use crate::engine::Engine;
use crate::error::EngineError;

/// No session that was used within this time is deleted by retention. Processes note the use of a session once an hour.
pub const LEAST_AGE: Duration = Duration::from_secs(2 * 3600);

/// How long the right to apply retention lasts without being renewed.
const CLAIM: Duration = Duration::from_secs(60);

/// How many sessions are listed at once.
const PAGE: usize = 32;

/// How many rows a step removes at least, at first and at most, and how long it should take.
const FEWEST_ROWS: usize = 8;
const FIRST_ROWS: usize = 64;
const MOST_ROWS: usize = 512;
const LONG_STEP: Duration = Duration::from_millis(20);
const SHORT_STEP: Duration = Duration::from_millis(5);

/// When sessions are deleted. Without any limit they never are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionLimits {
    /// Sessions that were not used for this long are deleted.
    pub age: Option<Duration>,
    /// While the store is larger than this many bytes, the least recently used sessions are deleted.
    pub size: Option<u64>,
    /// While the originals and shown messages of a tenant have more than this many bytes, compressed, its least recently
    /// used sessions are deleted.
    pub tenant_size: Option<u64>,
}

impl RetentionLimits {
    /// Whether nothing is ever deleted.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }
}

/// What a step of retention did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetentionStep {
    /// There is more to do. This was removed.
    Worked(Swept),
    /// There is nothing to do for now, or another process does it.
    Rested,
}

/// Applies retention to the sessions of an engine, step by step.
pub struct Retention {
    store: Arc<dyn Store>,
    clock: Clock,
    limits: RetentionLimits,
    owner: String,
    /// When the right to apply retention was last taken or renewed.
    claimed: Option<Instant>,
    started: (Instant, i64),
    rows: usize,
    /// The size of the store, if it was measured since there was last nothing to do.
    size: Option<u64>,
    /// There may be free space to return.
    has_freed: bool,
}

impl Retention {
    /// Retention for the sessions of an engine; those of all tenants, if it is [scoped](Engine::scoped) so.
    pub fn new(engine: &Engine, limits: RetentionLimits) -> Self {
        Self {
            store: Arc::clone(&engine.parts.store),
            clock: engine.parts.clock.clone(),
            limits,
            owner: Uuid::now_v7().to_string(),
            claimed: None,
            started: (Instant::now(), engine.now()),
            rows: FIRST_ROWS,
            size: None,
            has_freed: true,
        }
    }

    /// Does one step. `release` is asked before a session is deleted; it drops what is in memory of it, or says that the
    /// session is in use.
    pub async fn step(
        &mut self,
        release: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<RetentionStep, EngineError> {
        if !self.claim().await? {
            self.size = None;
            return Ok(RetentionStep::Rested);
        }
        let began = Instant::now();
        let swept = self.store.retention()?.sweep(self.rows).await?;
        if !swept.is_done {
            self.rows = next_rows(self.rows, began.elapsed());
            self.size = self.size.map(|size| size.saturating_sub(swept.bytes));
            self.has_freed = true;
            return Ok(RetentionStep::Worked(swept));
        }
        if self.delete_next(release).await? || self.delete_of_tenant(release).await? {
            return Ok(RetentionStep::Worked(Swept::default()));
        }
        self.size = None;
        if self.has_freed {
            self.has_freed = !self.store.retention()?.give_back().await?;
        }
        Ok(if self.has_freed { RetentionStep::Worked(Swept::default()) } else { RetentionStep::Rested })
    }

    /// Takes the right to apply retention, or renews it when a third of its time is over.
    async fn claim(&mut self) -> Result<bool, EngineError> {
        if self.claimed.is_some_and(|claimed| claimed.elapsed() < CLAIM / 3) {
            return Ok(true);
        }
        let claim_ms = u64::try_from(CLAIM.as_millis()).unwrap_or(u64::MAX);
        let claimed = Instant::now();
        let is_ours = self.store.retention()?.claim(&self.owner, claim_ms).await?;
        self.claimed = is_ours.then_some(claimed);
        Ok(is_ours)
    }

    /// Deletes the session that has to go first. False if none has to.
    async fn delete_next(&mut self, release: &(dyn Fn(&str) -> bool + Sync)) -> Result<bool, EngineError> {
        match self.deletes_before().await? {
            Some(before) => delete_first(self.store.as_ref(), before, release).await,
            None => Ok(false),
        }
    }

    /// Deletes the session that has to go first of a tenant that has too much. False if none has.
    async fn delete_of_tenant(&self, release: &(dyn Fn(&str) -> bool + Sync)) -> Result<bool, EngineError> {
        let Some(most) = self.limits.tenant_size else { return Ok(false) };
        for (tenant, size) in self.store.retention()?.tenant_sizes().await? {
            let store = self.store.scoped(TenantScope::One(tenant));
            if size > most && delete_first(store.as_ref(), self.before(LEAST_AGE), release).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sessions that were last used before this time are deleted, the least recently used first.
    async fn deletes_before(&mut self) -> Result<Option<i64>, EngineError> {
        if let Some(most) = self.limits.size {
            let size = match self.size {
                Some(size) => size,
                None => self.store.retention()?.size().await?,
            };
            self.size = Some(size);
            if size > most {
                return Ok(Some(self.before(LEAST_AGE)));
            }
        }
        Ok(self.limits.age.map(|age| self.before(age)))
    }

    /// The time this long ago, or longer if that is too short.
    fn before(&self, age: Duration) -> i64 {
        self.now().saturating_sub(i64::try_from(age.max(LEAST_AGE).as_millis()).unwrap_or(i64::MAX))
    }

    /// The time, but never further ahead than this process has run: a clock that jumps must not make every session old.
    fn now(&self) -> i64 {
        let (instant, time) = self.started;
        match &self.clock {
            Clock::System => {
                let run = i64::try_from(instant.elapsed().as_millis()).unwrap_or(i64::MAX);
                self.clock.now().min(time.saturating_add(run))
            }
            Clock::Set(_) => self.clock.now(),
        }
    }
}

/// Deletes the least recently used session of a view that was last used before a time and is not in use. False if there is
/// none.
async fn delete_first(
    store: &dyn Store,
    before: i64,
    release: &(dyn Fn(&str) -> bool + Sync),
) -> Result<bool, EngineError> {
    let mut after: Option<SessionCursor> = None;
    loop {
        let page = store.retention()?.unused(before, after.as_ref(), PAGE).await?;
        for session in &page {
            if release(&session.id) && store.retention()?.delete(&session.id, before).await? {
                return Ok(true);
            }
        }
        after = page.last().cloned();
        if page.len() < PAGE {
            return Ok(false);
        }
    }
}

/// How many rows the next step removes after one that took so long.
fn next_rows(rows: usize, took: Duration) -> usize {
    if took > LONG_STEP {
        (rows / 2).max(FEWEST_ROWS)
    } else if took < SHORT_STEP {
        (rows * 2).min(MOST_ROWS)
    } else {
        rows
    }
}

impl Engine {
    /// Sessions that were last used before a time, least recently used first, at most `limit`; those that follow a place
    /// in this order, if one is given.
    pub async fn unused_sessions(
        &self,
        before: i64,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<Vec<SessionCursor>, EngineError> {
        Ok(self.parts.store.retention()?.unused(before, after, limit).await?)
    }

    /// Deletes a session with everything in it, if it was last used before a time. Its rows are removed by
    /// [`remove_deleted`](Self::remove_deleted), or by retention.
    pub async fn delete_session(&self, id: &str, before: i64) -> Result<bool, EngineError> {
        Ok(self.parts.store.retention()?.delete(id, before).await?)
    }

    /// Removes the rows of all deleted sessions, in small steps.
    pub async fn remove_deleted(&self) -> Result<Swept, EngineError> {
        let (mut sum, mut rows) = (Swept::default(), FIRST_ROWS);
        while !sum.is_done {
            let began = Instant::now();
            let swept = self.parts.store.retention()?.sweep(rows).await?;
            rows = next_rows(rows, began.elapsed());
            sum.sessions += swept.sessions;
            sum.bytes += swept.bytes;
            sum.is_done = swept.is_done;
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_takes_long_is_followed_by_a_smaller_one() {
        assert_eq!(next_rows(64, Duration::from_secs(1)), 32);
        assert_eq!(next_rows(FEWEST_ROWS, Duration::from_secs(1)), FEWEST_ROWS);
        assert_eq!(next_rows(64, Duration::ZERO), 128);
        assert_eq!(next_rows(MOST_ROWS, Duration::ZERO), MOST_ROWS);
        assert_eq!(next_rows(64, Duration::from_millis(10)), 64);
    }
}
