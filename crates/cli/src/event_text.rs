//! What happened in a session, in sentences.

use secateur::Occasion;
use secateur::session::{CompactionFailure, Event, Means, Trigger};

use crate::humanize::{counted, grouped};

/// An event as a sentence without its full stop.
pub(crate) fn sentence(event: &Event) -> String {
    match event {
        Event::Overflow { trigger, tokens, usable } => {
            let about = about(*tokens);
            let room = if *usable > 0 { format!("; {} are usable", number(*usable)) } else { String::new() };
            match trigger {
                Trigger::Refusal => {
                    format!("overflow: the provider refused the request as too long ({about} tokens{room})")
                }
                Trigger::Usage => format!("overflow: the model was given {} tokens{room}", number(*tokens)),
                _ => format!("overflow: the next request would have {about} tokens{room}"),
            }
        }
        Event::Pruned { occasion, cuts, before, after, .. } => {
            let why = match occasion {
                Occasion::Arrival => "shortened",
                Occasion::Emergency => "cut, as nothing else helped,",
                _ => "pruned",
            };
            format!("{why} {}: {}", counted((*cuts).into(), "tool result"), change(*before, *after))
        }
        Event::CompactionStarted { means, messages, tokens, background, .. } => {
            let whom = match means {
                Means::Model => "asked a model for a summary",
                Means::Digest => "began a digest",
            };
            let meanwhile = if *background { ", while the conversation goes on" } else { "" };
            let what = counted((*messages).into(), "message");
            format!("{whom} of {what}, {} tokens{meanwhile}", about(*tokens))
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
            format!("no summary by the model at attempt {attempt}: {}", failure(why))
        }
        Event::CompactionFailed { why, .. } => format!("no digest: {}", failure(why)),
        Event::CompactionRefused { why } => format!("not compacted: {}", failure(why)),
        Event::BreakerOpened { failures } => {
            format!("the model failed {failures} times in a row and is left alone for a while")
        }
        Event::BreakerClosed => "the model writes summaries again".to_owned(),
        Event::Undone { operation } => format!("undid operation {operation}"),
        Event::Redone { operation } => format!("did operation {operation} again"),
        Event::Forgotten { messages, bytes } => {
            format!("forgot the originals of {}, {}", counted(*messages, "message"), counted(*bytes, "byte"))
        }
        other => serde_json::to_string(other).unwrap_or_else(|_| "something unknown".to_owned()),
    }
}

/// Sentences for all events but those that say only that something else is about to be said.
pub(crate) fn sentences(events: &[Event]) -> impl Iterator<Item = String> {
    events.iter().filter(|event| !matches!(event, Event::CompactionStarted { .. })).map(sentence)
}

/// Why there is no summary.
fn failure(why: &CompactionFailure) -> String {
    match why {
        CompactionFailure::Vetoed => "a hook does not want it".to_owned(),
        CompactionFailure::NothingToSummarise => "there is nothing that could be summarised".to_owned(),
        CompactionFailure::Model { message } => message.clone(),
        CompactionFailure::Flawed { message } => format!("it did not pass a check: {message}"),
        CompactionFailure::NoProgress { before, after, .. } => {
            format!("it would not save enough ({})", change(*before, *after))
        }
        CompactionFailure::Cancelled => "somebody else compacts it".to_owned(),
        other => serde_json::to_string(other).unwrap_or_else(|_| "for an unknown reason".to_owned()),
    }
}

/// A number of tokens, which is never below zero in earnest.
pub(crate) fn number(tokens: i64) -> String {
    grouped(u64::try_from(tokens).unwrap_or(0))
}

fn about(tokens: i64) -> String {
    format!("about {}", number(tokens))
}

fn change(before: i64, after: i64) -> String {
    format!("about {} → {} tokens", number(before), number(after))
}
