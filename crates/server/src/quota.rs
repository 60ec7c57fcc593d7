//! What one client may take up at once, so that its requests do not delay those of others.
//!
//! Three things are bounded for each client: the memory of its bodies, how many of its bodies are read and decided at
//! once, and how many summaries are written for it. Work that takes long, which is decompressing and parsing large
//! bodies, runs on threads of its own. A client gets half of them at most; its other bodies wait their turn, and those of
//! other clients pass them.
//!
//! A client is an address, and the tenant of its token. On this machine all clients have the same address, so there a
//! client is a connection.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::available_parallelism;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::settings::Settings;

/// How many clients are known before those without requests are forgotten.
const MOST_IDLE: usize = 1_024;

/// The part of an IPv6 address that one network has. A machine may use any address of its network.
const NETWORK: u128 = !0 << 64;

/// Who a client is. This is the only place where clients are told apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClientKey {
    address: IpAddr,
    /// The port, on this machine.
    port: Option<u16>,
    /// The tenant of its token.
    tenant: Option<String>,
}

impl ClientKey {
    /// The client at the other end of a connection.
    pub(crate) fn of(peer: SocketAddr) -> Self {
        let address = match peer.ip().to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK))
            }
            address => address,
        };
        Self { address, port: address.is_loopback().then(|| peer.port()), tenant: None }
    }

    /// The same client with the token of a tenant.
    pub(crate) fn with_tenant(&self, tenant: Option<&str>) -> Self {
        Self { tenant: tenant.map(str::to_owned), ..self.clone() }
    }
}

/// The quotas of all clients.
pub(crate) struct Quotas {
    limits: ClientLimits,
    memory: Arc<MemoryBudget>,
    work: Arc<Semaphore>,
    clients: Mutex<HashMap<ClientKey, Weak<ClientQuota>>>,
}

/// What each client may take up.
#[derive(Clone, Copy)]
struct ClientLimits {
    memory: u64,
    bodies: usize,
    summaries: usize,
    work: usize,
}

/// The quota of one client, shared by its requests.
pub(crate) struct ClientQuota {
    memory: Arc<MemoryBudget>,
    memory_of_all: Arc<MemoryBudget>,
    bodies: Arc<Semaphore>,
    summaries: Arc<Semaphore>,
    work: Arc<Semaphore>,
    work_of_all: Arc<Semaphore>,
}

impl Quotas {
    pub(crate) fn of(settings: &Settings) -> Self {
        let threads = available_parallelism().map_or(1, usize::from);
        let limits = ClientLimits {
            memory: settings.client_memory,
            bodies: settings.client_bodies,
            summaries: settings.client_summaries,
            work: (threads / 2).max(1),
        };
        let memory = MemoryBudget::new(settings.most_held);
        // One more than a client may use, so that no client can use all.
        let work = Arc::new(Semaphore::new(threads.max(limits.work + 1)));
        Self { limits, memory, work, clients: Mutex::default() }
    }

    /// The quota of a client.
    pub(crate) fn client(&self, key: &ClientKey) -> Arc<ClientQuota> {
        let mut clients = self.clients.lock();
        if let Some(quota) = clients.get(key).and_then(Weak::upgrade) {
            return quota;
        }
        if clients.len() >= MOST_IDLE && clients.len() == clients.capacity() {
            clients.retain(|_, quota| quota.strong_count() > 0);
        }
        let ClientLimits { memory, bodies, summaries, work } = self.limits;
        let quota = Arc::new(ClientQuota {
            memory: MemoryBudget::new(memory),
            memory_of_all: Arc::clone(&self.memory),
            bodies: Arc::new(Semaphore::new(bodies)),
            summaries: Arc::new(Semaphore::new(summaries)),
            work: Arc::new(Semaphore::new(work)),
            work_of_all: Arc::clone(&self.work),
        });
        clients.insert(key.clone(), Arc::downgrade(&quota));
        quota
    }
}

impl ClientQuota {
    /// An empty share of the memory, for a request that begins.
    pub(crate) fn memory(&self) -> MemoryShare {
        MemoryShare { budgets: [Arc::clone(&self.memory), Arc::clone(&self.memory_of_all)], bytes: 0 }
    }

    /// The right to have one more body read and decided, until it is dropped. None if the client has too many.
    pub(crate) fn begin_body(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.bodies).try_acquire_owned().ok()
    }

    /// The right to have a summary written, until it is dropped. Waits for other summaries of the client.
    pub(crate) async fn begin_summary(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.summaries).acquire_owned().await.ok()
    }

    /// Does work that takes long, on a thread of its own, when it is the client's turn. A panic goes on here.
    pub(crate) async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        // In this order: while a client waits for itself, it is not in the queue of all.
        let turn = Arc::clone(&self.work).acquire_owned().await.ok();
        let turn_of_all = Arc::clone(&self.work_of_all).acquire_owned().await.ok();
        let done = spawn_blocking(move || {
            // The work goes on if nothing waits for it any more, so it keeps its turn.
            let _turns = (turn, turn_of_all);
            work()
        });
        match done.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime ends, and with it this request.
                Err(_) => std::future::pending().await,
            },
        }
    }
}

