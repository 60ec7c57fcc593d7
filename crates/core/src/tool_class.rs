//! What kind of work a tool does.
//!
//! Agents have different names for the same few tools. How long an output stays useful depends on the kind of work: text
//! of a file is quoted for a long time, the output of a command hardly ever. A reader derives the class from a call's
//! name and input; a policy sees only the class.

use serde::{Deserialize, Serialize};

/// What kind of work a tool call does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ToolClass {
    /// Shows a file or some of its lines, also through a shell.
    Read,
    /// Writes, changes or deletes files.
    Edit,
    /// Searches files or text in them, or lists directories.
    Search,
    /// Runs a command, or sends input to a running one.
    Shell,
    /// Fetches pages or searches the web.
    Web,
    /// Delegates work to another agent, or takes its result.
    Agent,
    /// Keeps a plan or a to-do list.
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
