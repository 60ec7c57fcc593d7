//! The file: a tuned profile as it is written, with what was measured above it.
//!
//! A reader of the file should know in a year what it rests on. So the comment says what was compared, on which
//! sessions, at which prices and how sure the result is; also, and above all, if there is none.

use std::collections::BTreeMap;

use toml::Value;

use super::compare::{Claim, ComparedValue, TuningComparison};
use super::split::SplitUnit;
use super::{TuneOptions, Tuned};

/// How wide comments are.
const WIDTH: usize = 118;

/// The text of a tuned profile.
pub(super) fn text(tuned: &Tuned, options: &TuneOptions, prices: &BTreeMap<&str, usize>) -> String {
    let mut file = String::new();
    for paragraph in comment(tuned, options, prices) {
        if !file.is_empty() {
            file.push_str("#\n");
        }
        wrap(&mut file, &paragraph);
    }
    let text = |text: &str| Value::String(text.to_owned()).to_string();
    let about = about(tuned);
    file += &format!("name = {}\nabout = {}\nextends = \"balanced\"\n", text(&tuned.name), text(&about));
    if !tuned.is_written {
        return file;
    }
    let (ages, own): (Vec<_>, Vec<_>) =
        tuned.changes.iter().partition(|change| change.key.starts_with("rent.ages."));
    for (table, changes) in [("rent", own), ("rent.ages", ages)] {
        if !changes.is_empty() {
            file += &format!("\n[{table}]\n");
        }
        for change in changes {
            let key = change.key.rsplit('.').next().unwrap_or_default();
            file += &format!("{key} = {}\n", change.to);
        }
    }
    file
}

/// The profile in a sentence.
fn about(tuned: &Tuned) -> String {
    let TuningComparison { cost, misses, .. } = &tuned.held_out;
    match (tuned.claim, tuned.is_written) {
        (Claim::Cheaper, true) => format!(
            "balanced, tuned on recorded sessions: {:+.2} points of the bill on sessions held out",
            cost.difference
        ),
        (Claim::Safer, true) => format!(
            "balanced, tuned on recorded sessions: {:+.2} misses per 100 calls on sessions held out",
            misses.difference
        ),
        (_, true) => "balanced, tuned on recorded sessions; no gain over balanced was shown".to_owned(),
        (_, false) => "balanced, unchanged: tuning on recorded sessions showed no gain".to_owned(),
    }
}

/// The paragraphs of the comment.
fn comment(tuned: &Tuned, options: &TuneOptions, prices: &BTreeMap<&str, usize>) -> Vec<String> {
    let date = options.date.as_deref().map(|date| format!(", {date}")).unwrap_or_default();
    let verdict = verdict(tuned);
    let judged = match tuned.together {
        SplitUnit::Projects => {
            format!("That is on {}, which were not used for the search.", extent(&tuned.held_out))
        }
        SplitUnit::Sessions => format!(
            "That is on {}, which were not used for the search. There were too few projects to hold out whole ones: \
             these sessions are of the same projects, so for other projects this says less.",
            extent(&tuned.held_out)
        ),
    };
    let searched = format!(
        "Search: {} settings were tried on {}, with at most {:.2} misses per 100 calls. There the best of them costs \
         {:.1} % of the bill without pruning, balanced {:.1} %, with {:.2} misses per 100 calls against {:.2}. That \
         flatters: it was picked for these sessions.",
        tuned.trials,
        extent(&tuned.training),
        tuned.most_misses,
        tuned.training.cost.tuned,
        tuned.training.cost.balanced,
        tuned.training.misses.tuned,
        tuned.training.misses.balanced,
    );
    let sheets: Vec<String> = prices.iter().map(|(name, count)| format!("{name} ({count})")).collect();
    let as_billed =
        if options.study.sheet.is_none() { "as the sessions were billed" } else { "as asked for" };
    let window = options.study.window.map_or_else(
        || "sessions are never compacted".to_owned(),
        |window| format!("sessions are compacted in a window of {window} tokens"),
    );
    let terms = format!(
        "Terms: price sheets {as_billed}, with the number of sessions: {}; {window}; what is missed is read again and \
         paid for. What the agent did is taken as recorded.",
        sheets.join(", ")
    );
    let title = format!("Made by tuning `balanced` on recorded sessions{date}.");
    [title, format!("{verdict} {judged} {}", fate(tuned)), searched, terms]
        .into_iter()
        .map(|text| plain(&text))
        .collect()
}

