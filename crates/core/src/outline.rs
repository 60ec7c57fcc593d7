//! The outline: facts about a conversation, without its text.
//!
//! Three tables that only grow: *messages*, *parts* of messages, *model calls*. The facts about parts lie in columns of
//! small numbers, so that a policy that scans a million parts reads a few bytes of each. Tool names and ids are
//! [interned](Names).
//!
//! A tool call and its result are two parts that share a call id, even where the source has them in one record. So
//! policies treat results of all systems alike.
//!
//! ```
//! use secateur::{PartKind, MessageFacts, Outline, PartFacts, Role, Sizes, ToolStatus};
//!
//! let mut outline = Outline::default();
//! outline.push_message(MessageFacts { role: Role::Assistant, ..Default::default() });
//! let part = outline.push_part(PartFacts {
//!     kind: PartKind::Result,
//!     status: ToolStatus::Completed,
//!     tool: Some("bash"),
//!     sizes: Sizes { units: 1200, ..Default::default() },
//!     ..Default::default()
//! });
//! assert_eq!(outline.units(part), 1200);
//! assert_eq!(outline.tool(part), Some("bash"));
//! ```

use std::ops::Range;
use std::sync::Arc;

mod category;
mod facts;
mod life;
mod message;
mod model_calls;
mod part;
mod part_class;
mod part_flags;

pub use category::Category;
pub use facts::{MessageFacts, MessageIx, ModelCall, PartFacts, PartIx, PartKind, Role, ToolStatus};
pub use life::MessagePick;
use part_class::PartClass;
pub(crate) use part_flags::PartFlags;

use crate::line_range::LineRange;
use crate::measure::{Measures, Sizes};
use crate::names::{Name, Names};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessageRow {
    role: Role,
    summary: bool,
    finished: bool,
    failed: bool,
    marker: bool,
    id: Name,
    parent: Name,
    tail: Name,
    first_part: u32,
    time: Option<i64>,
    /// The message before which it stands in the context: itself, except for late summaries.
    place: u32,
    /// The first message whose context does not contain it any more.
    gone: u32,
}

/// Columns that are filled only if [`Measures`] asks for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Extra {
    js_json: Vec<u32>,
    py_json: Vec<u32>,
    weighted: Vec<u32>,
    wide: Vec<u32>,
    trimmed: Vec<u32>,
    excerpt: Vec<u32>,
    tokens: Vec<u32>,
    source: Vec<u64>,
}

/// Facts about a conversation, in three tables that only grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    measures: Measures,
    // Outlines that were selected from one another share names until one of them adds a name.
    tools: Arc<Names>,
    ids: Arc<Names>,
    subjects: Arc<Names>,
    messages: Vec<MessageRow>,
    users: Vec<MessageIx>,
    assistants: Vec<MessageIx>,
    /// The first message of each response.
    responses: Vec<MessageIx>,
    summaries: Vec<MessageIx>,
    flags: Vec<PartFlags>,
    classes: Vec<PartClass>,
    subject: Vec<Name>,
    lines: Vec<LineRange>,
    tool: Vec<Name>,
    call: Vec<Name>,
    owner: Vec<MessageIx>,
    units: Vec<u32>,
    points: Vec<u32>,
    bytes: Vec<u32>,
    blocks: Vec<u16>,
    images: Vec<u16>,
    extra: Extra,
    calls: Vec<ModelCall>,
}

/// The number of a name. The table is copied only if it is shared and lacks the name.
fn intern(names: &mut Arc<Names>, text: &str) -> Name {
    match Arc::get_mut(names) {
        Some(own) => own.intern(text),
        None => names.find(text).unwrap_or_else(|| Arc::make_mut(names).intern(text)),
    }
}

