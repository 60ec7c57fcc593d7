//! What a check of `doctor` found, and how to fix it.

use std::fmt;

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// It works, but perhaps not as intended.
    Warning,
    /// It does not work.
    Fault,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
        })
    }
}

/// What a check found. Nothing in it is a key or a password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorFinding {
    pub(crate) check: &'static str,
    pub(crate) level: Level,
    pub(crate) found: String,
    /// How to fix it, unless nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<String>,
}

impl DoctorFinding {
    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, found: found.into(), fix: None }
    }

    pub(crate) fn warning(check: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, level: Level::Warning, found: found.into(), fix: Some(fix.into()) }
    }

    pub(crate) fn fault(check: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, level: Level::Fault, found: found.into(), fix: Some(fix.into()) }
    }
}
