//! Messages and events in words, one line each.

use secateur::session::{CompactionFailure, Event, LiveMessage};
use secateur::{Action, PartKind};
use serde::Serialize;

/// What a message is: what was said, or what a tool answered and what is left of it.
pub(crate) fn word_message(title: &str, row: &LiveMessage) -> String {
    let mut words = Vec::new();
    for (index, part) in row.facts.parts.iter().enumerate() {
        let (call, tool) = (part.call.as_deref().unwrap_or("?"), part.tool.as_deref().unwrap_or("?"));
        let units = part.sizes.units;
        let cut = row.cuts.iter().find(|cut| cut.part as usize == index && !cut.undone);
        words.push(match (part.kind, cut.map(|cut| cut.action)) {
            (PartKind::Call, _) => format!("{call} calls {tool}"),
            (PartKind::Result, None) => format!("{call} result of {tool}, {units} chars"),
            (PartKind::Result, Some(Action::Trim { head, tail, .. })) => {
                format!("{call} result of {tool}, trimmed to {head} + {tail} of {units} chars")
            }
            (PartKind::Result, Some(_)) => format!("{call} result of {tool}, cleared"),
            _ if title.is_empty() => continue,
            _ if title.starts_with('<') => format!("{title} {units} chars"),
            _ => format!("{title:?} {units} chars"),
        });
    }
    words.join(", ")
}

/// What happened.
pub(crate) fn word_event(event: &Event) -> String {
    match event {
        Event::Overflow { trigger, tokens, usable } => {
            format!("overflow by {}: {tokens} of {usable} tokens", name(trigger))
        }
        Event::Pruned { occasion, cuts, before, after, .. } => {
            format!("pruned at {}: {cuts} results, {before} to {after} tokens", name(occasion))
        }
        Event::CompactionStarted { trigger, means, messages, background, .. } => {
            let ahead = if *background { " in the background" } else { "" };
            format!("compaction by {} of {messages} messages, {}{ahead}", name(trigger), name(means))
        }
        Event::CompactionCompleted { means, before, after, .. } => {
            format!("compacted by {}: {before} to {after} tokens", name(means))
        }
        Event::CompactionFailed { means, attempt, why, .. } => {
            format!("failed by {}, attempt {attempt}: {}", name(means), word_failure(why))
        }
        Event::CompactionRefused { why } => format!("compaction given up: {}", word_failure(why)),
        Event::CompactionWaits { operation } => {
            format!("no compaction after operation {operation} was undone")
        }
        Event::BreakerOpened { failures } => format!("breaker opened after {failures} failures"),
        Event::BreakerClosed => "breaker closed".into(),
        other => format!("{other:?}"),
    }
}

fn word_failure(why: &CompactionFailure) -> String {
    match why {
        CompactionFailure::Model { message } | CompactionFailure::Flawed { message } => message.clone(),
        CompactionFailure::NoProgress { before, after, limit } => {
            format!("no progress, {before} to {after} tokens, at most {limit} wanted")
        }
        other => name(other),
    }
}

/// The name under which a value is stored.
pub(crate) fn name(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("values of the session are serialisable");
    let name = value.get("kind").unwrap_or(&value);
    name.as_str().unwrap_or("?").to_owned()
}
