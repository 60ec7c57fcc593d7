//! Scripts that call tools.
//!
//! One agent runs a few lines of JavaScript in which its other tools are functions:
//! `text(await tools.exec_command({cmd: "cat a.rs"}))`. If a script runs a single command, spelled as one string, it is
//! about that command; if it applies a patch, about the files of the patch. Other scripts are known by their first
//! line.

use std::borrow::Cow;

use secateur::ToolClass;

use super::{About, Subject, command, input, patch, path};
use crate::json::string;

/// The subject of a script in a JSON string.
pub(super) fn judge(raw: &str, cwd: Option<&str>) -> Subject {
    let text = input::beginning(raw);
    if !["tools.", "await ", "=>", "exec_command("].iter().any(|sign| text.contains(sign)) {
        // Not a script, but a command line.
        return command::judge_raw(raw, cwd);
    }
    if patch::is_in(&text) {
        let about = patch::about(patch::plain(&unescaped(&text)), cwd);
        return Subject::new(ToolClass::Edit, about);
    }
    if let Some(line) = only(&text, &["cmd", "command"]) {
        let directory = only(&text, &["workdir", "cwd"]).and_then(|spelled| path::directory(&spelled, cwd));
        return command::judge(&line, directory.as_deref().or(cwd));
    }
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"));
    Subject::new(ToolClass::Shell, About::command(first.unwrap_or_default()))
}

/// A patch may be in a literal of its own, with escaped line breaks.
fn unescaped(text: &str) -> Cow<'_, str> {
    if text.contains("Patch\\n") { Cow::Owned(text.replace("\\n", "\n")) } else { Cow::Borrowed(text) }
}

/// The value of a member that is mentioned once, by any of its names, and is a simple literal.
fn only<'a>(script: &'a str, names: &[&str]) -> Option<Cow<'a, str>> {
    let mut values = names.iter().flat_map(|name| {
        script.match_indices(name).filter_map(|(at, name)| {
            let before = script.get(..at)?.trim_end_matches(['"', '\'']);
            let behind = script.get(at + name.len()..)?.trim_start_matches(['"', '\'']).trim_start();
            before
                .ends_with([' ', '{', ',', '\n', '\t', '('])
                .then_some(behind.strip_prefix(':')?.trim_start())
        })
    });
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    literal(value)
}

/// The literal at the beginning of the text, if it depends on nothing else.
fn literal(text: &str) -> Option<Cow<'_, str>> {
    let quote = text.chars().next().filter(|quote| "\"'`".contains(*quote))?;
    let body = text.get(1..)?;
    let mut guarded = false;
    let end = body.find(|letter| {
        let ends = letter == quote && !guarded;
        guarded = letter == '\\' && !guarded;
        ends
    })?;
    let behind = body.get(end + 1..)?.trim_start();
    let body = body.get(..end)?;
    if !behind.starts_with([',', '}', ')']) || (quote == '`' && body.contains("${")) {
        return None;
    }
    Some(match (body.contains('\\'), quote) {
        (false, _) => Cow::Borrowed(body),
        (true, '"') => Cow::Owned(string::decode(text.get(..end + 2)?).into_owned()),
        // In other quotes, the double quote is not escaped, and theirs is escaped in a way that JSON does not have.
        (true, _) => {
            let bare = body.replace("\\'", "'").replace("\\`", "`").replace('"', "\\\"");
            Cow::Owned(string::decode(&format!("\"{bare}\"")).into_owned())
        }
    })
}
