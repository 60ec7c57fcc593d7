//! What the fuzz targets have in common: policies that bite on small sessions, and the promises that every
//! session is held to.
//!
//! ```sh
//! fuzz/run --seconds 60 log:opencode
//! ```
//!
//! A fuzzer's inputs are a few hundred bytes long, the thresholds of real profiles tens of thousands of
//! tokens. So beside the builtin profiles, which must at least not fall over, there are [small](policies::SMALL)
//! ones: the same families with limits that such an input exceeds.

pub mod founding;
pub mod mutate;
pub mod policies;
pub mod request;
pub mod session;
