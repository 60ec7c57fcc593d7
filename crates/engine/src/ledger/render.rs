//! Renders a ledger as text: its sections in a fixed order, within a budget.
//!
//! First each section gets a share of the budget, so that a long one does not starve the others. The rest goes to the
//! sections in the order of their importance: the user's words and open errors before files that were only read.
//! Importance differs from the order of appearance: the text reads like a record, from the first request to the last
//! response.

use super::activity::{CommandActivity, FileActivity, OpenError, ToolAction, UseCount};
use super::call_status::CallStatus;
use super::clean_text::one_line;
use super::identifier::Identifier;
use super::section::{ListEnd, Overlong, Section, item, quoted};
use super::todo_list::{TodoList, TodoState};
use super::user_words::UserWords;
use super::{HEADER, Ledger};

/// Below this budget the header would take too large a share.
const ROOM_FOR_HEADER: usize = 1_000;

/// The heading of earlier summaries, and what they get of the budget before all else, in percent.
const EARLIER: &str = "Earlier summaries";
const SUMMARY_PERCENT: usize = 30;

/// The headings of all sections, in their order.
#[cfg(test)]
pub(super) fn headings() -> impl Iterator<Item = &'static str> {
    section_shares(&Ledger::default()).into_iter().map(|share| share.section.heading)
}

/// A section, its first share of the budget in percent, and its rank for more.
struct SectionShare {
    section: Section,
    percent: usize,
    rank: u8,
}

impl Ledger {
    /// Renders the ledger in at most `budget` bytes. The same ledger and budget always give the same text. If not
    /// everything fits, the least important sections shrink first and the oldest entries are dropped first; pinned
    /// texts, the user's words and open errors come last. A budget of zero gives an empty text.
    pub fn render(&self, budget: usize) -> String {
        if budget < ROOM_FOR_HEADER {
            return self.sections(budget);
        }
        let sections = self.sections(budget - HEADER.len() - "\n\n".len());
        if sections.is_empty() { sections } else { format!("{HEADER}\n\n{sections}") }
    }

    /// The same without the first line, for texts that have it already.
    pub(crate) fn sections(&self, budget: usize) -> String {
        let mut shares = section_shares(self);
        shares.retain(|share| !share.section.entries.is_empty());
        // The first section begins without its empty line.
        let room = if budget > 0 { budget + 1 } else { 0 };
        // An earlier summary is the only record of its time: the other sections share what it leaves.
        let is_summary = |share: &SectionShare| share.section.heading == EARLIER;
        let kept = if shares.iter().any(is_summary) { room / 100 * SUMMARY_PERCENT } else { 0 };
        let fitted = |share: SectionShare| {
            let most = if is_summary(&share) { kept } else { (room - kept) / 100 * share.percent };
            (share.section.fit(most), share)
        };
        let mut shown: Vec<(String, SectionShare)> = shares.into_iter().map(fitted).collect();
        let mut left = room - shown.iter().map(|(text, _)| text.len()).sum::<usize>();
        let mut order: Vec<_> = shown.iter_mut().collect();
        order.sort_by_key(|(_, share)| share.rank);
        for (text, share) in order {
            let larger = share.section.fit(text.len() + left);
            if larger.len() > text.len() {
                left -= larger.len() - text.len();
                *text = larger;
            }
        }
        let text: String = shown.into_iter().map(|(text, _)| text).collect();
        text.strip_prefix('\n').unwrap_or(&text).to_owned()
    }
}

fn section_shares(ledger: &Ledger) -> Vec<SectionShare> {
    let place = |heading, percent, rank, long, dropped, entries| SectionShare {
        section: Section { heading, entries, dear: ListEnd::Last, dropped, long },
        percent,
        rank,
    };
    let first_dear = |mut place: SectionShare| {
        place.section.dear = ListEnd::First;
        place
    };
    let said = |first: bool| -> Vec<String> {
        let said = ledger.said.iter().filter(|said| said.first == first);
        said.map(spoken).collect()
    };
    let pins = ledger.pinned.iter().map(|pin| quoted(&pin.0, "- ")).collect();
    let summaries = ledger.summaries.iter().map(|summary| quoted(&summary.0, "- ")).collect();
    let errors = ledger.errors.iter().map(failure).collect();
    let changed: Vec<&FileActivity> = ledger.files.iter().filter(|file| file.changes > 0).collect();
    let read: Vec<&FileActivity> = ledger.files.iter().filter(|file| file.changes == 0).collect();
    let todos = if ledger.todos.items().next().is_some() { &ledger.todos } else { &ledger.boxes };
    let uses = |uses: &super::BoundedList<UseCount>| uses.iter().map(used).collect();
    let words = &ledger.last_words;
    let words = if words.is_empty() { Vec::new() } else { vec![quoted(words, "- ")] };
    vec![
        place("Pinned by the user", 20, 0, Overlong::Cut, ledger.pinned.dropped(), pins),
        place(EARLIER, 0, 2, Overlong::Cut, ledger.summaries.dropped(), summaries),
        place("What the user asked first", 14, 2, Overlong::Cut, 0, said(true)),
        place(
            "What the user said later, oldest first",
            22,
            1,
            Overlong::Cut,
            ledger.said.dropped(),
            said(false),
        ),
        place("Errors that were still open", 14, 3, Overlong::Cut, ledger.errors.dropped(), errors),
        first_dear(place("What was to do", 6, 4, Overlong::Omit, 0, tasks(todos))),
        place("Files changed, newest last", 8, 5, Overlong::Omit, 0, files(&changed)),
        place("Files only read, newest last", 2, 9, Overlong::Omit, ledger.files.dropped(), files(&read)),
        place(
            "Commands, newest last",
            4,
            7,
            Overlong::Omit,
            ledger.commands.dropped(),
            ledger.commands.iter().map(command).collect(),
        ),
        place("Sub-agents", 1, 10, Overlong::Omit, ledger.agents.dropped(), uses(&ledger.agents)),
        place("Web pages and searches", 1, 11, Overlong::Omit, ledger.pages.dropped(), uses(&ledger.pages)),
        place("Other tools", 1, 12, Overlong::Omit, ledger.tools.dropped(), uses(&ledger.tools)),
        first_dear(place("Exact names", 2, 8, Overlong::Omit, 0, names(ledger))),
        place("What the assistant said last", 5, 6, Overlong::Cut, 0, words),
    ]
}

