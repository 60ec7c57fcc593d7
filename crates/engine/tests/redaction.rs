//! Credentials are found, and nothing else is.
//!
//! [`planted`] plants credentials of many kinds in many contexts and counts how many are found; [`properties`] checks
//! random texts; [`hostile`] has texts that are made to take long; [`corpus`] reads real sessions if the environment
//! names a folder. No credential is written down here: all are generated at run time, from a seed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "redaction/contexts.rs"]
mod contexts;
#[path = "redaction/corpus.rs"]
mod corpus;
#[path = "redaction/dice.rs"]
mod dice;
#[path = "redaction/hostile.rs"]
mod hostile;
#[path = "redaction/kinds.rs"]
mod kinds;
#[path = "redaction/planted.rs"]
mod planted;
#[path = "redaction/properties.rs"]
mod properties;
