//! A crew: many pieces of work that know nothing of each other, done on all cores.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does each piece of work on one of so many threads, or of as many as there are cores. The results come in the order
/// of the pieces, so how many threads there are changes nothing.
///
/// ```
/// assert_eq!(secateur_lab::each(vec![1, 2, 3], None, |number| 2 * number), [2, 4, 6]);
/// ```
pub fn each<I: Send, T: Send>(
    pieces: impl IntoIterator<Item = I, IntoIter: ExactSizeIterator + Send>,
    threads: Option<usize>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let pieces = pieces.into_iter();
    let count = pieces.len();
    let threads = threads.or_else(|| thread::available_parallelism().ok().map(Into::into));
    let (pieces, done) = (Mutex::new(pieces.enumerate()), Mutex::new(Vec::with_capacity(count)));
    thread::scope(|scope| {
        for _ in 0..threads.unwrap_or(1).clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let next = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((index, piece)) = next else { return };
                    let result = work(piece);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
