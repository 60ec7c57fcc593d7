//! Carries out what the session machine decides.

pub mod hooks;
pub mod ledger;
pub mod provider;
pub mod redact;
pub mod summary;
