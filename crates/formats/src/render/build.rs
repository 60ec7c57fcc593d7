//! From a session to a conversation: whose turn it is, which answer belongs to which call.

mod thinking;

use std::borrow::Cow;
use std::collections::HashMap;

use secateur::{Action, MessageIx, Name, PLACEHOLDER, PartIx, PartKind, Role, ToolStatus};
use serde::de::IgnoredAny;

use super::Loss;
use super::conversation::{Answer, Block, Conversation, Item, Medium, NO_CALL, START, Turn, Use};
use super::input::{Input, with_whole_pairs};
use super::labels::{Ids, tool_name};
use crate::content::{self, ContentPiece};
use crate::cut::{Rendering, text_left};
use crate::format::Format;
use crate::json::{Printer, decode, print};
use crate::transcript::Transcript;
use crate::wire::Wire;

/// Makes a session into a conversation for this wire, and says what had to be left out of it.
pub(super) fn conversation<'a>(
    transcript: &Transcript<'a>,
    wire: Wire,
    cuts: &[Rendering<'_>],
) -> (Conversation<'a>, Vec<Loss>) {
    let mut builder = Builder {
        transcript,
        wire,
        cuts: cuts.iter().map(|cut| (cut.part, *cut)).collect(),
        ids: Ids::new(wire),
        turns: Vec::new(),
        current: None,
        waiting: HashMap::new(),
        nameless: Vec::new(),
        losses: Vec::new(),
    };
    for message in transcript.outline.messages() {
        builder.take(message);
    }
    builder.finish()
}

/// Where a call is: its turn, and its place in the step.
type Place = (usize, usize);

struct Builder<'t, 'c, 'a> {
    transcript: &'t Transcript<'a>,
    wire: Wire,
    cuts: HashMap<PartIx, Rendering<'c>>,
    ids: Ids,
    turns: Vec<Turn<'a>>,
    /// The turn that the message at hand is filling.
    current: Option<usize>,
    /// Calls without an answer, by their own ids.
    waiting: HashMap<Name, Place>,
    /// Calls of the latest step that have neither an id nor an answer.
    nameless: Vec<Place>,
    losses: Vec<Loss>,
}

impl<'a> Builder<'_, '_, 'a> {
    fn take(&mut self, message: MessageIx) {
        self.current = None;
        let outline = &self.transcript.outline;
        let role = outline.role(message);
        for part in outline.parts_of(message).map(PartIx) {
            match (outline.kind(part), role) {
                (PartKind::Call, _) => self.call(part),
                (PartKind::Result, _) => self.result(part),
                (PartKind::Compaction, _) => {}
                (PartKind::Other, _) => {
                    // In a log it is the agent's own business; in a request the model is given it.
                    if matches!(self.transcript.format, Format::Request(_)) {
                        self.lose(part, "only the provider that it was made for can read it");
                    }
                }
                (PartKind::Reasoning | PartKind::Signature, Role::Assistant) => self.think(part),
                (PartKind::Reasoning | PartKind::Signature, _) => self.lose(part, "only the model can think"),
                (PartKind::Text | PartKind::Media, Role::Other) => {
                    self.lose(part, "it is not known who said it")
                }
                (PartKind::Text | PartKind::Media, _) => {
                    for item in self.items(part) {
                        self.say(role, item);
                    }
                }
            }
        }
    }

    fn say(&mut self, role: Role, item: Item<'a>) {
        if role == Role::Assistant {
            self.act(Block::Said(item));
            return;
        }
        match self.current.and_then(|index| self.turns.get_mut(index)) {
            Some(Turn::System(items)) if role == Role::System => return items.push(item),
            Some(Turn::User(items)) if role != Role::System => return items.push(item),
            _ => {}
        }
        self.current = Some(self.turns.len());
        self.turns.push(match role {
            Role::System => Turn::System(vec![item]),
            _ => Turn::User(vec![item]),
        });
    }

    /// Adds to the step that the model is at, and says where. Calls that follow each other without an answer between
    /// them are one batch, in whatever messages a log tells them.
    fn act(&mut self, block: Block<'a>) -> Place {
        let waits = |block: &Block<'a>| matches!(block, Block::Call(call) if call.answer.is_none());
        let is_open = |blocks: &[Block<'a>]| {
            let mut calls = blocks.iter().filter(|block| matches!(block, Block::Call(_))).peekable();
            calls.peek().is_some() && calls.all(waits)
        };
        let last = self.turns.len().saturating_sub(1);
        if let Some(Turn::Step(blocks)) = self.turns.last_mut()
            && (self.current == Some(last) || is_open(blocks))
        {
            self.current = Some(last);
            blocks.push(block);
            return (last, blocks.len() - 1);
        }
        self.nameless.clear();
        self.current = Some(self.turns.len());
        self.turns.push(Turn::Step(vec![block]));
        (self.turns.len() - 1, 0)
    }

    fn call(&mut self, part: PartIx) {
        let outline = &self.transcript.outline;
        let input = match self.cuts.get(&part) {
            Some(cut) => Input::Text(Cow::Owned(self.transcript.written(*cut).into_owned())),
            None => Input::of(self.transcript.content(part)),
        };
        let name = outline.call(part);
        let call = Use {
            id: self.ids.make(outline.ids().text(name)),
            tool: tool_name(self.wire, outline.tool(part)),
            input,
            signature: None,
            answer: None,
        };
        let place = self.act(Block::Call(call));
        if name.is_some() {
            self.waiting.insert(name, place);
        } else {
            self.nameless.push(place);
        }
    }

