//! The tree that the records of a log form, and which of its messages are alive.
//!
//! Every record names its parent, also those that the model never sees, so the ancestry of the newest message leads
//! through all of them. Whoever is not on that way was left behind when the user went back, but for one thing: the
//! results of parallel calls hang side by side off the lines that called, and the conversation goes on from one of
//! them only. A result lives as long as its call does.

use std::collections::{HashMap, HashSet};

use secateur::{Kind, MessageIx, Name, Outline, PartIx};
use xxhash_rust::xxh3::xxh3_128;

/// A record's id, by its hash: ids are long, and there are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id(u128);

impl Id {
    /// The id that a literal spells.
    pub(super) fn of(literal: &str) -> Self {
        Self(xxh3_128(literal.as_bytes()))
    }
}

/// Whom a record follows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parent {
    /// Nobody: it begins a conversation.
    Nobody,
    /// The record with this id; if there is none, the message before.
    Record(Id),
    /// It does not say: the message before.
    Unknown,
}

/// Where a message is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chain {
    /// In the conversation.
    Main,
    /// In that of a sub-agent, which the main model never sees.
    Side,
}

#[derive(Default)]
pub(super) struct Tree {
    nodes: HashMap<Id, Node>,
    lines: Vec<Line>,
    /// The newest line of the conversation.
    newest: Option<Id>,
    /// How many records came without an id.
    nameless: u128,
}

struct Node {
    parent: Parent,
    /// The newest line of the conversation when it was written.
    before: Option<Id>,
    message: Option<MessageIx>,
}

/// A record that is a message, or a part of one.
struct Line {
    id: Id,
    message: MessageIx,
    chain: Chain,
    /// The conversation can end here. It does not end with a mark: its summary is still missing.
    is_end: bool,
}

/// A compaction: its mark, and what it left in the context.
pub(super) struct Boundary {
    pub mark: MessageIx,
    pub kept: Vec<MessageIx>,
}

impl Tree {
    /// Takes a record that is no message.
    pub(super) fn pass(&mut self, id: Option<Id>, parent: Parent) -> Id {
        self.nameless += u128::from(id.is_none());
        let id = id.unwrap_or(Id(self.nameless));
        self.nodes.insert(id, Node { parent, before: self.newest, message: None });
        id
    }

    /// Takes a record that is a message, or a part of one.
    pub(super) fn speak(&mut self, id: Option<Id>, parent: Parent, chain: Chain, message: MessageIx) {
        let id = self.enter(id, parent, message);
        if chain == Chain::Main {
            self.newest = Some(id);
        }
        self.lines.push(Line { id, message, chain, is_end: true });
    }

    /// Takes the mark of a compaction.
    pub(super) fn mark(&mut self, id: Option<Id>, parent: Parent, message: MessageIx) {
        let id = self.enter(id, parent, message);
        self.lines.push(Line { id, message, chain: Chain::Main, is_end: false });
    }

    fn enter(&mut self, id: Option<Id>, parent: Parent, message: MessageIx) -> Id {
        let id = self.pass(id, parent);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.message = Some(message);
        }
        id
    }

    /// The message that a record belongs to.
    pub(super) fn message(&self, id: Id) -> Option<MessageIx> {
        self.nodes.get(&id)?.message
    }

    fn parent(&self, id: Id) -> Option<Id> {
        let node = self.nodes.get(&id)?;
        match node.parent {
            Parent::Nobody => None,
            Parent::Record(parent) if self.nodes.contains_key(&parent) => Some(parent),
            Parent::Record(_) | Parent::Unknown => node.before,
        }
    }

    /// A record and those that it follows, newest first, as far back as they are known.
    fn ancestry(&self, id: Id) -> impl Iterator<Item = Id> {
        // Records that follow each other in a circle are followed once.
        let mut seen = HashSet::new();
        let all = std::iter::successors(Some(id), |&id| self.parent(id));
        all.take_while(move |&id| seen.insert(id))
    }

    /// The messages from one record back to another.
    pub(super) fn segment(&self, head: Id, tail: Id) -> Vec<MessageIx> {
        let mut is_over = false;
        let segment = self.ancestry(tail).take_while(|&id| !std::mem::replace(&mut is_over, id == head));
        segment.filter_map(|id| self.message(id)).collect()
    }

    /// Retires what the model no longer sees. `renamed` says which message a message has become.
    pub(super) fn retire(
        &self,
        outline: &mut Outline,
        boundaries: &[Boundary],
        renamed: impl Fn(MessageIx) -> MessageIx,
    ) {
        // A log of nothing but a sub-agent is a conversation, too.
        let has_main = self.lines.iter().any(|line| line.chain == Chain::Main && line.is_end);
        let is_aside = |line: &Line| has_main && line.chain == Chain::Side;
        let Some(end) = self.lines.iter().rfind(|line| line.is_end && !is_aside(line)) else { return };
        let active: HashSet<Id> = self.ancestry(end.id).collect();
        let mut alive = HashSet::new();
        let mut aside = HashSet::new();
        for line in &self.lines {
            if active.contains(&line.id) {
                alive.insert(renamed(line.message));
            } else if is_aside(line) {
                aside.insert(renamed(line.message));
            }
        }
        keep_answers(outline, &mut alive, outline.messages());
        let mut next = None;
        for message in outline.messages().rev() {
            if alive.contains(&message) {
                next = Some(message);
            } else {
                let at = next.filter(|_| !aside.contains(&message));
                outline.retire(message, at.unwrap_or(message));
            }
        }
        let mut before: Vec<MessageIx> = Vec::new();
        let mut from = 0;
        for Boundary { mark, kept } in boundaries {
            let mark = renamed(*mark);
            if !alive.contains(&mark) {
                continue;
            }
            before.extend((from..mark.0).map(MessageIx));
            from = from.max(mark.0);
            let mut kept: HashSet<MessageIx> = kept.iter().map(|&message| renamed(message)).collect();
            keep_answers(outline, &mut kept, before.iter().copied());
            before.retain(|&message| {
                let is_kept = kept.contains(&message);
                if !is_kept {
                    outline.retire(message, mark);
                }
                is_kept
            });
        }
    }
}

/// Adds the messages that answer calls of those that are kept.
fn keep_answers(
    outline: &Outline,
    kept: &mut HashSet<MessageIx>,
    candidates: impl Iterator<Item = MessageIx>,
) {
    if kept.is_empty() {
        return;
    }
    let named = |message: MessageIx, kind: Kind| {
        let parts = outline.parts_of(message).map(PartIx).filter(move |&part| outline.kind(part) == kind);
        parts.map(|part| outline.call(part)).filter(|call| call.is_some())
    };
    let calls: HashSet<Name> = kept.iter().flat_map(|&message| named(message, Kind::Call)).collect();
    let is_answer = |message: &MessageIx| named(*message, Kind::Result).any(|call| calls.contains(&call));
    kept.extend(candidates.filter(is_answer));
}
