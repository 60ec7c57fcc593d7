//! Append-only chats: one record a line.

use std::collections::{HashMap, HashSet};

use secateur::MessageIx;
use serde::de::MapAccess;

use super::{GeminiCliHead, GeminiCliMessage, describe, take};
use crate::document::read_lines;
use crate::draft::TranscriptDraft;
use crate::json::fields::MemberValue;
use crate::json::{Each, Fields, Object, Raw};

/// Reads the lines. Of each message the last version counts, at the place of the first.
pub(super) fn read<'a>(draft: &mut TranscriptDraft<'_>, text: &'a str) {
    let records = read_lines::<GeminiCliRecord<'a>>(text, &mut draft.warnings);
    let mut chat = GeminiCliChat::default();
    for record in records.into_iter().flatten() {
        // A line `$set` changes the description, or replaces the messages.
        let change = record.change.and_then(Raw::object::<GeminiCliRecord<'a>>);
        let record = match change {
            Some(change) => GeminiCliRecord { head: change.head, replaced: change.replaced, ..record },
            None => record,
        };
        describe(draft, &record.head);
        chat.record(record);
    }
    chat.write(draft);
}

#[derive(Default)]
struct GeminiCliChat<'a> {
    /// Every message, in its last version.
    messages: Vec<GeminiCliMessage<'a>>,
    /// The index of the message with an id, by the literal of the id; without abandoned messages.
    ids: HashMap<&'a str, usize>,
    /// How many messages there were when each of these was abandoned.
    abandoned: HashMap<usize, usize>,
    /// The messages of the context, in order.
    current: Vec<usize>,
    /// The same messages as a set.
    is_current: HashSet<usize>,
}

impl<'a> GeminiCliChat<'a> {
    fn record(&mut self, record: GeminiCliRecord<'a>) {
        if let Some(id) = record.rewind {
            // Going back to an unknown message abandons everything.
            let known = self.ids.get(id.text()).copied();
            let from = known.and_then(|known| self.current.iter().rposition(|&at| at == known)).unwrap_or(0);
            for index in self.current.split_off(from) {
                self.abandon(index);
            }
        }
        if let Some(messages) = record.replaced {
            let before = std::mem::take(&mut self.current);
            self.is_current.clear();
            for message in messages {
                self.add(message);
            }
            for index in before {
                if !self.is_current.contains(&index) {
                    self.abandon(index);
                }
            }
        }
        if record.message.kind.is_some() {
            self.add(record.message);
        }
    }

    fn add(&mut self, message: GeminiCliMessage<'a>) {
        let id = message.id.map(Raw::text);
        let known = id.and_then(|id| self.ids.get(id).copied());
        let index = known.unwrap_or(self.messages.len());
        match self.messages.get_mut(index) {
            Some(earlier) => *earlier = message,
            None => self.messages.push(message),
        }
        if let Some(id) = id {
            self.ids.insert(id, index);
        }
        // A new version keeps the place of the old one.
        if self.is_current.insert(index) {
            self.current.push(index);
        }
    }

    fn abandon(&mut self, index: usize) {
        self.is_current.remove(&index);
        self.abandoned.insert(index, self.messages.len());
        if let Some(id) = self.messages.get(index).and_then(|message| message.id) {
            self.ids.remove(id.text());
        }
    }

    /// Adds the messages, and retires those that were abandoned.
    fn write(&self, draft: &mut TranscriptDraft<'_>) {
        let written: Vec<(MessageIx, Option<MessageIx>)> = self
            .messages
            .iter()
            .map(|message| {
                let next = MessageIx(draft.outline.message_count() as u32);
                (next, take(draft, message))
            })
            .collect();
        let Some(last) = draft.outline.messages().next_back() else { return };
        for (&index, &at) in &self.abandoned {
            if let Some(&(_, Some(message))) = written.get(index) {
                draft.outline.retire(message, written.get(at).map_or(last, |&(next, _)| next.min(last)));
            }
        }
    }
}

/// A line: a message, a change of the chat's description, or a step back.
#[derive(Default)]
struct GeminiCliRecord<'a> {
    head: GeminiCliHead<'a>,
    message: GeminiCliMessage<'a>,
    rewind: Option<Raw<'a>>,
    change: Option<Raw<'a>>,
    replaced: Option<Vec<GeminiCliMessage<'a>>>,
}

impl<'a> Fields<'a> for GeminiCliRecord<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "sessionId" | "summary" | "directories" => self.head.field(key, map),
            "$rewindTo" => self.rewind.fill(map),
            "$set" => self.change.fill(map),
            "messages" => {
                let messages = self.replaced.insert(Vec::new());
                map.next_value_seed(Each::new(|Object(message)| messages.extend(message))).map(drop)
            }
            _ => self.message.field(key, map),
        }
    }
}