    fn result(&mut self, part: PartIx) {
        let outline = &self.transcript.outline;
        let is_running = matches!(outline.status(part), ToolStatus::Pending | ToolStatus::Running);
        if is_running && self.transcript.content(part).is_none() {
            return;
        }
        let answer = self.answer(part);
        let name = outline.call(part);
        let place = match name.is_some() {
            true => self.waiting.remove(&name),
            false if self.nameless.is_empty() => None,
            false => Some(self.nameless.remove(0)),
        };
        if let Some((turn, block)) = place
            && let Some(Turn::Step(blocks)) = self.turns.get_mut(turn)
            && let Some(Block::Call(call)) = blocks.get_mut(block)
        {
            call.answer = Some(answer);
            // What the model does next in the same message it does knowing the answer.
            self.current = None;
            return;
        }
        if name.is_some() {
            self.say(Role::User, Item::Text(Cow::Borrowed(NO_CALL)));
        }
        for item in answer.items {
            self.say(Role::User, item);
        }
    }

    fn answer(&mut self, part: PartIx) -> Answer<'a> {
        let is_error = self.transcript.outline.status(part) == ToolStatus::Error;
        let mut items = self.items(part);
        let is_whole = !self.cuts.contains_key(&part);
        let content = self.transcript.content(part).filter(|_| is_whole);
        let is_google = matches!(self.transcript.format, Format::Request(Wire::Gemini) | Format::GeminiCli);
        let object = content.filter(|raw| {
            let is_data = || is_google || matches!(*content::pieces(raw), [ContentPiece::Data(_)]);
            raw.starts_with('{') && is_data() && serde_json::from_str::<IgnoredAny>(raw).is_ok()
        });
        // Media that stand beside the answer.
        let beside = self.transcript.spot(part).and_then(|spot| spot.second.clone());
        let beside = beside.filter(|_| is_whole && is_google).and_then(|range| self.transcript.raw(range));
        for raw in beside.map(content::pieces).unwrap_or_default() {
            if let ContentPiece::Media(raw) = raw {
                items.push(Item::Media(Medium { part, kind: PartKind::Result, raw }));
            }
        }
        let media = items.iter().filter(|item| matches!(item, Item::Media(_))).count() as u64;
        if is_whole && self.transcript.outline.images(part) > media {
            let why = "media beside a tool's answer are not read from this format";
            self.losses.push(Loss { part, kind: PartKind::Result, bytes: 0, why });
        }
        Answer { items, object: object.map(|raw| with_whole_pairs(Cow::Borrowed(raw))), is_error }
    }

    /// What a part says and shows, as its cut leaves it. What is blank is nothing.
    fn items(&self, part: PartIx) -> Vec<Item<'a>> {
        let outline = &self.transcript.outline;
        let Some(raw) = self.transcript.content(part) else { return Vec::new() };
        let kind = outline.kind(part);
        // A mark in the file means that the model is not shown what it still holds.
        let is_marked = outline.is_cut(part) && self.transcript.holds_marks();
        let marked = Rendering { part, action: Action::Clear, placeholder: PLACEHOLDER };
        if let Some(cut) = self.cuts.get(&part).copied().or_else(|| is_marked.then_some(marked)) {
            let written = self.transcript.written(cut);
            let cut = Rendering { placeholder: &written, ..cut };
            let left = text_left(raw, cut);
            return if is_blank(&left) { Vec::new() } else { vec![Item::Text(Cow::Owned(left))] };
        }
        if kind == PartKind::Media {
            return vec![Item::Media(Medium { part, kind, raw })];
        }
        if self.transcript.format == Format::Aider {
            // Its content is Markdown, which may well begin like JSON.
            return if is_blank(raw) { Vec::new() } else { vec![Item::Text(Cow::Borrowed(raw))] };
        }
        let item = |piece: ContentPiece<'a>| match piece {
            ContentPiece::Text(literal) => Item::Text(decode(literal)),
            ContentPiece::Data(value) => Item::Text(Cow::Owned(print(value, Printer::Compact))),
            ContentPiece::Media(raw) => Item::Media(Medium { part, kind, raw }),
        };
        let is_there = |item: &Item<'a>| !matches!(item, Item::Text(text) if is_blank(text));
        content::pieces(raw).into_iter().map(item).filter(is_there).collect()
    }

    fn lose(&mut self, part: PartIx, why: &'static str) {
        let bytes = self.transcript.content(part).map_or(0, |raw| raw.len() as u64);
        if bytes > 0 {
            self.losses.push(Loss { part, kind: self.transcript.outline.kind(part), bytes, why });
        }
    }

    fn finish(mut self) -> (Conversation<'a>, Vec<Loss>) {
        let mut turns = std::mem::take(&mut self.turns);
        for turn in &mut turns {
            let Turn::Step(blocks) = turn else { continue };
            while let Some(Block::Thought(_)) = blocks.last() {
                let Some(Block::Thought(thought)) = blocks.pop() else { break };
                thought.parts.into_iter().for_each(|part| self.lose(part, "nothing follows it in its step"));
            }
        }
        turns.retain(|turn| !matches!(turn, Turn::Step(blocks) if blocks.is_empty()));
        let first = turns.iter().position(|turn| !matches!(turn, Turn::System(_))).unwrap_or(turns.len());
        if !matches!(turns.get(first), Some(Turn::User(_))) {
            turns.insert(first, Turn::User(vec![Item::Text(Cow::Borrowed(START))]));
        }
        (Conversation { turns }, self.losses)
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
