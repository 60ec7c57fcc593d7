//! A store in memory that fails as a simulation wants it to.
//!
//! It obeys the contract of [`Store`], which the store's own test suite checks, and it is quick: a simulation opens a new
//! one for each of a hundred thousand schedules. Each process has a [connection](SimulatedStore::connect) of its own. A
//! process that dies loses its connection: whatever it still calls never returns and changes nothing.
//!
//! ```text
//!   process ──▶ SimulatedConnection ──▶ StoreFaults ──▶ SimulatedTables
//!               dead or alive           done or not,    the rows, and which
//!                                       told or not     of them are damaged
//! ```

mod faults;
mod messages;
mod sessions;
mod tables;
mod unfit;

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use secateur_store::{
    Clipping, ClippingSearch, Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage,
    LOCAL_TENANT, Lease, Loaded, MOST_FOUND, NewSession, OperationRow, RetentionStore, SessionCursor,
    SessionRow, Store, StoreError, StoredMessage, TenantScope,
};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use crate::seeded_random::SeededRandom;
pub use faults::StoreCondition;
use faults::{CallFate, StoreAccess, StoreFaults};
pub use messages::DamagedValue;
use tables::SimulatedTables;

/// A store in memory. Clones are the same store.
#[derive(Clone)]
pub struct SimulatedStore {
    inner: Arc<Mutex<SimulatedDatabase>>,
}

struct SimulatedDatabase {
    /// The rows of each tenant: tenants share nothing.
    tenants: BTreeMap<String, SimulatedTables>,
    /// Damaged bodies are returned instead of an error.
    is_unchecked: bool,
    faults: StoreFaults,
    /// When the store was created, on the runtime's clock, and what its own clock is ahead of that.
    began: Instant,
    ahead_ms: i64,
}

/// One process's connection to the store, for one tenant or for all.
pub struct SimulatedConnection {
    store: SimulatedStore,
    scope: TenantScope,
    is_dead: Arc<AtomicBool>,
}

/// The key of the handles in every simulated store.
pub const HANDLE_KEY: [u8; 32] = [7; 32];

/// What the clock of a new store shows, in milliseconds since 1970.
const FIRST_MOMENT: i64 = 1_700_000_000_000;

impl SimulatedStore {
    /// An empty store that works. The seed decides what becomes of each call once it does not.
    pub fn new(seed: u64) -> Self {
        let database = SimulatedDatabase {
            tenants: BTreeMap::new(),
            is_unchecked: false,
            faults: StoreFaults::new(SeededRandom::new(seed)),
            began: Instant::now(),
            ahead_ms: 0,
        };
        Self { inner: Arc::new(Mutex::new(database)) }
    }

    fn lock(&self) -> MutexGuard<'_, SimulatedDatabase> {
        self.inner.lock().unwrap()
    }

    /// The connection of a new process.
    pub fn connect(&self) -> Arc<SimulatedConnection> {
        let scope = TenantScope::One(LOCAL_TENANT.to_owned());
        Arc::new(SimulatedConnection { store: self.clone(), scope, is_dead: Arc::default() })
    }

    /// Sets how the store is from now on.
    pub fn set(&self, condition: StoreCondition) {
        self.lock().faults.condition = condition;
    }

    /// How it is.
    pub fn condition(&self) -> StoreCondition {
        self.lock().faults.condition
    }

    /// Has one call from now on fail, the next one with 1. Whether it was done is left to the seed.
    pub fn fail_once(&self, call: u64) {
        let faults = &mut self.lock().faults;
        faults.failing = Some(faults.calls + call);
    }

    /// The power goes off and on again: all calls that wait fail. Those that write were done, or not.
    pub fn lose_power(&self) {
        let faults = &mut self.lock().faults;
        faults.power_losses += 1;
        faults.count += 1;
    }

    /// How many calls failed, hung or were slow so far.
    pub fn faults(&self) -> u64 {
        self.lock().faults.count
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.lock().faults.calls
    }

    /// Moves its clock.
    pub fn move_clock(&self, by_ms: i64) {
        self.lock().ahead_ms += by_ms;
    }

    /// Damages a stored value, picked at random; says what it was. None if nothing is stored.
    pub fn damage(&self, random: &mut SeededRandom) -> Option<DamagedValue> {
        let mut database = self.lock();
        let place = random.place(database.tenants.len());
        database.tenants.values_mut().nth(place)?.damage(random)
    }

    /// Bodies are not checked any more when they are read: a damaged one is returned instead of an error.
    pub fn leave_bodies_unchecked(&self) {
        self.lock().is_unchecked = true;
    }

    /// How many operations all sessions have together, read behind all faults.
    pub fn operations(&self) -> u64 {
        let database = self.lock();
        let sessions = database.tenants.values().flat_map(|tables| tables.sessions.values());
        sessions.map(|session| session.row.last_operation).sum()
    }

    /// The number of the newest operation of a session and how many of its operations are undone; none without such a
    /// session. It is read behind all faults.
    pub fn operations_of(&self, session: &str) -> Option<(u64, usize)> {
        let database = self.lock();
        let session = database.tenants.values().find_map(|tables| tables.sessions.get(session))?;
        let undone = session.operations.iter().filter(|operation| operation.undone).count();
        Some((session.row.last_operation, undone))
    }
}

