//! Commands of an agent that acts by lines of text, as SWE-agent does.
//!
//! Such a line is a command for the agent's own file viewer (`open "src/a.rs" 10`, `edit 3:7` with the new text on the
//! lines below it) or one for a shell. The viewer knows which file is open; a single line does not show that.

use secateur::{LineRange, ToolClass};

use super::words::{ShellToken, Words};
use super::{About, Subject, path};

/// How many lines the viewer shows.
const WINDOW: u32 = 100;

/// The subject of a line, if it is a command of the viewer.
pub(super) fn judge(line: &str, cwd: Option<&str>) -> Option<Subject> {
    let first = line.trim().lines().next()?;
    let mut words = Words { rest: first }.map_while(|token| match token {
        ShellToken::Word(word) => Some(word.text),
        _ => None,
    });
    let file = |path: Option<String>, lines| {
        path.and_then(|path| path::normal(&path, cwd))
            .map_or(About::Nothing, |path| About::File { path, lines })
    };
    let program = words.next()?;
    Some(match &*program {
        "open" => {
            let path = words.next();
            let line = words.next().and_then(|line| line.parse().ok()).unwrap_or(1);
            Subject::new(ToolClass::Read, file(path, window(line)))
        }
        "goto" | "scroll_up" | "scroll_down" | "set_cursors" => Subject::new(ToolClass::Read, About::Nothing),
        "create" => Subject::new(ToolClass::Edit, file(words.next(), LineRange::ALL)),
        "edit" | "insert" | "append" => Subject::new(ToolClass::Edit, About::Nothing),
        "find_file" | "search_dir" | "search_file" => Subject::new(ToolClass::Search, About::command(first)),
        "str_replace_editor" => {
            let (command, path) = (words.next(), words.next());
            if command.as_deref() != Some("view") {
                return Some(Subject::new(ToolClass::Edit, file(path, LineRange::ALL)));
            }
            let mut range =
                words.skip_while(|word| word != "--view_range").skip(1).map(|word| word.parse().ok());
            let lines = match (range.next().flatten(), range.next().flatten()) {
                (Some(first), Some(last)) if first <= last => LineRange { first, last },
                (Some(first), _) => LineRange::starting(first, None),
                (None, _) => LineRange::ALL,
            };
            Subject::new(ToolClass::Read, file(path, lines))
        }
        "submit" | "exit_cost" | "exit_context" => Subject::new(ToolClass::Other, About::Nothing),
        _ => return None,
    })
}

/// The lines that the viewer shows around one.
pub(super) fn window(line: u32) -> LineRange {
    LineRange::starting(line.saturating_sub(WINDOW / 2).max(1), Some(WINDOW))
}
