//! The subject of a tool call: what it works on, found from the tool's name and the call's raw input.
//!
//! A policy needs two facts about a tool result without its text: the class of work, and the files or the command, so
//! that a later read of the same lines or a later edit of the same file can be recognised. Agents differ in names and
//! spellings of both. All are known here, for all formats, because the same names appear in several of them.
//!
//! Names alone are not enough. An agent without a tool for reading runs `sed -n '1,200p' src/main.rs` instead, so a
//! command that only shows a file counts as a read, and one that only searches as a search. Anything more complex stays a
//! command: a wrong subject is worse than none.
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
//! The input is scanned once and leniently; only the few members that matter are decoded, and of a long command only its
//! beginning. The input of tools whose class is all that matters is not read. An unknown subject is [`About::Nothing`].

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
use input::SubjectInput;
use tool::ToolKind;

/// What a tool call is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The class of work.
    pub class: ToolClass,
    /// What it works on.
    pub about: About,
}

/// What a tool call works on, as far as it is known.
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

    /// How many files of one call are kept. A call with more is about none of them in particular.
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

    /// This command, shortened if it is long; nothing if it is blank.
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

/// Finds what a tool call is about.
///
/// `input` is the raw JSON of the call's input: an object; a string that holds an object, as in OpenAI's `arguments`;
/// or a string of free text such as a patch, a script or a command line. `cwd` is the directory that relative paths
/// start from, unless the call itself names another.
pub fn subject(tool: &str, input: &str, cwd: Option<&str>) -> Subject {
    let tool = ToolKind::named(tool);
    if let ToolKind::Only(class) = tool {
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

/// The subject of a call whose input is an object; `None` if it is not an object.
fn structured(tool: ToolKind, input: &str, cwd: Option<&str>) -> Option<Subject> {
    let input: SubjectInput<'_> = fields::object(input).ok()??;
    Some(match tool {
        ToolKind::Only(class) => Subject::new(class, About::Nothing),
        ToolKind::Read => Subject::new(ToolClass::Read, input.read(cwd)),
        // Some editors can also show a file.
        ToolKind::Edit if input.is_view() => Subject::new(ToolClass::Read, input.read(cwd)),
        ToolKind::Edit => Subject::new(ToolClass::Edit, input.edited(cwd)),
        ToolKind::Shell | ToolKind::Script | ToolKind::Action => input.ran(cwd),
    })
}

/// The subject of a call whose input is text.
fn text(tool: ToolKind, raw: &str, cwd: Option<&str>) -> Subject {
    match tool {
        ToolKind::Only(_) | ToolKind::Read => Subject::new(tool.class(), About::Nothing),
        ToolKind::Edit => Subject::new(ToolClass::Edit, patch::about(patch::escaped(raw), cwd)),
        ToolKind::Script => script::judge(raw, cwd),
        ToolKind::Shell | ToolKind::Action => {
            let line = input::beginning(raw);
            action::judge(&line, cwd).unwrap_or_else(|| command::judge_raw(raw, cwd))
        }
    }
}

#[cfg(test)]
mod tests;
