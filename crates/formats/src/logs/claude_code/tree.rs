//! The tree that the records of a log form, and which of its messages are alive.
//!
//! Every record names its parent, also those that the model never sees, so the ancestry of the newest message includes
//! them. A message outside of that ancestry was abandoned when the user went back, with one exception: the results of
//! parallel calls are siblings, and the conversation continues from only one of them. A result is alive as long as its
//! call is.

use std::num::NonZeroU32;

use secateur::{MessageIx, Name, Outline, PartIx, PartKind};
use xxhash_rust::xxh3::xxh3_128;

use crate::json::{OptionalRaw, Raw};
use crate::tables::{Map, Set};

/// A record's id, by its hash: ids are long, and there are many.
///
/// Two 64-bit halves, because a 128-bit number would be padded in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RecordId(u64, u64);

impl RecordId {
    /// The id of a string literal.
    pub(super) fn of(literal: &str) -> Self {
        let hash = xxh3_128(literal.as_bytes());
        Self((hash >> 64) as u64, hash as u64)
    }

    /// The id that a member holds, if it is a string.
    pub(super) fn named(member: Option<Raw<'_>>) -> Option<Self> {
        member.if_string().map(|id| Self::of(id.text()))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ClaudeParent {
    /// None: it begins a conversation.
    Root,
    /// The record with this id; the previous message if there is no such record.
    Record(RecordId),
    /// Not given: the previous message.
    Unknown,
}

/// Which conversation a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaudeChain {
    Main,
    /// That of a sub-agent, which the main model never sees.
    Side,
}

/// Records by number. An id is looked up once, when a record names it; after that only numbers are used, which makes a
/// node four times smaller than one with ids, and needs no lookups between nodes.
#[derive(Default)]
pub(super) struct ClaudeTree {
    numbers: Map<RecordId, NodeNumber>,
    /// The last id that was found: mostly that of the next record's parent.
    latest: Option<(RecordId, NodeNumber)>,
    /// Every record that was mentioned; `None` if it was named as a parent and does not exist.
    nodes: Vec<Option<ClaudeNode>>,
    lines: Vec<ClaudeLine>,
    /// The newest line of the main conversation.
    newest: Option<NodeNumber>,
}

/// The position of a record among the nodes, counted from one.
type NodeNumber = NonZeroU32;

struct ClaudeNode {
    /// The record that it follows, if it names one.
    parent: Option<NodeNumber>,
    /// It begins a conversation.
    is_root: bool,
    /// The newest line of the conversation when it was written.
    before: Option<NodeNumber>,
    message: Option<MessageIx>,
}

/// A record that is a message, or a part of one.
struct ClaudeLine {
    record: NodeNumber,
    message: MessageIx,
    chain: ClaudeChain,
    /// Whether the conversation can end here. It cannot end with a mark, whose summary is still missing.
    is_end: bool,
}

/// A compaction: its mark, and what it left in the context.
pub(super) struct ClaudeBoundary {
    pub mark: MessageIx,
    pub kept: Vec<MessageIx>,
}

impl ClaudeTree {
    /// Adds a record that is not a message.
    pub(super) fn push(&mut self, id: Option<RecordId>, parent: ClaudeParent) {
        self.enter(id, parent, None);
    }

    /// Adds a record that is a message, or a part of one.
    pub(super) fn push_message(
        &mut self,
        id: Option<RecordId>,
        parent: ClaudeParent,
        chain: ClaudeChain,
        message: MessageIx,
    ) {
        let record = self.enter(id, parent, Some(message));
        if chain == ClaudeChain::Main {
            self.newest = Some(record);
        }
        self.lines.push(ClaudeLine { record, message, chain, is_end: true });
    }

    pub(super) fn push_mark(&mut self, id: Option<RecordId>, parent: ClaudeParent, message: MessageIx) {
        let record = self.enter(id, parent, Some(message));
        self.lines.push(ClaudeLine { record, message, chain: ClaudeChain::Main, is_end: false });
    }

    fn enter(
        &mut self,
        id: Option<RecordId>,
        parent: ClaudeParent,
        message: Option<MessageIx>,
    ) -> NodeNumber {
        let is_root = matches!(parent, ClaudeParent::Root);
        let parent = match parent {
            ClaudeParent::Record(parent) => Some(self.number(parent)),
            ClaudeParent::Root | ClaudeParent::Unknown => None,
        };
        let number = match id {
            Some(id) => self.number(id),
            None => self.add(),
        };
        let before = self.newest;
        if let Some(node) = self.nodes.get_mut(place(number)) {
            *node = Some(ClaudeNode { parent, is_root, before, message });
        }
        number
    }

