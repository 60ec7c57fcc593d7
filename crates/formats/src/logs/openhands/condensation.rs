//! A condensation: events are forgotten, and a summary is inserted among the others.
//!
//! The log names the forgotten events, and the place of the summary as a number of remaining events. A message leaves the
//! context when all of its events are forgotten: the calls of one response are several events and one message.

use std::collections::{HashMap, HashSet};

use secateur::{MessageFacts, MessageIx, PartKind, Role};

use crate::draft::TranscriptDraft;
use crate::json::{OptionalRaw, Raw};

/// The events that are still in the context.
#[derive(Default)]
pub(super) struct OpenHandsAlive<'a> {
    /// Each with its id and its message, in the order of the log.
    events: Vec<(Option<&'a str>, MessageIx)>,
    /// The summary of the forgotten events.
    summary: Option<MessageIx>,
}

pub(super) struct OpenHandsCondensed<'a> {
    /// The ids of the events that leave, as they are spelled.
    pub forgotten: HashSet<&'a str>,
    /// The first and the last number of the events that leave.
    pub between: Option<(i64, i64)>,
    pub summary: Option<Raw<'a>>,
    pub offset: Option<Raw<'a>>,
    pub time: Option<i64>,
}

impl<'a> OpenHandsAlive<'a> {
    /// Adds an event of this message.
    pub(super) fn push(&mut self, id: Option<&'a str>, message: MessageIx) {
        self.events.push((id, message));
    }

    /// Takes the forgotten events out of the context.
    pub(super) fn condense(&mut self, draft: &mut TranscriptDraft<'_>, condensed: &OpenHandsCondensed<'_>) {
        let is_forgotten = |id: Option<&str>| {
            id.is_some_and(|id| {
                let number = id.parse::<i64>().ok();
                let is_between = condensed
                    .between
                    .zip(number)
                    .is_some_and(|((first, last), id)| (first..=last).contains(&id));
                is_between || condensed.forgotten.contains(id)
            })
        };
        let mut left: HashMap<MessageIx, usize> = HashMap::new();
        for &(id, message) in &self.events {
            *left.entry(message).or_default() += usize::from(!is_forgotten(id));
        }
        self.events.retain(|&(id, _)| !is_forgotten(id));

        let summary = condensed.summary.if_string();
        let offset = condensed.offset.integer().and_then(|offset| usize::try_from(offset).ok());
        let place = offset.and_then(|offset| self.events.get(offset)).map(|&(_, message)| message);
        let facts = MessageFacts {
            role: Role::User,
            summary: summary.is_some(),
            time: condensed.time,
            place: place.filter(|_| summary.is_some()),
            ..MessageFacts::default()
        };
        let message = draft.push_message(facts);
        draft.push_compaction();
        for (gone, _) in left.into_iter().filter(|&(_, events)| events == 0) {
            draft.outline.retire(gone, message);
        }
        if summary.is_some() {
            draft.push_text(PartKind::Text, summary);
            if let Some(earlier) = self.summary.replace(message) {
                draft.outline.retire(earlier, message);
            }
        }
    }
}
