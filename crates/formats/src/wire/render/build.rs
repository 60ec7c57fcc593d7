//! From a session to a conversation: turns, and calls paired with their results.

mod thinking;

use std::borrow::Cow;
use std::collections::HashMap;

use secateur::{Action, MessageIx, Name, PLACEHOLDER, PartIx, PartKind, Role, ToolStatus};
use serde::de::IgnoredAny;

use super::conversation::{
    Medium, NO_CALL, NormalConversation, NormalItem, NormalTurn, PairedCall, PairedResult, START, StepBlock,
};
use super::input::{PairedInput, with_whole_pairs};
use super::labels::{CallIds, tool_name};
use super::{Loss, RenderOptions};
use crate::content::{self, ContentPiece};
use crate::cut::{Rendering, text_left};
use crate::format::Format;
use crate::json::{Printer, decode, print};
use crate::transcript::Transcript;
use crate::wire_spec::Wire;

/// A conversation that was made from a session.
pub(crate) struct Built<'a> {
    pub conversation: NormalConversation<'a>,
    /// What had to be left out.
    pub losses: Vec<Loss>,
    /// The texts of summaries.
    pub summaries: Vec<String>,
}

/// Makes a session into a conversation for this wire, and lists what had to be left out.
pub(crate) fn conversation<'a>(
    transcript: &Transcript<'a>,
    wire: Wire,
    options: &RenderOptions<'_>,
    cuts: &[Rendering<'_>],
) -> Built<'a> {
    let mut builder = Builder {
        transcript,
        wire,
        options,
        cuts: cuts.iter().map(|cut| (cut.part, *cut)).collect(),
        ids: CallIds::new(wire),
        turns: Vec::new(),
        current: None,
        waiting: HashMap::new(),
        nameless: Vec::new(),
        losses: Vec::new(),
        summaries: Vec::new(),
    };
    for message in transcript.outline.messages() {
        builder.take(message);
    }
    builder.finish()
}

/// Where a call is: its turn, and its index in the step.
type CallPlace = (usize, usize);