/// A size for a column; larger ones count as the largest that fits.
fn narrow(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

impl Outline {
    /// An empty outline with columns for these measures.
    pub fn new(measures: Measures) -> Self {
        Self { measures, ..Self::default() }
    }

    /// The measures that have columns.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Adds a message at the end; parts pushed from now on belong to it.
    pub fn push_message(&mut self, facts: MessageFacts<'_>) -> MessageIx {
        let mut intern = |id: Option<&str>| id.map_or(Name::NONE, |id| intern(&mut self.ids, id));
        let (id, parent, tail) = (intern(facts.id), intern(facts.parent), intern(facts.tail));
        self.push_row(MessageRow {
            role: facts.role,
            summary: facts.summary,
            finished: facts.finished,
            failed: facts.failed,
            marker: facts.marker,
            id,
            parent,
            tail,
            first_part: 0,
            time: facts.time,
            place: facts.place.map_or(u32::MAX, |place| place.0),
            gone: u32::MAX,
        })
    }

    fn push_row(&mut self, row: MessageRow) -> MessageIx {
        let index = MessageIx(narrow(self.messages.len() as u64));
        match row.role {
            Role::User => self.users.push(index),
            Role::Assistant => {
                self.assistants.push(index);
                if self.begins_response() {
                    self.responses.push(index);
                }
            }
            _ => {}
        }
        if row.summary {
            self.summaries.push(index);
        }
        let first_part = narrow(self.flags.len() as u64);
        self.messages.push(MessageRow { first_part, ..row });
        index
    }

    /// Adds a part to the newest message. If there is no message, one of unknown role is added first.
    pub fn push_part(&mut self, facts: PartFacts<'_>) -> PartIx {
        if self.messages.is_empty() {
            self.push_message(MessageFacts::default());
        }
        let index = PartIx(narrow(self.flags.len() as u64));
        let sizes = facts.sizes;
        self.flags.push(PartFlags::new(&facts));
        self.classes.push(PartClass::new(&facts));
        self.subject.push(facts.subject.map_or(Name::NONE, |subject| intern(&mut self.subjects, subject)));
        self.lines.push(facts.lines);
        self.tool.push(facts.tool.map_or(Name::NONE, |tool| intern(&mut self.tools, tool)));
        self.call.push(facts.call.map_or(Name::NONE, |call| intern(&mut self.ids, call)));
        self.owner.push(MessageIx(narrow(self.messages.len() as u64 - 1)));
        self.units.push(narrow(sizes.units));
        self.points.push(narrow(sizes.points));
        self.bytes.push(narrow(sizes.bytes));
        self.blocks.push(u16::try_from(sizes.blocks).unwrap_or(u16::MAX));
        self.images.push(u16::try_from(sizes.images).unwrap_or(u16::MAX));
        self.push_extra(sizes);
        index
    }

    /// Copies a part of another outline that has the same measures and names.
    fn copy_part(&mut self, from: &Outline, part: usize) {
        fn copy<T: Copy>(to: &mut Vec<T>, from: &[T], part: usize) {
            to.extend(from.get(part).copied());
        }
        copy(&mut self.flags, &from.flags, part);
        copy(&mut self.classes, &from.classes, part);
        copy(&mut self.subject, &from.subject, part);
        copy(&mut self.lines, &from.lines, part);
        copy(&mut self.tool, &from.tool, part);
        copy(&mut self.call, &from.call, part);
        self.owner.push(MessageIx(narrow(self.messages.len() as u64 - 1)));
        copy(&mut self.units, &from.units, part);
        copy(&mut self.points, &from.points, part);
        copy(&mut self.bytes, &from.bytes, part);
        copy(&mut self.blocks, &from.blocks, part);
        copy(&mut self.images, &from.images, part);
        copy(&mut self.extra.js_json, &from.extra.js_json, part);
        copy(&mut self.extra.py_json, &from.extra.py_json, part);
        copy(&mut self.extra.weighted, &from.extra.weighted, part);
        copy(&mut self.extra.wide, &from.extra.wide, part);
        copy(&mut self.extra.trimmed, &from.extra.trimmed, part);
        copy(&mut self.extra.excerpt, &from.extra.excerpt, part);
        copy(&mut self.extra.tokens, &from.extra.tokens, part);
        copy(&mut self.extra.source, &from.extra.source, part);
    }

    fn push_extra(&mut self, sizes: Sizes) {
        let Self { measures, extra, .. } = self;
        let columns = [
            (measures.js_json, &mut extra.js_json, sizes.js_json),
            (measures.py_json, &mut extra.py_json, sizes.py_json),
            (measures.weighted, &mut extra.weighted, sizes.weighted),
            (measures.wide, &mut extra.wide, sizes.wide),
            (measures.trimmed.is_some(), &mut extra.trimmed, sizes.trimmed),
            (measures.excerpt, &mut extra.excerpt, sizes.excerpt),
            (measures.tokens.is_some(), &mut extra.tokens, sizes.tokens),
        ];
        for (asked, column, size) in columns {
            if asked {
                column.push(narrow(size));
            }
        }
        if measures.source {
            extra.source.push(sizes.source);
        }
    }

    /// Copies to a result what its call is about, and the tool's name if the result has none.
    pub fn follow(&mut self, result: PartIx, call: PartIx) {
        fn copy<T: Copy>(column: &mut [T], to: usize, from: usize) {
            if let (Some(&value), true) = (column.get(from), to < column.len()) {
                column[to] = value;
            }
        }
        let (to, from) = (result.0 as usize, call.0 as usize);
        copy(&mut self.subject, to, from);
        copy(&mut self.lines, to, from);
        let class = self.class(call);
        if let Some(own) = self.classes.get_mut(to) {
            *own = own.with_class(class);
        }
        if self.tool.get(to) == Some(&Name::NONE) {
            copy(&mut self.tool, to, from);
        }
    }

    /// Marks a part as cut by the source. Some logs say so only later.
    pub fn set_cut(&mut self, part: PartIx) {
        if let Some(flags) = self.flags.get_mut(part.0 as usize) {
            flags.set_cut();
        }
    }

    /// Marks a part as a summary of what came before. Requests do not say so themselves.
    pub fn set_summary_part(&mut self, part: PartIx) {
        if let Some(class) = self.classes.get_mut(part.0 as usize) {
            *class = class.with_summary();
        }
    }

    /// Forgets which parts the source cut, as if nothing had ever been cut.
    pub fn forget_cuts(&mut self) {
        self.flags.iter_mut().for_each(PartFlags::clear_cut);
    }

    /// Adds a model call. Calls are added in the order of the messages that they produced.
    pub fn push_model_call(&mut self, call: ModelCall) {
        self.calls.push(call);
    }

    /// The number of messages.
    pub fn message_count(&self) -> usize {
        self.messages.len()
    }

    /// The number of parts.
    pub fn part_count(&self) -> usize {
        self.flags.len()
    }

    /// All messages, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = MessageIx> + ExactSizeIterator + use<> {
        (0..self.messages.len()).map(|index| MessageIx(index as u32))
    }

    /// All parts, oldest first.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = PartIx> + ExactSizeIterator + use<> {
        (0..self.flags.len()).map(|index| PartIx(index as u32))
    }

    /// The user messages, oldest first. Policies start from them, so they have a list of their own.
    pub fn users(&self) -> &[MessageIx] {
        &self.users
    }

    /// The messages of the model, oldest first.
    pub fn assistants(&self) -> &[MessageIx] {
        &self.assistants
    }

    /// The summaries, oldest first.
    pub fn summaries(&self) -> &[MessageIx] {
        &self.summaries
    }

    /// The model calls, oldest first.
    pub fn model_calls(&self) -> &[ModelCall] {
        &self.calls
    }

    /// The tool names that occur.
    pub fn tool_names(&self) -> &Names {
        &self.tools
    }

    /// The ids that occur: of messages and of tool calls.
    pub fn ids(&self) -> &Names {
        &self.ids
    }

    /// The first part of a message; one past the last part for a message that does not exist yet.
    pub(crate) fn first_part(&self, message: MessageIx) -> u32 {
        self.messages.get(message.0 as usize).map_or(self.flags.len() as u32, |message| message.first_part)
    }

    /// The columns that a scan over all parts reads: flags and tool names.
    pub(crate) fn scan_columns(&self) -> (&[PartFlags], &[Name]) {
        (&self.flags, &self.tool)
    }

    /// The parts of a message, as a range of part numbers.
    pub fn parts_of(&self, message: MessageIx) -> Range<u32> {
        let index = message.0 as usize;
        let end = self.flags.len() as u32;
        let Some(first) = self.messages.get(index) else {
            return end..end;
        };
        first.first_part..self.messages.get(index + 1).map_or(end, |next| next.first_part)
    }
}
