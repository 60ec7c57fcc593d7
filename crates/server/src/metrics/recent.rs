//! The 1,000 most recently updated values, by name.

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;

/// The number of values that are remembered.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).expect("not zero");

/// The most recently updated values, by name.
#[derive(Debug)]
pub(crate) struct RecentByName<T> {
    values: Mutex<LruCache<String, T>>,
}

impl<T> Default for RecentByName<T> {
    fn default() -> Self {
        Self { values: Mutex::new(LruCache::new(CAPACITY)) }
    }
}

impl<T: Clone + Default> RecentByName<T> {
    /// Changes the value of a name, or a new one. The least recently updated value may be dropped for it.
    pub(crate) fn update(&self, name: &str, change: impl FnOnce(&mut T)) {
        let mut values = self.values.lock();
        change(values.get_or_insert_mut_ref(name, T::default));
    }

    /// The value of a name; none if it is not remembered.
    pub(crate) fn get(&self, name: &str) -> Option<T> {
        self.values.lock().peek(name).cloned()
    }

    /// All values, the most recently updated first.
    pub(crate) fn all(&self) -> Vec<T> {
        self.values.lock().iter().map(|(_, value)| value.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_updated_value_is_dropped() {
        let recent = RecentByName::<usize>::default();
        let most = CAPACITY.get();
        for n in 0..most + 10 {
            recent.update(&n.to_string(), |value| *value = n);
            recent.update("0", |_| {});
        }
        assert_eq!(recent.get("0"), Some(0));
        assert_eq!(recent.get("1"), None);
        assert_eq!(recent.all().len(), most);
        assert_eq!(recent.all().get(..2), Some(&[0, most + 9][..]));
    }
}
