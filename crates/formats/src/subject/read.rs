//! Commands that only show a file: `cat`, `nl`, `head`, `tail`, `sed -n`, alone or in a pipeline.
//!
//! The first command of such a pipeline names the file, each later one picks some of the lines that reach it.

use secateur::LineRange;

use super::words::Word;
use super::{About, path};

/// What a pipeline shows, if it does nothing else.
pub(super) fn shown(stages: &[Vec<Word>], cwd: Option<&str>) -> Option<About> {
    let (source, filters) = stages.split_first()?;
    let PipelineStage { files, pick } = stage(source)?;
    let mut lines = pick.of(LineRange::ALL);
    let paths: Option<Vec<_>> = files.into_iter().map(|file| path::normal(file, cwd)).collect();
    let paths = paths.filter(|paths| !paths.is_empty())?;
    for filter in filters {
        let PipelineStage { files, pick } = stage(filter)?;
        // A filter that names a file ignores its input.
        if !files.is_empty() {
            return None;
        }
        lines = pick.of(lines);
    }
    Some(About::files(paths, lines))
}

/// One command: the files that it names, and the lines that it selects.
struct PipelineStage<'a> {
    files: Vec<&'a str>,
    pick: LineSelection,
}

/// The lines that a command selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineSelection {
    /// A range, counted from the first line of the input.
    Part(LineRange),
    /// This many lines at the end.
    Last(u32),
}

impl LineSelection {
    fn of(self, lines: LineRange) -> LineRange {
        match self {
            Self::Part(part) => lines.within(part),
            Self::Last(count) if lines.last == LineRange::END => {
                let end = LineRange::ending(count);
                LineRange { first: end.first.max(lines.first), ..end }
            }
            Self::Last(count) => {
                let first = (lines.last - count.min(lines.last)).saturating_add(1);
                LineRange { first: first.max(lines.first), ..lines }
            }
        }
    }
}

fn stage(words: &[Word]) -> Option<PipelineStage<'_>> {
    let words: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
    let words = words?;
    let (&program, arguments) = words.split_first()?;
    let (files, pick) = match program {
        "cat" => {
            (options(arguments, "", |option, _| option.strip_prefix('-').is_some_and(is_for_show))?, ALL)
        }
        "nl" => (options(arguments, "bdfhilnsvw", |option, _| !option.starts_with("--"))?, ALL),
        "head" | "tail" => counted(program, arguments)?,
        "sed" => printed(arguments)?,
        _ => return None,
    };
    let files: Vec<&str> = files;
    (!files.contains(&"-")).then_some(PipelineStage { files, pick })
}

const ALL: LineSelection = LineSelection::Part(LineRange::ALL);

/// Whether options of `cat` change only how a line looks.
fn is_for_show(letters: &str) -> bool {
    letters.bytes().all(|letter| b"AbeEnstTuv".contains(&letter)) || letters == "-number"
}

/// The words that are not options. `valued` are the letters of options that take the next word as value if they end
/// theirs; `accept` gets each option with its value and returns whether it is known.
fn options<'a>(
    arguments: &[&'a str],
    valued: &str,
    mut accept: impl FnMut(&'a str, Option<&'a str>) -> bool,
) -> Option<Vec<&'a str>> {
    let mut files = Vec::new();
    let mut rest = arguments.iter().copied();
    while let Some(word) = rest.next() {
        if word == "--" {
            files.extend(rest);
            break;
        }
        if !word.starts_with('-') || word == "-" {
            files.push(word);
            continue;
        }
        let alone = word.len() == 2 && word.chars().nth(1).is_some_and(|letter| valued.contains(letter));
        let value = if alone { Some(rest.next()?) } else { None };
        if !accept(word, value) {
            return None;
        }
    }
    Some(files)
}

/// `head` and `tail`, with a number of lines in any of its spellings.
fn counted<'a>(program: &str, arguments: &[&'a str]) -> Option<(Vec<&'a str>, LineSelection)> {
    let mut count = "10";
    let files = options(arguments, "n", |option, value| {
        let given = value
            .or_else(|| option.strip_prefix("--lines="))
            .or_else(|| option.strip_prefix("-n"))
            .or_else(|| option.strip_prefix('-'));
        count = given.unwrap_or(count);
        option == "-q" || given.is_some_and(|given| given.trim_start_matches('+').parse::<u32>().is_ok())
    });
    // `tail -n +5` begins with the fifth line.
    let from = count.strip_prefix('+').filter(|_| program == "tail");
    let pick = match (from, program) {
        (Some(from), _) => LineSelection::Part(LineRange::starting(from.parse().ok()?, None)),
        (None, "tail") => LineSelection::Last(count.parse().ok()?),
        _ => LineSelection::Part(LineRange::starting(1, Some(count.parse().ok()?))),
    };
    Some((files?, pick))
}

/// `sed` that prints one range of lines and nothing else.
fn printed<'a>(arguments: &[&'a str]) -> Option<(Vec<&'a str>, LineSelection)> {
    let mut script = None;
    let mut quiet = false;
    let mut files = options(arguments, "e", |option, value| {
        let silences = matches!(option, "-n" | "-nE" | "-En" | "-nr" | "--quiet" | "--silent" | "-ne");
        quiet |= silences;
        match option {
            "-e" => script.replace(value.unwrap_or_default()).is_none(),
            _ => silences || matches!(option, "-E" | "-r"),
        }
    })?;
    if script.is_none() && !files.is_empty() {
        script = Some(files.remove(0));
    }
    if !quiet {
        return None;
    }
    Some((files, LineSelection::Part(range(script?)?)))
}

/// The lines that a script prints: `10,20p`, `10,$p`, `10,+5p`, `10p`; a command to quit afterwards changes nothing.
fn range(script: &str) -> Option<LineRange> {
    let mut commands = script.split(';').map(str::trim).filter(|command| !command.is_empty());
    let print = commands.next()?.strip_suffix('p')?.trim_end();
    let (first, last) =
        print.split_once(',').map_or((print, print), |(first, last)| (first.trim(), last.trim()));
    let first: u32 = first.parse().ok()?;
    let last = match last.strip_prefix('+') {
        Some(more) => first.saturating_add(more.parse().ok()?),
        None if last == "$" => LineRange::END,
        None => last.parse().ok()?,
    };
    let quits = |command: &str| {
        let line = command.strip_suffix('q').map(|line| line.trim_matches(['{', '}']));
        line.and_then(|line| line.parse::<u32>().ok()).is_some_and(|line| line >= last)
    };
    // Of a range that ends before it begins, its first line is printed.
    commands.all(quits).then_some(LineRange { first: first.max(1), last: last.max(first).max(1) })
}
