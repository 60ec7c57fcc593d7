//! Maps and sets whose keys come from files.
//!
//! A log has ids in every line, and the standard library's hash took nearly a tenth of the time to read one. This hash is
//! several times faster. It is not cryptographic, but keyed at random for each table, so that a log cannot be written to
//! make keys collide without measuring lookups closely.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

/// A map from keys that a file chose.
pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

/// A set of keys that a file chose.
pub(crate) type Set<T> = HashSet<T, RandomState>;
