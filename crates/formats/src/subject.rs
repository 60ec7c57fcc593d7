//! What a tool call is about, told from the tool's name and the call's raw input.
//!
//! A policy wants to know two things about a tool result without seeing it: what sort of work made it, and what it
//! shows, so that a later read of the same lines or a later edit of the same file can be told from unrelated work.
//! Every agent has its own names and spellings for both. They are all known here, in one place and for all formats,
//! because the same names travel: an agent changes, a log is converted, a proxy sees whatever comes.
//!
//! Names alone do not tell. One agent has no tool for reading and runs `sed -n '1,200p' src/main.rs` instead, so a
//! command that does nothing but show a file counts as a read of it, one that only searches as a search.
//! Whatever is more involved stays a command: a wrong subject is worse than none.
//!
//! ```
//! use secateur::{ToolClass, LineRange};
//! use secateur_formats::{About, subject};
//!
//! let read = subject("Read", r#"{"file_path":"src/../a.rs","offset":101,"limit":50}"#, Some("/home/me"));
//! assert_eq!(read.class, ToolClass::Read);
//! assert_eq!(read.about, About::File { path: "/home/me/a.rs".into(), lines: LineRange { first: 101, last: 150 } });
//!
//! let same = subject("exec_command", r#""{\"cmd\":\"sed -n '101,150p' a.rs\"}""#, Some("/home/me"));
//! assert_eq!(same, read);
//! ```
//!
//! The input is passed over once and leniently; only the few members that matter are decoded, and of a long command
//! only its beginning. Tools whose class says it all are not looked into. What cannot be made out is
//! [`About::Nothing`].

mod action;
mod command;
mod input;
mod patch;
mod path;
mod read;
mod script;
mod tool;
mod words;

use secateur::{LineRange, ToolClass};

use crate::json::{fields, string};
use input::Input;
use tool::Tool;

/// What a tool call is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The sort of work.
    pub class: ToolClass,
    /// What the work is done on.
    pub about: About,
}

/// What a tool call works on, as far as it can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Nothing that is known.
    #[default]
    Nothing,
    /// One file, or some of its lines.
    File {
        /// The path: absolute if it was, or if the working directory is known; without `.` and `..`, and with `/`
        /// between its names.
        path: String,
        /// The lines shown; of an edit always [`LineRange::ALL`].
        lines: LineRange,
    },
    /// Several files, each once, in the order of their mention and spelled like a single one.
    Files(Vec<String>),
    /// A command line, or the first line of a script; cut after [`About::LONGEST_COMMAND`] characters.
    Command(String),
}

impl About {
    /// How many characters of a command are kept.
    pub const LONGEST_COMMAND: usize = 2_000;

    /// How many files of one call are kept. A call that names more is about none of them in particular, and what
    /// is kept of it should not grow with it.
    const MOST_FILES: usize = 100;

    /// These files, if there are any; the lines belong to a file that is alone.
    fn files(paths: impl IntoIterator<Item = String>, lines: LineRange) -> Self {
        let mut kept: Vec<String> = Vec::new();
        for path in paths.into_iter().take(Self::MOST_FILES) {
            if !kept.contains(&path) {
                kept.push(path);
            }
        }
        match kept.len() {
            0 => Self::Nothing,
            1 => kept.pop().map_or(Self::Nothing, |path| Self::File { path, lines }),
            _ => Self::Files(kept),
        }
    }

    /// This command, as much of it as is kept; nothing if it is blank.
    fn command(text: &str) -> Self {
        let text = text.trim();
        let end = text.char_indices().nth(Self::LONGEST_COMMAND).map_or(text.len(), |(at, _)| at);
        match text.get(..end).unwrap_or_default().trim_end() {
            "" => Self::Nothing,
            kept => Self::Command(kept.to_owned()),
        }
    }
}

impl Subject {
    fn new(class: ToolClass, about: About) -> Self {
        Self { class, about }
    }
}

/// Tells what a tool call is about.
///
/// `input` is the raw JSON of the call's input: an object; a string that holds an object, as in OpenAI's `arguments`;
/// or a string of free text such as a patch, a script or a command line. `cwd` is the directory that relative paths
/// start from, unless the call itself names another.
pub fn subject(tool: &str, input: &str, cwd: Option<&str>) -> Subject {
    let tool = Tool::named(tool);
    if let Tool::Only(class) = tool {
        return Subject::new(class, About::Nothing);
    }
    let input = input.trim();
    if !fields::is_string(input) {
        return structured(tool, input, cwd).unwrap_or_else(|| Subject::new(tool.class(), About::Nothing));
    }
    if input::holds_object(input)
        && let Some(subject) = structured(tool, &string::decode(input), cwd)
    {
        return subject;
    }
    text(tool, input, cwd)
}

/// What a call with an object for its input is about; nothing if that is no object.
fn structured(tool: Tool, input: &str, cwd: Option<&str>) -> Option<Subject> {
    let input: Input<'_> = fields::object(input).ok()??;
    Some(match tool {
        Tool::Only(class) => Subject::new(class, About::Nothing),
        Tool::Read => Subject::new(ToolClass::Read, input.read(cwd)),
        // An editor may be asked to show a file, too.
        Tool::Edit if input.is_view() => Subject::new(ToolClass::Read, input.read(cwd)),
        Tool::Edit => Subject::new(ToolClass::Edit, input.edited(cwd)),
        Tool::Shell | Tool::Script | Tool::Action => input.ran(cwd),
    })
}

/// What a call with a text for its input is about.
fn text(tool: Tool, raw: &str, cwd: Option<&str>) -> Subject {
    match tool {
        Tool::Only(_) | Tool::Read => Subject::new(tool.class(), About::Nothing),
        Tool::Edit => Subject::new(ToolClass::Edit, patch::about(patch::escaped(raw), cwd)),
        Tool::Script => script::judge(raw, cwd),
        Tool::Shell | Tool::Action => {
            let line = input::beginning(raw);
            action::judge(&line, cwd).unwrap_or_else(|| command::judge_raw(raw, cwd))
        }
    }
}

#[cfg(test)]
mod tests;
