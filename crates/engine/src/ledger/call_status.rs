//! How a tool call ended, judged by its result.
//!
//! Some formats mark a result as an error; two of the four wires cannot. In every format, exit codes are in the text,
//! in the first lines or in the last one, depending on the agent. What looks like an exit code in the middle of an
//! output was printed by another program and is ignored.

use std::sync::LazyLock;

use regex::Regex;
use secateur::{Outline, PLACEHOLDER, PartIx, ToolClass};
use serde::{Deserialize, Serialize};

use super::clean_text::{clean, cut};
use super::text_ends::TextEnds;

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CallStatus {
    /// Unknown.
    #[default]
    Unknown,
    /// Without a visible error.
    Fine,
    /// With an error.
    Failed,
    /// With this exit code.
    Exit(i64),
}

impl CallStatus {
    /// Whether it ended badly.
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Failed) || matches!(self, Self::Exit(code) if code != 0)
    }

    /// The status of a result. A result whose text was cut has only what its format says.
    pub(super) fn of(outline: &Outline, part: PartIx, ends: &TextEnds<'_>) -> Self {
        let is_shell = outline.class(part) == ToolClass::Shell;
        let failed = outline.is_failure(part);
        let is_gone = outline.is_cut(part) || outline.is_placeholder(part) || ends.head.trim() == PLACEHOLDER;
        match exit_code(ends).filter(|_| is_shell && !is_gone) {
            Some(code) if code != 0 || !failed => Self::Exit(code),
            _ if failed || !is_shell && !is_gone && says_error(ends) => Self::Failed,
            _ if is_shell && is_gone => Self::Unknown,
            _ => Self::Fine,
        }
    }
}

/// How agents begin the result of a tool that failed. Only believed in short results: a file or a page may begin with
/// anything.
const COMPLAINTS: [&str; 17] = [
    "<tool_use_error>",
    "error:",
    "error -",
    "failed to ",
    "could not find",
    "file not found",
    "file does not exist",
    "no such file",
    "path does not exist",
    "permission denied",
    "permission to use",
    "the user doesn't want to proceed",
    "tool execution failed",
    "apply_patch verification failed",
    "string to replace not found",
    "enoent",
    "eisdir",
];

fn says_error(ends: &TextEnds<'_>) -> bool {
    const LONGEST: usize = 2_000;
    let text = ends.head.trim_start();
    let text = ["<error>", "["].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    ends.tail.is_none()
        && text.len() <= LONGEST
        && COMPLAINTS
            .iter()
            .any(|mark| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark)))
}

/// Whether a result says that nothing was tried.
pub(super) fn was_skipped(ends: &TextEnds<'_>) -> bool {
    ends.head.trim_start().starts_with("Skipped due to queued user message")
}

/// Whether a result says that a file does not exist.
pub(super) fn is_absent(ends: &TextEnds<'_>) -> bool {
    const WORDS: [&str; 5] = ["does not exist", "not found", "no such file", "enoent", "cannot find"];
    let start = header(&ends.head).to_ascii_lowercase();
    WORDS.iter().any(|words| start.contains(words))
}

/// The name that a tool gives to a command that it left running.
pub(super) fn running(ends: &TextEnds<'_>) -> Option<String> {
    const MARKS: [&str; 3] = [
        "Process running with session ID ",
        "Command running in background with ID: ",
        "running with session id ",
    ];
    let start = header(&ends.head);
    let name = MARKS.iter().find_map(|mark| Some(start.split_once(mark)?.1))?;
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_');
    Some(name.get(..end.unwrap_or(name.len()))?.to_owned())
        .filter(|name| !name.is_empty() && name.len() <= 64)
}

/// What a user said instead of allowing a call.
pub(super) fn objection(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("The user doesn't want to proceed with this tool use.")?;
    let (_, said) = rest.split_once("the user said:\n")?;
    Some(said.trim()).filter(|said| !said.is_empty())
}

static IN_HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?mi)^(?:error: )?(?:process exited with code|exit code):? (-?[0-9]{1,10})\s*$").ok()
});
static IN_LAST_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let subject = r"(?:command|process|shell|<shellid: \S+|completed|returncode|exit)";
    let code = r"(?:(?:exited|failed|finished|completed) with )?(?:exit )?(?:code|status)";
    Regex::new(&format!(r"(?i)^[\[(<]*(?:{subject} )?{code}[:=]? (-?[0-9]{{1,10}})[.\])>]*$")).ok()
});
static IN_JSON: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""(?:exit_code|exitCode)"\s*:\s*(-?[0-9]{1,10})"#).ok());

/// The exit code in the result of a shell.
fn exit_code(ends: &TextEnds<'_>) -> Option<i64> {
    let code = |regex: &LazyLock<Option<Regex>>, text: &str| -> Option<i64> {
        regex.as_ref()?.captures(text)?.get(1)?.as_str().parse().ok()
    };
    let end = ends.end().trim_end();
    // A result wrapped in JSON has it after the output.
    if ends.head.starts_with('{') && end.ends_with('}') {
        let at = end.rfind("\"metadata\"").or_else(|| end.rfind("\"exit"));
        if let Some(found) = at.and_then(|at| code(&IN_JSON, end.get(at..)?)) {
            return Some(found);
        }
    }
    let last = || code(&IN_LAST_LINE, end.lines().next_back()?.trim());
    code(&IN_HEAD, header(&ends.head)).or_else(last)
}

