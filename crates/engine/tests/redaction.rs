//! Credentials are found, and nothing else is.
//!
//! [`planted`] plants credentials of many kinds in many contexts and counts how many are found;
//! [`properties`] asks of random texts what has to hold for all; [`hostile`] hands over texts that are made
//! to take long; [`corpus`] reads real sessions where the environment names a folder of them. No credential
//! is written down here: all are made at run time, by a generator with a seed.

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
