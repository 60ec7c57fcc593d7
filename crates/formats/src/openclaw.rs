//! openclaw.