/// The lines before the output itself: a few that some agents write, or at least the first one.
fn header(text: &str) -> &str {
    const HEADER: usize = 400;
    let start = text.get(..text.floor_char_boundary(HEADER)).unwrap_or_default();
    let end = output_start(start).or_else(|| start.find('\n')).unwrap_or(start.len());
    start.get(..end).unwrap_or_default()
}

/// Where the line is that ends such a header.
fn output_start(text: &str) -> Option<usize> {
    text.find("\nOutput:")
        .filter(|_| ["Chunk ID", "Exit code", "Wall time"].iter().any(|mark| text.starts_with(mark)))
}

/// How many lines of an error are kept: from its beginning, from its end, and of those in between that look like
/// errors.
const LINES: (usize, usize, usize) = (2, 3, 3);
/// The longest line of an error. Compilers and tests keep theirs shorter.
const LONGEST_LINE: usize = 160;

/// The most informative lines of a failed result: the first, the last, and in between those that look like errors.
pub(super) fn error_lines(ends: &TextEnds<'_>, redact: &dyn Fn(&str) -> String) -> String {
    let head = ends.head.as_ref();
    let head = output_start(head).and_then(|at| head.get(at + "\nOutput:".len()..)).unwrap_or(head);
    let head = head.trim().trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    let whole = clean(&redact(&clean(head)));
    let rest = ends.tail.as_deref().map(|tail| clean(&redact(&clean(tail)))).unwrap_or_default();
    let mut lines: Vec<&str> = whole.lines().chain(rest.lines().skip(1)).map(str::trim_end).collect();
    lines.retain(|line| !line.trim().is_empty() && exit_line(line).is_none());
    let (first, last, between) = LINES;
    let behind = lines.len().saturating_sub(last);
    let middle = first..behind.max(first);
    let mut telling: Vec<usize> =
        middle.filter(|&at| lines.get(at).is_some_and(|line| is_bad(line))).collect();
    telling.truncate(between);
    let chosen = (0..first.min(behind)).chain(telling).chain(behind..lines.len());
    let mut kept = String::new();
    let mut next = 0;
    for at in chosen {
        let Some(line) = lines.get(at) else { continue };
        for piece in [(at > next).then_some("…"), Some(&*cut(line, LONGEST_LINE))].into_iter().flatten() {
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(piece);
        }
        next = at + 1;
    }
    kept
}

/// A line with nothing but the exit code, which is kept as a number.
fn exit_line(line: &str) -> Option<()> {
    let is_there =
        |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_some_and(|regex| regex.is_match(line.trim()));
    (is_there(&IN_HEAD) || is_there(&IN_LAST_LINE)).then_some(())
}

/// Whether a text mentions errors, as far as it was read.
pub(super) fn sounds_bad(ends: &TextEnds<'_>) -> bool {
    ends.head.lines().chain(ends.end().lines()).any(is_bad)
}

fn is_bad(line: &str) -> bool {
    const WORDS: [&str; 9] =
        ["error", "fail", "panic", "exception", "fatal", "not found", "denied", "cannot", "undefined"];
    let line = line.to_ascii_lowercase();
    let is_denied = ["0 fail", "0 error", "no error", "without error", "0 warnings"]
        .iter()
        .any(|words| line.contains(words));
    !is_denied && WORDS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<i64> {
        exit_code(&TextEnds { head: text.into(), tail: None })
    }

    #[test]
    fn an_exit_code_is_found_where_agents_put_it() {
        assert_eq!(code("Exit code 127\n(eval):1: no such file"), Some(127));
        assert_eq!(
            code("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno"),
            Some(1)
        );
        assert_eq!(code("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 3\nmore"), Some(0));
        assert_eq!(code("out\n\n\nCommand exited with code 2"), Some(2));
        assert_eq!(code("out\n\n(Command exited with code 1)"), Some(1));
        assert_eq!(code("out\n<shellId: 12 completed with exit code 0>"), Some(0));
        assert_eq!(code("out\n[exit code: -1]"), Some(-1));
        assert_eq!(
            code(r#"{"output":"Exit code: 7","metadata":{"exit_code":2,"duration_seconds":0.1}}"#),
            Some(2)
        );
    }

    #[test]
    fn an_exit_code_that_was_printed_by_somebody_else_is_none() {
        assert_eq!(code("first\nExit code: 1\nlast"), None);
        assert_eq!(code("docs say it ends with exit code 3"), None);
        assert_eq!(code(""), None);
    }

    #[test]
    fn an_excerpt_keeps_the_ends_and_what_sounds_like_an_error() {
        let noise: Vec<String> = (0..50).map(|n| format!("compiling {n}")).collect();
        let text =
            format!("Exit code 1\nstart\n{}\nerror[E1]: no\n{}\nend", noise.join("\n"), noise.join("\n"));
        let ends = TextEnds { head: text.into(), tail: None };
        let kept = error_lines(&ends, &|text| text.to_owned());
        insta::assert_snapshot!(kept, @r"
        start
        compiling 0
        …
        error[E1]: no
        …
        compiling 48
        compiling 49
        end
        ");
    }

    #[test]
    fn words_that_came_with_a_refusal_are_the_users() {
        let text = "The user doesn't want to proceed with this tool use. It was rejected. To tell you how to \
                    proceed, the user said:\nwait, first the tests";
        assert_eq!(objection(text), Some("wait, first the tests"));
        assert_eq!(objection("the user said:\nhello"), None);
    }
}
