//! The time and new ids, both of which tests can set.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::{Builder, Uuid};

/// Where the time comes from.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The operating system.
    #[default]
    System,
    /// A time that is set.
    Set(Arc<SetClock>),
}

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct SetClock {
    /// Milliseconds since 1970.
    now: AtomicI64,
    /// Which ids it makes; none if they are random.
    seed: Option<u64>,
    ids: AtomicU32,
}

impl Clock {
    /// A clock that stands still until it is set.
    pub fn at(now: i64) -> Self {
        Clock::Set(Arc::new(SetClock { now: AtomicI64::new(now), seed: None, ids: AtomicU32::new(0) }))
    }

    /// The same, and the ids that it makes follow from the seed. Clocks of one store need different seeds.
    pub fn seeded(now: i64, seed: u64) -> Self {
        let ids = AtomicU32::new(0);
        Clock::Set(Arc::new(SetClock { now: AtomicI64::new(now), seed: Some(seed), ids }))
    }

    /// The time in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        match self {
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            }
            Clock::Set(clock) => clock.now.load(Ordering::Relaxed),
        }
    }

    /// A new id, which begins with the time and ends with random bits. Later ids of a process are greater, as long as its
    /// time does not go back.
    pub(crate) fn new_id(&self) -> Uuid {
        let Clock::Set(clock) = self else { return Uuid::now_v7() };
        let Some(seed) = clock.seed else { return Uuid::now_v7() };
        let number = clock.ids.fetch_add(1, Ordering::Relaxed);
        let mut hasher = DefaultHasher::new();
        (seed, number).hash(&mut hasher);
        let mut rest = [0; 10];
        rest[..4].copy_from_slice(&number.to_be_bytes());
        rest[4..].copy_from_slice(&hasher.finish().to_be_bytes()[2..]);
        Builder::from_unix_timestamp_millis(u64::try_from(self.now()).unwrap_or(0), &rest).into_uuid()
    }

    /// Sets the time of a clock made with [`Clock::at`]; the system's clock stays as it is.
    pub fn set(&self, time: i64) {
        if let Clock::Set(clock) = self {
            clock.now.store(time, Ordering::Relaxed);
        }
    }
}
