//! Events of a session as sentences.

use secateur::Occasion;
use secateur::session::{CompactionFailure, Event, Means, Trigger};

use crate::humanize::{counted, grouped};

/// An event as a sentence without a full stop.
pub(crate) fn sentence(event: &Event) -> String {
    match event {
        Event::Overflow { trigger, tokens, usable } => {
            let about = about(*tokens);
            let room = if *usable > 0 { format!("; {} usable", number(*usable)) } else { String::new() };
            match trigger {
                Trigger::Refusal => {
                    format!("overflow: the provider rejected the request as too long ({about} tokens{room})")
                }
                Trigger::Usage => format!("overflow: the last request had {} tokens{room}", number(*tokens)),
                _ => format!("overflow: the next request would have {about} tokens{room}"),
            }
        }
        Event::Pruned { occasion, cuts, before, after, .. } => {
            let why = match occasion {
                Occasion::Arrival => "shortened",
                Occasion::Emergency => "cut as a last resort",
                Occasion::Refusal => {
                    "left out, because the provider refused thinking that is bound to other content"
                }
                _ => "pruned",
            };
            format!("{why} {}: {}", counted((*cuts).into(), "tool result"), change(*before, *after))
        }
        Event::CompactionStarted { means, messages, tokens, background, .. } => {
            let what = match means {
                Means::Model => "asked a model for a summary",
                Means::Digest => "started a digest",
            };
            let meanwhile = if *background { " in the background" } else { "" };
            let messages = counted((*messages).into(), "message");
            format!("{what} of {messages}, {} tokens{meanwhile}", about(*tokens))
        }
        Event::CompactionCompleted { means, messages, before, after, .. } => {
            let what = match means {
                Means::Model => "a summary",
                Means::Digest => "a digest",
            };
            let messages = counted((*messages).into(), "message");
            format!("compacted {messages} into {what}: {}", change(*before, *after))
        }
        Event::CompactionFailed { means: Means::Model, attempt, why, .. } => {
            format!("attempt {attempt}: the model wrote no usable summary: {}", failure(why))
        }
        Event::CompactionFailed { why, .. } => format!("no digest: {}", failure(why)),
        Event::CompactionRefused { why } => format!("not compacted: {}", failure(why)),
        Event::CompactionWaits { operation } => {
            format!("does not compact again after operation {operation} was undone, as long as requests fit")
        }
        Event::BreakerOpened { failures } => {
            format!("the model failed {failures} times in a row and is not asked for a while")
        }
        Event::BreakerClosed => "the model writes summaries again".to_owned(),
        Event::Undone { operation } => format!("undid operation {operation}"),
        Event::Redone { operation } => format!("redid operation {operation}"),
        Event::Forgotten { messages, bytes } => {
            format!("forgot the originals of {}, {}", counted(*messages, "message"), counted(*bytes, "byte"))
        }
        other => serde_json::to_string(other).unwrap_or_else(|_| "unknown event".to_owned()),
    }
}

/// Sentences for all events except the start of a compaction, which is followed by its end.
pub(crate) fn sentences(events: &[Event]) -> impl Iterator<Item = String> {
    events.iter().filter(|event| !matches!(event, Event::CompactionStarted { .. })).map(sentence)
}

fn failure(why: &CompactionFailure) -> String {
    match why {
        CompactionFailure::Vetoed => "a hook refused it".to_owned(),
        CompactionFailure::NothingToSummarise => "there is nothing to summarise".to_owned(),
        CompactionFailure::NoSummariser => {
            "there is no summariser, and the profile makes no digest".to_owned()
        }
        CompactionFailure::Model { message } => message.clone(),
        CompactionFailure::Flawed { message } => format!("the summary failed a check: {message}"),
        CompactionFailure::NoProgress { before, after, .. } => {
            format!("the summary would not save enough ({})", change(*before, *after))
        }
        CompactionFailure::Cancelled => "another process is compacting the session".to_owned(),
        CompactionFailure::BoundThinking => {
            "the turn that is still going on has thinking that is valid only behind what would be summarised"
                .to_owned()
        }
        other => serde_json::to_string(other).unwrap_or_else(|_| "unknown reason".to_owned()),
    }
}

/// A number of tokens; 0 if it is negative.
pub(crate) fn number(tokens: i64) -> String {
    grouped(u64::try_from(tokens).unwrap_or(0))
}

fn about(tokens: i64) -> String {
    format!("about {}", number(tokens))
}

fn change(before: i64, after: i64) -> String {
    format!("about {} → {} tokens", number(before), number(after))
}
