//! Credentials are found, and nothing else is.
//!
//! [`planted`] plants credentials of many kinds in many contexts and counts how many are found; [`properties`] checks
//! random texts; [`hostile`] has texts that are made to take long; [`corpus`] reads real sessions if the environment
//! names a folder. No credential is written down here: all are generated at run time, from a seed.

mod contexts;
mod corpus;
mod encoders;
mod encodings;
mod hostile;
mod kinds;
mod places;
mod planted;
mod properties;
mod random;
