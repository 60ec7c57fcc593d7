//! opencode.