    /// The number of the record with this id, which may not have been read yet.
    fn number(&mut self, id: RecordId) -> NodeNumber {
        if let Some((latest, number)) = self.latest
            && latest == id
        {
            return number;
        }
        let number = match self.numbers.get(&id) {
            Some(&number) => number,
            None => {
                let number = self.add();
                self.numbers.insert(id, number);
                number
            }
        };
        self.latest = Some((id, number));
        number
    }

    /// Adds an empty node.
    fn add(&mut self) -> NodeNumber {
        self.nodes.push(None);
        u32::try_from(self.nodes.len()).ok().and_then(NodeNumber::new).unwrap_or(NodeNumber::MAX)
    }

    fn node(&self, number: NodeNumber) -> Option<&ClaudeNode> {
        self.nodes.get(place(number))?.as_ref()
    }

    /// The message that a record belongs to.
    pub(super) fn message(&self, id: RecordId) -> Option<MessageIx> {
        self.node(*self.numbers.get(&id)?)?.message
    }

    fn parent(&self, number: NodeNumber) -> Option<NodeNumber> {
        let node = self.node(number)?;
        let named = node.parent.filter(|&parent| self.node(parent).is_some());
        if node.is_root { None } else { named.or(node.before) }
    }

    /// A record and its ancestors, newest first.
    fn ancestry(&self, number: NodeNumber) -> impl Iterator<Item = NodeNumber> {
        // A cycle of records is followed once.
        let mut seen = Set::default();
        let all = std::iter::successors(Some(number), |&number| self.parent(number));
        all.take_while(move |&number| seen.insert(number))
    }

    /// The messages from one record back to another.
    pub(super) fn segment(&self, head: RecordId, tail: RecordId) -> Vec<MessageIx> {
        let (head, tail) = (self.numbers.get(&head), self.numbers.get(&tail));
        let mut is_over = false;
        let all = tail.into_iter().flat_map(|&tail| self.ancestry(tail));
        let segment = all.take_while(|number| !std::mem::replace(&mut is_over, Some(number) == head));
        segment.filter_map(|number| self.node(number)?.message).collect()
    }

    /// Retires the messages that the model no longer sees. `renamed` gives the number that a message has now.
    pub(super) fn retire(
        &self,
        outline: &mut Outline,
        boundaries: &[ClaudeBoundary],
        renamed: impl Fn(MessageIx) -> MessageIx,
    ) {
        // A log of nothing but a sub-agent is a conversation as well.
        let has_main = self.lines.iter().any(|line| line.chain == ClaudeChain::Main && line.is_end);
        let is_aside = |line: &ClaudeLine| has_main && line.chain == ClaudeChain::Side;
        let Some(end) = self.lines.iter().rfind(|line| line.is_end && !is_aside(line)) else { return };
        let active: Set<NodeNumber> = self.ancestry(end.record).collect();
        let mut alive = Set::default();
        let mut aside = Set::default();
        for line in &self.lines {
            if active.contains(&line.record) {
                alive.insert(renamed(line.message));
            } else if is_aside(line) {
                aside.insert(renamed(line.message));
            }
        }
        keep_results(outline, &mut alive, outline.messages());
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
        for ClaudeBoundary { mark, kept } in boundaries {
            let mark = renamed(*mark);
            if !alive.contains(&mark) {
                continue;
            }
            before.extend((from..mark.0).map(MessageIx));
            from = from.max(mark.0);
            let mut kept: Set<MessageIx> = kept.iter().map(|&message| renamed(message)).collect();
            keep_results(outline, &mut kept, before.iter().copied());
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

fn place(number: NodeNumber) -> usize {
    number.get() as usize - 1
}

/// Adds the messages with results of calls in the kept messages.
fn keep_results(outline: &Outline, kept: &mut Set<MessageIx>, candidates: impl Iterator<Item = MessageIx>) {
    if kept.is_empty() {
        return;
    }
    let named = |message: MessageIx, kind: PartKind| {
        let parts = outline.parts_of(message).map(PartIx).filter(move |&part| outline.kind(part) == kind);
        parts.map(|part| outline.call(part)).filter(|call| call.is_some())
    };
    let calls: Set<Name> = kept.iter().flat_map(|&message| named(message, PartKind::Call)).collect();
    let is_answer = |message: &MessageIx| named(*message, PartKind::Result).any(|call| calls.contains(&call));
    kept.extend(candidates.filter(is_answer));
}