/// Memory that request bodies together may use.
///
/// A limit for one body says nothing about a thousand of them. A request never waits for memory: if there is none, its
/// body is passed through unread.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    left: AtomicU64,
}

/// The part of the budgets that one request uses, until this is dropped: its client's, and that of all.
#[derive(Debug)]
pub(crate) struct MemoryShare {
    budgets: [Arc<MemoryBudget>; 2],
    bytes: u64,
}

/// A budget is used up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BudgetExhausted;

impl MemoryBudget {
    fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(bytes) })
    }

    fn take(&self, bytes: u64) -> Result<(), BudgetExhausted> {
        let take = |left: u64| left.checked_sub(bytes);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .map(drop)
            .map_err(|_| BudgetExhausted)
    }

    fn give_back(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl MemoryShare {
    /// Takes this many more bytes of the budgets.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), BudgetExhausted> {
        let [client, all] = &self.budgets;
        client.take(bytes)?;
        all.take(bytes).inspect_err(|_| client.give_back(bytes))?;
        self.bytes += bytes;
        Ok(())
    }

    /// An empty share of the same budgets.
    pub(crate) fn another(&self) -> Self {
        Self { budgets: self.budgets.clone(), bytes: 0 }
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.budgets.iter().for_each(|budget| budget.give_back(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotas() -> Quotas {
        Quotas::of(&Settings { most_held: 10, client_memory: 7, client_bodies: 2, ..Settings::default() })
    }

    fn key(peer: &str) -> ClientKey {
        ClientKey::of(peer.parse().unwrap())
    }

    #[test]
    fn a_client_is_an_address_and_on_this_machine_a_connection() {
        assert_eq!(key("192.0.2.1:1"), key("192.0.2.1:2"));
        assert_eq!(key("192.0.2.1:1"), key("[::ffff:192.0.2.1]:3"));
        assert_eq!(key("[2001:db8::1]:1"), key("[2001:db8::2]:1"));
        assert_ne!(key("[2001:db8::1]:1"), key("[2001:db8:0:1::1]:1"));
        assert_ne!(key("192.0.2.1:1"), key("192.0.2.2:1"));
        assert_ne!(key("127.0.0.1:1"), key("127.0.0.1:2"));
        assert_ne!(key("[::1]:1"), key("[::1]:2"));
        assert_ne!(key("192.0.2.1:1"), key("192.0.2.1:1").with_tenant(Some("anna")));
    }

    #[test]
    fn one_client_cannot_use_all_memory_and_all_together_not_more() {
        let quotas = quotas();
        let (one, other) = (quotas.client(&key("192.0.2.1:1")), quotas.client(&key("192.0.2.2:1")));
        let (mut ones, mut again) = (one.memory(), quotas.client(&key("192.0.2.1:9")).memory());
        assert_eq!((ones.grow(7), again.grow(1)), (Ok(()), Err(BudgetExhausted)));
        let mut others = other.memory();
        assert_eq!((others.grow(4), others.grow(3)), (Err(BudgetExhausted), Ok(())));
        drop(ones);
        assert_eq!((others.grow(4), again.grow(3), again.grow(1)), (Ok(()), Ok(()), Err(BudgetExhausted)));
    }

    #[test]
    fn a_client_has_so_many_bodies_at_once_and_others_have_theirs() {
        let quotas = quotas();
        let one = quotas.client(&key("192.0.2.1:1"));
        let begun = [one.begin_body(), one.begin_body()];
        assert!(begun.iter().all(Option::is_some) && one.begin_body().is_none());
        assert!(quotas.client(&key("192.0.2.2:1")).begin_body().is_some());
        drop(begun);
        assert!(quotas.client(&key("192.0.2.1:2")).begin_body().is_some());
    }

    #[tokio::test]
    async fn summaries_of_a_client_wait_for_each_other() {
        let quotas = Quotas::of(&Settings { client_summaries: 1, ..Settings::default() });
        let one = quotas.client(&key("192.0.2.1:1"));
        let first = one.begin_summary().await;
        let second = one.begin_summary();
        tokio::pin!(second);
        assert!(tokio::time::timeout(std::time::Duration::ZERO, second.as_mut()).await.is_err());
        assert!(quotas.client(&key("192.0.2.2:1")).begin_summary().await.is_some());
        drop(first);
        assert!(second.await.is_some());
    }

    /// One client has more work than there are threads, and none of it ends. Another one's is done.
    #[tokio::test]
    async fn work_of_one_client_does_not_hold_up_that_of_others() {
        let quotas = quotas();
        let one = quotas.client(&key("192.0.2.1:1"));
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        let busy: Vec<_> = (0..50)
            .map(|_| {
                let (one, wait) = (Arc::clone(&one), Arc::clone(&wait));
                tokio::spawn(async move { one.work(move || wait.lock().recv().ok()).await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(quotas.client(&key("192.0.2.2:1")).work(|| 7).await, 7);
        assert!(busy.iter().all(|busy| !busy.is_finished()));
        drop(release);
        for busy in busy {
            assert_eq!(busy.await.unwrap(), None);
        }
    }
}
