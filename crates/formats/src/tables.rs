//! Maps and sets whose keys come out of files.
//!
//! A log has ids in every line, and the standard library's hash was nearly a tenth of reading one. This hash is
//! several times faster. It is not cryptographic: ids come from strangers, so it is keyed at random for each table,
//! and who writes a log cannot know which keys will meet; who could measure lookups closely might find out.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

/// A map from keys that a file chose.
pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

/// A set of keys that a file chose.
pub(crate) type Set<T> = HashSet<T, RandomState>;
