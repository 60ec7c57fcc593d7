//! What kind of tool a call uses, and which lines of a file it is about.
//!
//! Reuse differs by class: what a file read showed is needed for longer than what a test run printed. So
//! policies look at the class of a tool, never at its name.

use serde::{Deserialize, Serialize};

/// What a tool does, as far as pruning cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Shows a file, or part of one; also a shell command that does just that.
    Read,
    /// Changes or writes files.
    Edit,
    /// Searches or lists files.
    Search,
    /// Runs a command.
    Shell,
    /// Fetches or searches the web.
    Web,
    /// Hands work to another agent.
    Agent,
    /// Keeps a list of things to do.
    Plan,
    /// Anything else.
    #[default]
    Other,
}

/// A range of lines, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lines {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl Lines {
    /// The whole file.
    pub const ALL: Lines = Lines { first: 1, last: u32::MAX };

    /// Whether every line of the other range is in this one.
    ///
    /// ```
    /// use secateur::Lines;
    ///
    /// assert!(Lines::ALL.covers(Lines { first: 10, last: 20 }));
    /// assert!(!Lines { first: 10, last: 20 }.covers(Lines::ALL));
    /// ```
    pub fn covers(self, other: Lines) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::ALL
    }
}
