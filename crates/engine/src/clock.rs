//! The time, which tests can set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the time comes from.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The operating system.
    #[default]
    System,
    /// A number that is set, in milliseconds since 1970.
    Set(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands still until it is set.
    pub fn at(now: i64) -> Self {
        Clock::Set(Arc::new(AtomicI64::new(now)))
    }

    /// The time in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        match self {
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            }
            Clock::Set(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Sets the time of a clock made with [`Clock::at`]; the system's clock stays as it is.
    pub fn set(&self, time: i64) {
        if let Clock::Set(now) = self {
            now.store(time, Ordering::Relaxed);
        }
    }
}