/// A number of times, in words where there is one.
fn times(count: u32) -> String {
    match count {
        0 | 1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

fn spoken(said: &UserWords) -> String {
    let after = one_line(&said.after);
    match after.is_empty() {
        true => quoted(&said.text, "- "),
        false => format!("- to \u{201c}{after}\u{201d}:\n{}", quoted(&said.text, "  ")),
    }
}

fn failure(failure: &OpenError) -> String {
    let what = match failure.deed {
        ToolAction::Run => "run of",
        ToolAction::Change => "change of",
        ToolAction::Read => "read of",
        ToolAction::Use => "use of",
    };
    let exit = match failure.outcome {
        CallStatus::Exit(code) => format!("exit {code}: "),
        _ => String::new(),
    };
    let mut entry = item(&format!("{exit}{what} {}", failure.subject));
    if !failure.text.trim().is_empty() {
        entry.push_str(&quoted(&failure.text, "  "));
    }
    entry
}

/// The todo list; finished items come last, since they are dropped first.
fn tasks(todos: &TodoList) -> Vec<String> {
    let named = |state: TodoState, name: &'static str| {
        let items = todos.items().filter(move |task| task.state == state);
        items.map(move |task| item(&format!("{name}: {}", task.text)))
    };
    let over =
        todos.items().filter(|task| matches!(task.state, TodoState::Done | TodoState::Dropped)).count();
    if over > 1 && over == todos.items().count() {
        let last = todos.items().last().map_or("", |task| &task.text);
        return vec![item(&format!("all {over} points were done or given up; the last was: {last}"))];
    }
    let open = named(TodoState::Doing, "in progress").chain(named(TodoState::Open, "open"));
    open.chain(named(TodoState::Done, "done")).chain(named(TodoState::Dropped, "given up")).collect()
}

fn command(command: &CommandActivity) -> String {
    let ended = match command.outcome {
        CallStatus::Unknown | CallStatus::Fine => "ran".to_owned(),
        CallStatus::Failed => "failed".to_owned(),
        CallStatus::Exit(code) => format!("exit {code}"),
    };
    match command.runs {
        0 | 1 => item(&format!("{ended}: {}", command.text)),
        runs => item(&format!("{ended} ({}): {}", times(runs), command.text)),
    }
}

fn used(used: &UseCount) -> String {
    match used.times {
        0 | 1 => item(&used.text),
        count => item(&format!("{}: {}", times(count), used.text)),
    }
}

/// Files as entries; their common folder is named once.
fn files(files: &[&FileActivity]) -> Vec<String> {
    let root = root(files);
    let mut entries: Vec<String> = files
        .iter()
        .map(|file| {
            let path = one_line(&file.path);
            let path = root.and_then(|root| path.strip_prefix(root)).unwrap_or(&path);
            let lines = match file.lines.filter(|_| file.changes == 0) {
                Some((first, secateur::LineRange::END)) => Some(format!("last from line {first}")),
                Some((first, last)) => Some(format!("last lines {first}–{last}")),
                None => None,
            };
            let count = match (file.changes, file.reads) {
                (0, reads @ 2..) => Some(format!("read {}", times(reads))),
                (changes @ 2.., _) => Some(format!("changed {}", times(changes))),
                _ => None,
            };
            let facts = [count, lines].into_iter().flatten().collect::<Vec<_>>().join(", ");
            if facts.is_empty() { format!("- {path}\n") } else { format!("- {path} ({facts})\n") }
        })
        .collect();
    // The newest entry is dropped last, so the common folder is named there.
    if let (Some(root), Some(last)) = (root, entries.last_mut()) {
        last.push_str(&format!("  (relative paths lie in {})\n", one_line(root)));
    }
    entries
}

/// The folder that shortens the list most if it is named only once. None if some paths are relative, because it would
/// be unclear to what.
fn root<'a>(files: &[&'a FileActivity]) -> Option<&'a str> {
    /// The cost of the line that names it.
    const COST: usize = 28;
    if !files.iter().all(|file| file.path.starts_with('/')) {
        return None;
    }
    let mut best = (0, None);
    for file in files {
        for (at, _) in file.path.match_indices('/').skip(1) {
            let folder = file.path.get(..=at)?;
            let inside = files.iter().filter(|other| other.path.starts_with(folder)).count();
            let saved = (folder.len() * inside).saturating_sub(folder.len() + COST);
            if saved > best.0 {
                best = (saved, Some(folder));
            }
        }
    }
    best.1
}

/// The names mentioned most, of these the newest first.
fn names(ledger: &Ledger) -> Vec<String> {
    let mut names: Vec<&Identifier> = ledger.identifiers.iter().rev().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.mentions));
    names.truncate(Identifier::SHOWN);
    names.iter().map(|name| item(&name.text)).collect()
}