/// What may be said.
fn verdict(tuned: &Tuned) -> String {
    let TuningComparison { cost, misses, unseen, .. } = &tuned.held_out;
    let bill = format!(
        "{:+.2} points of the bill without pruning (95 % interval {}): {:.1} % against {:.1} %",
        cost.difference,
        interval(cost),
        cost.tuned,
        cost.balanced
    );
    let is_above = tuned.claim != Claim::Traded && misses.difference > tuned.allowed;
    let missed = format!(
        "Misses per 100 calls: {:.2} against {:.2}, a difference of {:+.2} (95 % interval {}).{}",
        misses.tuned,
        misses.balanced,
        misses.difference,
        interval(misses),
        if is_above { " That is more than was allowed, though it may be chance." } else { "" }
    );
    let shortened = if unseen.tuned > unseen.balanced {
        format!(
            " Results that are shortened before any call has seen them, per 100 calls: {:.1} against {:.1}; a replay \
             sees only in part what that does.",
            unseen.tuned, unseen.balanced
        )
    } else {
        String::new()
    };
    match tuned.claim {
        Claim::Cheaper => format!(
            "Measured gain over balanced: {:.2} points of the bill without pruning (95 % interval {:.2} … {:.2}): \
             {:.1} % against {:.1} %. {missed}{shortened}",
            -cost.difference, -cost.interval.1, -cost.interval.0, cost.tuned, cost.balanced
        ),
        Claim::Safer => {
            format!("Measured: fewer misses than balanced. {missed} The bill differs by {bill}.{shortened}")
        }
        Claim::Traded => format!(
            "No gain over balanced: the bill differs by {bill}, but it misses more than was allowed. {missed}{shortened}"
        ),
        Claim::NotShown => {
            format!("No gain over balanced could be shown: the difference is {bill}. {missed}{shortened}")
        }
        Claim::Unchanged => format!(
            "No gain over balanced could be shown: the search found nothing better. \
             Its bill: {:.1} % of that without pruning. Misses per 100 calls: {:.2}.",
            cost.balanced, misses.balanced
        ),
    }
}

/// What became of the settings if nothing may be said for them.
fn fate(tuned: &Tuned) -> String {
    let found: Vec<String> =
        tuned.changes.iter().map(|change| format!("{} = {}", change.key, change.to)).collect();
    match tuned.claim {
        Claim::Cheaper | Claim::Safer => String::new(),
        _ if tuned.is_written => "The settings below were kept because that was asked for.".to_owned(),
        Claim::Unchanged => "So this is balanced, unchanged.".to_owned(),
        _ => format!("So this is balanced, unchanged. The search preferred: {}.", found.join(", ")),
    }
}

/// How much a comparison rests on.
fn extent(comparison: &TuningComparison) -> String {
    let TuningComparison { sessions, projects, calls, .. } = comparison;
    let plural = if projects.len() == 1 { "" } else { "s" };
    format!("{sessions} sessions ({calls} calls) of {} project{plural}", projects.len())
}

/// An interval of differences, with signs.
fn interval(value: &ComparedValue) -> String {
    let (low, high) = value.interval;
    format!("{low:+.2} … {high:+.2}")
}

/// A text without anything that could end a comment.
fn plain(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Appends a text as lines of a comment.
fn wrap(file: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.len() > 1 && line.chars().count() + 1 + word.chars().count() > WIDTH {
            file.push_str(&line);
            file.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    file.push_str(&line);
    file.push('\n');
}