struct Builder<'t, 'c, 'a> {
    transcript: &'t Transcript<'a>,
    wire: Wire,
    options: &'t RenderOptions<'t>,
    cuts: HashMap<PartIx, Rendering<'c>>,
    ids: CallIds,
    turns: Vec<NormalTurn<'a>>,
    /// The turn that the current message adds to.
    current: Option<usize>,
    /// Calls without a result, by their own ids.
    waiting: HashMap<Name, CallPlace>,
    /// Calls of the latest step that have neither an id nor a result.
    nameless: Vec<CallPlace>,
    losses: Vec<Loss>,
    summaries: Vec<String>,
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
                (PartKind::Compaction, Role::User) if outline.is_marker(message) => {
                    let marker = self.options.marker.to_owned();
                    self.say(role, NormalItem::Text(Cow::Owned(marker)));
                }
                (PartKind::Compaction, _) => {}
                (PartKind::Other, _) => {
                    // In a log it is the agent's own record; in a request the model sees it.
                    if matches!(self.transcript.format, Format::Request(_)) {
                        self.lose(part, "only the provider that it was made for can read it");
                    }
                }
                (PartKind::Reasoning | PartKind::Signature, Role::Assistant) => self.think(part),
                (PartKind::Reasoning | PartKind::Signature, _) => self.lose(part, "only the model can think"),
                (PartKind::Text | PartKind::Media, Role::Other) => {
                    self.lose(part, "it is not known who said it");
                }
                (PartKind::Text | PartKind::Media, _) => {
                    for item in self.items(part) {
                        if let NormalItem::Text(text) = &item
                            && self.is_summary(message)
                        {
                            self.summaries.push(text.to_string());
                        }
                        self.say(role, item);
                    }
                }
            }
        }
    }

    /// Whether the text of a message summarises what came before. Codex writes a whole history anew, in which the
    /// summary stands behind what the user had said.
    fn is_summary(&self, message: MessageIx) -> bool {
        let outline = &self.transcript.outline;
        let is_rewritten = |message| outline.is_summary(message) && outline.role(message) == Role::User;
        let is_followed = || is_rewritten(MessageIx(message.0 + 1));
        match self.transcript.format {
            Format::Codex => is_rewritten(message) && !is_followed(),
            _ => outline.is_summary(message),
        }
    }

    fn say(&mut self, role: Role, item: NormalItem<'a>) {
        if role == Role::Assistant {
            self.act(StepBlock::Said(item));
            return;
        }
        match self.current.and_then(|index| self.turns.get_mut(index)) {
            Some(NormalTurn::System(items)) if role == Role::System => return items.push(item),
            Some(NormalTurn::User(items)) if role != Role::System => return items.push(item),
            _ => {}
        }
        self.current = Some(self.turns.len());
        self.turns.push(match role {
            Role::System => NormalTurn::System(vec![item]),
            _ => NormalTurn::User(vec![item]),
        });
    }

    /// Adds to the current step of the model, and returns the place. Calls that follow each other without a result
    /// between them are one batch, even if a log has them in several messages.
    fn act(&mut self, block: StepBlock<'a>) -> CallPlace {
        let waits = |block: &StepBlock<'a>| matches!(block, StepBlock::Call(call) if call.answer.is_none());
        let is_open = |blocks: &[StepBlock<'a>]| {
            let mut calls = blocks.iter().filter(|block| matches!(block, StepBlock::Call(_))).peekable();
            calls.peek().is_some() && calls.all(waits)
        };
        let last = self.turns.len().saturating_sub(1);
        if let Some(NormalTurn::Step(blocks)) = self.turns.last_mut()
            && (self.current == Some(last) || is_open(blocks))
        {
            self.current = Some(last);
            blocks.push(block);
            return (last, blocks.len() - 1);
        }
        self.nameless.clear();
        self.current = Some(self.turns.len());
        self.turns.push(NormalTurn::Step(vec![block]));
        (self.turns.len() - 1, 0)
    }

    fn call(&mut self, part: PartIx) {
        let outline = &self.transcript.outline;
        let input = match self.cuts.get(&part) {
            Some(cut) => PairedInput::Text(Cow::Owned(self.transcript.written(*cut).into_owned())),
            None => PairedInput::of(self.transcript.content(part)),
        };
        let name = outline.call(part);
        let call = PairedCall {
            id: self.ids.make(outline.ids().text(name)),
            tool: tool_name(self.wire, outline.tool(part)),
            input,
            signature: None,
            answer: None,
        };
        let place = self.act(StepBlock::Call(call));
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
            && let Some(NormalTurn::Step(blocks)) = self.turns.get_mut(turn)
            && let Some(StepBlock::Call(call)) = blocks.get_mut(block)
        {
            call.answer = Some(answer);
            // What follows in the same message is another step, since the model knew the result.
            self.current = None;
            return;
        }
        if name.is_some() {
            self.say(Role::User, NormalItem::Text(Cow::Borrowed(NO_CALL)));
        }
        for item in answer.items {
            self.say(Role::User, item);
        }
    }

    fn answer(&mut self, part: PartIx) -> PairedResult<'a> {
        let is_error = self.transcript.outline.status(part) == ToolStatus::Error;
        let mut items = self.items(part);
        let is_whole = !self.cuts.contains_key(&part);
        let content = self.transcript.content(part).filter(|_| is_whole);
        let is_google = self.transcript.format.wire() == Some(Wire::Gemini);
        let object = content.filter(|raw| {
            let is_data = || is_google || matches!(*content::pieces(raw), [ContentPiece::Data(_)]);
            raw.starts_with('{') && is_data() && serde_json::from_str::<IgnoredAny>(raw).is_ok()
        });
        // Media beside the result.
        let beside = self.transcript.spot(part).and_then(|spot| spot.second.clone());
        let beside = beside.filter(|_| is_whole && is_google).and_then(|range| self.transcript.raw(range));
        for raw in beside.map(content::pieces).unwrap_or_default() {
            if let ContentPiece::Media(raw) = raw {
                items.push(NormalItem::Media(Medium { part, kind: PartKind::Result, raw }));
            }
        }
        let media = items.iter().filter(|item| matches!(item, NormalItem::Media(_))).count() as u64;
        if is_whole && self.transcript.outline.images(part) > media {
            let why = "media beside a tool's answer are not read from this format";
            self.losses.push(Loss { part, kind: PartKind::Result, bytes: 0, why });
        }
        PairedResult { items, object: object.map(|raw| with_whole_pairs(Cow::Borrowed(raw))), is_error }
    }

    /// The text and media of a part, after its cut. Blank text is left out.
    fn items(&self, part: PartIx) -> Vec<NormalItem<'a>> {
        let outline = &self.transcript.outline;
        let Some(raw) = self.transcript.content(part) else { return Vec::new() };
        let kind = outline.kind(part);
        // Marked content is still in the file, but the model does not see it.
        let is_marked = outline.is_cut(part) && self.transcript.format.holds_marks();
        let marked = Rendering { part, action: Action::Clear, placeholder: PLACEHOLDER };
        if let Some(cut) = self.cuts.get(&part).copied().or_else(|| is_marked.then_some(marked)) {
            let written = self.transcript.written(cut);
            let cut = Rendering { placeholder: &written, ..cut };
            let left = text_left(raw, cut);
            return if is_blank(&left) { Vec::new() } else { vec![NormalItem::Text(Cow::Owned(left))] };
        }
        if kind == PartKind::Media {
            return vec![NormalItem::Media(Medium { part, kind, raw })];
        }
        if self.transcript.format == Format::Aider {
            // Its content is Markdown, which may begin like JSON.
            return if is_blank(raw) { Vec::new() } else { vec![NormalItem::Text(Cow::Borrowed(raw))] };
        }
        let item = |piece: ContentPiece<'a>| match piece {
            ContentPiece::Text(literal) => NormalItem::Text(decode(literal)),
            ContentPiece::Data(value) => NormalItem::Text(Cow::Owned(print(value, Printer::Compact))),
            ContentPiece::Media(raw) => NormalItem::Media(Medium { part, kind, raw }),
        };
        let is_there = |item: &NormalItem<'a>| !matches!(item, NormalItem::Text(text) if is_blank(text));
        content::pieces(raw).into_iter().map(item).filter(is_there).collect()
    }

    fn lose(&mut self, part: PartIx, why: &'static str) {
        let bytes = self.transcript.content(part).map_or(0, |raw| raw.len() as u64);
        if bytes > 0 {
            self.losses.push(Loss { part, kind: self.transcript.outline.kind(part), bytes, why });
        }
    }

    fn finish(mut self) -> Built<'a> {
        let mut turns = std::mem::take(&mut self.turns);
        for turn in &mut turns {
            let NormalTurn::Step(blocks) = turn else { continue };
            while let Some(StepBlock::Thought(_)) = blocks.last() {
                let Some(StepBlock::Thought(thought)) = blocks.pop() else { break };
                thought.parts.into_iter().for_each(|part| self.lose(part, "nothing follows it in its step"));
            }
        }
        turns.retain(|turn| !matches!(turn, NormalTurn::Step(blocks) if blocks.is_empty()));
        let first =
            turns.iter().position(|turn| !matches!(turn, NormalTurn::System(_))).unwrap_or(turns.len());
        if !matches!(turns.get(first), Some(NormalTurn::User(_))) {
            // A summary is the response to a marker.
            let outline = &self.transcript.outline;
            let mut said = outline.messages().filter(|&message| outline.role(message) != Role::System);
            let is_summary = said.next().is_some_and(|message| outline.is_summary(message));
            let start = if is_summary { self.options.marker } else { START };
            let start = NormalItem::Text(Cow::Owned(start.to_owned()));
            turns.insert(first, NormalTurn::User(vec![start]));
        }
        Built { conversation: NormalConversation { turns }, losses: self.losses, summaries: self.summaries }
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
