//! The last things that were heard of, by name. Whatever was not heard of for longest is forgotten.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// So many are remembered.
const MOST: usize = 1_000;

/// The last things that were heard of.
#[derive(Debug, Default)]
pub(crate) struct Recent<T> {
    known: Mutex<Known<T>>,
}

#[derive(Debug, Default)]
struct Known<T> {
    /// Counts what was heard, so that it can be told what was heard last.
    clock: u64,
    by_name: HashMap<String, (u64, T)>,
}

impl<T: Clone + Default> Recent<T> {
    /// Something was heard of whatever has this name.
    pub(crate) fn hear(&self, name: &str, change: impl FnOnce(&mut T)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let now = known.clock;
        if known.by_name.len() >= MOST && !known.by_name.contains_key(name) {
            let oldest =
                known.by_name.iter().min_by_key(|(_, (heard, _))| *heard).map(|(name, _)| name.clone());
            oldest.map(|oldest| known.by_name.remove(&oldest));
        }
        let (heard, thing) = known.by_name.entry(name.to_owned()).or_default();
        *heard = now;
        change(thing);
    }

    /// Whatever has this name; none if nothing was heard of it.
    pub(crate) fn get(&self, name: &str) -> Option<T> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.by_name.get(name).map(|(_, thing)| thing.clone())
    }

    /// All of them, the one that was heard of last first.
    pub(crate) fn all(&self) -> Vec<T> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<&(u64, T)> = known.by_name.values().collect();
        all.sort_unstable_by_key(|(heard, _)| std::cmp::Reverse(*heard));
        all.into_iter().map(|(_, thing)| thing.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_heard_of_for_longest_is_forgotten() {
        let recent = Recent::<usize>::default();
        for n in 0..MOST + 10 {
            recent.hear(&n.to_string(), |thing| *thing = n);
            recent.hear("0", |_| {});
        }
        assert_eq!(recent.get("0"), Some(0));
        assert_eq!(recent.get("1"), None);
        assert_eq!(recent.all().len(), MOST);
        assert_eq!(recent.all().get(..2), Some(&[0, MOST + 9][..]));
    }
}