impl SimulatedDatabase {
    /// The tenants of a scope.
    fn tenants_in(&self, scope: &TenantScope) -> Vec<String> {
        match scope {
            TenantScope::One(tenant) => vec![tenant.clone()],
            TenantScope::All => self.tenants.keys().cloned().collect(),
        }
    }

    /// The tenant in a scope that a session belongs to; the first one if none has it.
    fn tenant_of(&self, scope: &TenantScope, id: &str) -> String {
        let tenants = self.tenants_in(scope);
        let has = |tenant: &&String| self.tenants.get(*tenant).is_some_and(|it| it.sessions.contains_key(id));
        tenants.iter().find(has).or(tenants.first()).cloned().unwrap_or_default()
    }

    fn tables_of(&mut self, tenant: &str) -> &mut SimulatedTables {
        if !self.tenants.contains_key(tenant) {
            self.tenants.insert(tenant.to_owned(), SimulatedTables::default());
        }
        let tables = self.tenants.get_mut(tenant).unwrap();
        tables.bodies.is_unchecked = self.is_unchecked;
        tables
    }

    fn now(&self) -> i64 {
        let elapsed = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        FIRST_MOMENT.saturating_add(elapsed).saturating_add(self.ahead_ms)
    }
}

impl SimulatedConnection {
    /// The process dies: no call returns any more, and none changes anything.
    pub fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
    }

    async fn check_alive(&self) {
        if self.is_dead.load(Ordering::Relaxed) {
            pending::<()>().await;
        }
    }

    async fn wait(&self, ms: u64) {
        if ms > 0 {
            sleep(Duration::from_millis(ms)).await;
        }
        self.check_alive().await;
    }

    async fn run<T>(
        &self,
        access: StoreAccess,
        work: impl FnOnce(&mut SimulatedDatabase) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        // Others come in between, as they do where a store takes time.
        yield_now().await;
        self.check_alive().await;
        let (fate, power_losses) = {
            let faults = &mut self.store.lock().faults;
            (faults.decide(access), faults.power_losses)
        };
        self.wait(fate.wait_before).await;
        let done = {
            let mut database = self.store.lock();
            let fate = match database.faults.power_losses == power_losses {
                true => fate,
                false => database.faults.interrupt(access),
            };
            let done = fate.is_done.then(|| work(&mut database));
            (done, fate)
        };
        let (done, CallFate { wait_after, is_told, hangs, .. }) = done;
        if hangs {
            pending::<()>().await;
        }
        self.wait(wait_after).await;
        let is_told = is_told && self.store.lock().faults.power_losses == power_losses;
        match done {
            Some(done) if is_told => done,
            _ => Err(StoreError::Database { doing: "cannot do it", source: "the disk is gone".into() }),
        }
    }

    /// Reads or writes the rows of the tenant that a session belongs to.
    async fn access<T>(
        &self,
        access: StoreAccess,
        id: &str,
        work: impl FnOnce(&mut SimulatedTables, i64) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.run(access, |database| {
            let (tenant, now) = (database.tenant_of(&self.scope, id), database.now());
            work(database.tables_of(&tenant), now)
        })
        .await
    }

    async fn read<T>(
        &self,
        id: &str,
        work: impl FnOnce(&mut SimulatedTables) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.access(StoreAccess::Read, id, |tables, _| work(tables)).await
    }

    async fn write<T>(
        &self,
        id: &str,
        work: impl FnOnce(&mut SimulatedTables, i64) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.access(StoreAccess::Write, id, work).await
    }

    /// What all tenants have that the connection is for.
    async fn collect<T>(
        &self,
        read: impl Fn(&mut SimulatedTables) -> Result<Vec<T>, StoreError> + Send + Sync,
    ) -> Result<Vec<T>, StoreError> {
        self.run(StoreAccess::Read, |database| {
            let mut found = Vec::new();
            for tenant in database.tenants_in(&self.scope) {
                found.extend(read(database.tables_of(&tenant))?);
            }
            Ok(found)
        })
        .await
    }
}

