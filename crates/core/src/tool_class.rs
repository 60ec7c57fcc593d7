//! What sort of work a tool does.
//!
//! Agents name their tools as they like, but the tools do the same few things, and how long an output stays useful
//! depends on the thing done: text of a file is quoted for a long time, the output of a command hardly ever. A reader
//! tells the class from a call's name and input; a policy only sees the class.

use serde::{Deserialize, Serialize};

/// What sort of work a tool call does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ToolClass {
    /// Shows a file or a range of its lines, also by way of a shell.
    Read,
    /// Writes, changes or deletes files.
    Edit,
    /// Looks for files or for text in them, lists directories.
    Search,
    /// Runs a command, or talks to one that runs.
    Shell,
    /// Fetches pages or searches the web.
    Web,
    /// Hands work to another agent, or takes its result.
    Agent,
    /// Keeps a plan or a list of things to do.
    Plan,
    /// Anything else.
    #[default]
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_takes_one_byte_and_is_spelled_in_small_letters() {
        assert_eq!(size_of::<ToolClass>(), 1);
        let spelled = |class: ToolClass| toml::Value::try_from(class).unwrap();
        assert_eq!(spelled(ToolClass::Read).as_str(), Some("read"));
        assert_eq!(spelled(ToolClass::default()).as_str(), Some("other"));
    }
}
