//! The subject of a command line.
//!
//! Only simple commands are recognised: a pipeline that shows a file, a command that searches, an edit in place, a patch.
//! A preceding change of directory and an enclosing shell are removed first. Any other command is its own subject.

use secateur::{LineRange, ToolClass};

use super::words::{ShellToken, Word, WordSpelling, Words, pipeline};
use super::{About, Subject, input, patch, path, read};

/// The subject of a command line in a JSON string. Only its beginning is decoded.
pub(super) fn judge_raw(raw: &str, cwd: Option<&str>) -> Subject {
    let line = input::beginning(raw);
    let mut subject = judge(&line, cwd);
    // A long patch continues behind the part that was decoded.
    if subject.class == ToolClass::Edit && patch::is_in(&line) {
        let (_, directory) = entered(&line, cwd);
        let about = patch::about(patch::escaped(raw), directory.as_deref().or(cwd));
        if about != About::Nothing {
            subject.about = about;
        }
    }
    subject
}

/// The subject of a command given as a list of words.
///
/// Some agents list commands instead of words. A list whose elements all contain a blank is a list of commands.
pub(super) fn judge_words<T: AsRef<str>>(words: &[T], cwd: Option<&str>) -> Subject {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match *words {
        [] => judge("", cwd),
        [line] => judge(line, cwd),
        [shell, .., flag, line] if is_shell(shell) && runs_text(flag) => judge(line, cwd),
        ["apply_patch" | "applypatch", patch] => {
            Subject::new(ToolClass::Edit, patch::about(patch::plain(patch), cwd))
        }
        _ if words.iter().all(|word| word.trim().contains(' ')) => judge(&words.join("\n"), cwd),
        _ => judge(&words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "), cwd),
    }
}

/// The subject of a command line.
pub(super) fn judge(line: &str, cwd: Option<&str>) -> Subject {
    let unwrapped = unwrapped(line.trim());
    let line = unwrapped.as_deref().unwrap_or(line).trim();
    let (rest, directory) = entered(line, cwd);
    plain(rest, directory.as_deref().or(cwd), line)
        .unwrap_or_else(|| Subject::new(ToolClass::Shell, About::command(line)))
}

/// The command inside `bash -lc '…'`, if that is all there is.
fn unwrapped(line: &str) -> Option<String> {
    let mut inner: Option<String> = None;
    // More levels of shells do not occur.
    for _ in 0..3 {
        let line = inner.as_deref().unwrap_or(line);
        if !is_shell(line.split([' ', '\t']).next()?) {
            break;
        }
        let stages = pipeline(line)?;
        let [words] = &*stages else { break };
        let (command, flags) = words.split_last()?;
        let [_, flags @ ..] = flags else { break };
        let runs = flags.last().is_some_and(|flag| runs_text(&flag.text));
        if !runs || !flags.iter().all(|flag| flag.text.starts_with('-')) {
            break;
        }
        inner = Some(command.text.trim().to_owned());
    }
    inner
}

fn is_shell(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("bash" | "sh" | "zsh" | "dash"))
}

/// Whether a shell with this option runs the text that follows.
fn runs_text(flag: &str) -> bool {
    flag.starts_with('-') && flag.ends_with('c')
}

/// What follows `cd …&&`, and the directory that it is run in; the whole line if it does not begin so.
fn entered<'a>(line: &'a str, cwd: Option<&str>) -> (&'a str, Option<String>) {
    let step = || {
        let mut words = Words { rest: line.strip_prefix("cd").filter(|rest| rest.starts_with([' ', '\t']))? };
        let Some(ShellToken::Word(to)) = words.next() else { return None };
        let directory = path::directory(to.literal()?, cwd);
        (words.next()? == ShellToken::Then).then_some((words.rest.trim_start(), directory))
    };
    step().unwrap_or((line, None))
}

/// The subject of a simple command; `whole` is the line that it was found in.
fn plain(command: &str, cwd: Option<&str>, whole: &str) -> Option<Subject> {
    let program = command.split(|letter: char| letter.is_whitespace() || letter == '<').next()?;
    match program {
        "apply_patch" | "applypatch" if patch::is_in(command) => {
            return Some(Subject::new(ToolClass::Edit, patch::about(patch::plain(command), cwd)));
        }
        "cat" | "nl" | "head" | "tail" | "sed" => {}
        _ if SEARCHES.contains(&program) || program == "git" => {}
        // Most commands end here, before they are split into words.
        _ => return None,
    }
    let stages = pipeline(command)?;
    if let Some(about) = read::shown(&stages, cwd) {
        return Some(Subject::new(ToolClass::Read, about));
    }
    let [words] = &*stages else { return None };
    if let Some(files) = edited_in_place(words) {
        let literal: Option<Vec<String>> =
            files.iter().map(|file| file.literal().and_then(|file| path::normal(file, cwd))).collect();
        let about =
            literal.map_or_else(|| About::command(whole), |paths| About::files(paths, LineRange::ALL));
        return Some(Subject::new(ToolClass::Edit, about));
    }
    searches(words).then(|| Subject::new(ToolClass::Search, About::command(whole)))
}

/// Programs that look for files or for text.
const SEARCHES: [&str; 11] =
    ["rg", "grep", "egrep", "fgrep", "find", "fd", "fdfind", "ls", "tree", "ag", "ack"];

/// Whether a command does nothing but search.
fn searches(words: &[Word]) -> bool {
    if words.iter().any(|word| word.spelling == WordSpelling::Substitution) {
        return false;
    }
    let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
    match *texts {
        ["git", "grep" | "ls-files", ..] | ["git", "--no-pager", "grep" | "ls-files", ..] => true,
        ["git", "-C", _, "grep" | "ls-files", ..] => true,
        // These two can run or delete what they find.
        ["find", ref rest @ ..] => !rest.iter().any(|word| {
            ["-exec", "-ok", "-delete", "-fprint", "-fls"].iter().any(|act| word.starts_with(act))
        }),
        ["fd" | "fdfind", ref rest @ ..] => {
            !rest.iter().any(|word| matches!(*word, "-x" | "-X") || word.starts_with("--exec"))
        }
        [program, ..] => SEARCHES.contains(&program),
        [] => false,
    }
}

/// The files that `sed -i` changes.
fn edited_in_place(words: &[Word]) -> Option<&[Word]> {
    let (program, mut rest) = words.split_first()?;
    if program.text != "sed" {
        return None;
    }
    let (mut in_place, mut scripted) = (false, false);
    while let Some((option, others)) = rest.split_first().filter(|(word, _)| word.text.starts_with('-')) {
        rest = others;
        match &*option.text {
            "-e" | "-f" => {
                scripted = true;
                rest = rest.get(1..)?;
            }
            "-i" => {
                in_place = true;
                // Except on Linux, the suffix of the copy is a word of its own, and mostly empty.
                if rest.first().is_some_and(|suffix| suffix.text.is_empty()) {
                    rest = rest.get(1..)?;
                }
            }
            text if text.starts_with("--in-place") => in_place = true,
            text if !text.starts_with("--") => in_place |= text.contains('i'),
            _ => {}
        }
    }
    let files = if scripted { rest } else { rest.get(1..)? };
    (in_place && !files.is_empty()).then_some(files)
}

/// A word with the quotes that a shell needs.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,+@%~".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
