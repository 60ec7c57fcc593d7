//! What a reader could not read.
//!
//! Foreign input never aborts a run: a reader returns what it could read, and a warning with line and reason for
//! everything else. Those bytes stay as they are.

use std::fmt;

use serde::Serialize;

/// One thing that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The line in the source, counted from one.
    pub line: u64,
    /// What is wrong, and what was done about it.
    pub reason: String,
}

impl Warning {
    /// A warning about the place `offset` bytes into `bytes`.
    pub(crate) fn at(bytes: &[u8], offset: usize, reason: impl Into<String>) -> Self {
        let before = bytes.get(..offset).unwrap_or(bytes);
        let lines = before.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Self { line: lines + 1, reason: reason.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}
