//! The memory that bodies of requests may take up together.
//!
//! How long one body may be says nothing about a thousand of them. Nobody waits here: a body for which there is no room
//! is passed on unread, as it comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The room for bodies, in bytes.
#[derive(Debug)]
pub(crate) struct Room {
    left: AtomicU64,
}

/// What one request takes up of it, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Held {
    room: Arc<Room>,
    bytes: u64,
}

/// There is no room.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Room {
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(most) })
    }

    /// Room for a request, of which nothing has come yet.
    pub(crate) fn enter(self: &Arc<Self>) -> Held {
        Held { room: Arc::clone(self), bytes: 0 }
    }
}

impl Held {
    /// Takes up so much more, if that is there.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), Full> {
        let take = |left: u64| left.checked_sub(bytes);
        self.room.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_err(|_| Full)?;
        self.bytes += bytes;
        Ok(())
    }

    /// How much there is for anybody.
    pub(crate) fn left(&self) -> u64 {
        self.room.left.load(Ordering::Relaxed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.room.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_shared_and_given_back() {
        let room = Room::new(10);
        let (mut one, mut other) = (room.enter(), room.enter());
        assert_eq!((one.grow(4), one.grow(3), other.grow(4)), (Ok(()), Ok(()), Err(Full)));
        assert_eq!((other.grow(3), other.left()), (Ok(()), 0));
        drop(one);
        assert_eq!((other.grow(7), other.grow(1)), (Ok(()), Err(Full)));
        drop(other);
        assert_eq!(room.enter().left(), 10);
    }
}