#[async_trait]
impl Store for SimulatedConnection {
    fn scoped(&self, scope: TenantScope) -> Arc<dyn Store> {
        Arc::new(Self { store: self.store.clone(), scope, is_dead: Arc::clone(&self.is_dead) })
    }

    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        let tenant = match &self.scope {
            TenantScope::One(tenant) => tenant.clone(),
            TenantScope::All => LOCAL_TENANT.to_owned(),
        };
        self.run(StoreAccess::Write, |database| {
            if database.tenants.values().any(|tables| tables.sessions.contains_key(&session.id)) {
                return Err(StoreError::SessionExists { id: session.id });
            }
            database.tables_of(&tenant).create(&tenant, session)
        })
        .await
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        self.read(id, |tables| Ok(tables.session(id)?.row.clone())).await
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let sessions = self.collect(|tables| Ok(tables.list(None, limit))).await?;
        Ok(newest(sessions, limit))
    }

    async fn sessions_after(
        &self,
        cursor: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let sessions = self.collect(|tables| Ok(tables.list(Some(cursor), limit))).await?;
        Ok(newest(sessions, limit))
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        let mut found = self.collect(|tables| Ok(tables.find(ids))).await?;
        found.sort_by_key(|found| std::cmp::Reverse(found.updated));
        found.truncate(MOST_FOUND);
        Ok(found)
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        self.read(session, |tables| Ok(tables.find_in(session, ids))).await
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        self.read(id, |tables| tables.load(id)).await
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        self.write(id, |tables, _| tables.commit(id, commit)).await
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        self.write(from, |tables, _| tables.fork(from, fork)).await
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.read(id, |tables| tables.originals(id, seqs)).await
    }

    fn handle_key(&self) -> Option<[u8; 32]> {
        Some(HANDLE_KEY)
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        self.collect(|tables| Ok(tables.clippings(handle))).await
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        if let Some(id) = &search.session {
            return self.read(id, |tables| tables.search(&search)).await;
        }
        let mut found = self.collect(|tables| tables.search(&search)).await?;
        found.truncate(search.limit);
        Ok(found)
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(id, |tables| tables.facts(id, after, limit)).await
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(id, |tables| tables.messages(id, from, to)).await
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        self.read(id, |tables| {
            let rows = tables.session(id)?.operations.iter();
            Ok(rows.filter(|row| row.number > after).take(limit).cloned().collect())
        })
        .await
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.read(id, |tables| {
            let rows = tables.session(id)?.events.iter();
            Ok(rows.filter(|row| row.number > after).take(limit).cloned().collect())
        })
        .await
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        self.write(id, |tables, now| tables.lease(id, owner, ttl_ms, now)).await
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        self.write(id, |tables, _| {
            tables.release(id, owner);
            Ok(())
        })
        .await
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        self.write(id, |tables, _| tables.forget(id, &forget)).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.run(StoreAccess::Write, |_| Ok(())).await
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn touch(&self, id: &str, time: i64) -> Result<(), StoreError> {
        self.write(id, |tables, _| {
            if let Some(session) = tables.sessions.get_mut(id) {
                session.row.updated = session.row.updated.max(time);
            }
            Ok(())
        })
        .await
    }

    fn retention(&self) -> Result<&dyn RetentionStore, StoreError> {
        let doing = "cannot delete sessions";
        Err(StoreError::Database { doing, source: "the simulated store keeps all of them".into() })
    }
}

/// The newest of these sessions.
fn newest(mut sessions: Vec<SessionRow>, limit: usize) -> Vec<SessionRow> {
    sessions.sort_by(|one, other| (other.updated, &other.id).cmp(&(one.updated, &one.id)));
    sessions.truncate(limit);
    sessions
}
