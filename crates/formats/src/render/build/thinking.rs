//! Which thoughts stay.
//!
//! A provider signs or encrypts the thinking of its models and takes it back only as it was. So a thought stays if it
//! goes to the provider that made it, whole and with what followed it; else it is lost.

use std::borrow::Cow;

use secateur::{PartIx, PartKind};

use super::super::conversation::{Block, Thought, Turn};
use super::{Builder, is_blank};
use crate::content;
use crate::format::Format;
use crate::json::decode;
use crate::wire::Wire;

/// Who made the thinking of a session, where that can be told from its format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Maker {
    Anthropic,
    OpenAi,
    Google,
}

impl Maker {
    fn of(format: Format) -> Option<Self> {
        match format {
            Format::ClaudeCode | Format::Cline | Format::Request(Wire::Anthropic) => Some(Maker::Anthropic),
            Format::Codex | Format::Request(Wire::OpenAiResponses) => Some(Maker::OpenAi),
            Format::Request(Wire::Gemini) => Some(Maker::Google),
            _ => None,
        }
    }

    /// The wire on which it takes its thinking back.
    fn wire(self) -> Wire {
        match self {
            Maker::Anthropic => Wire::Anthropic,
            Maker::OpenAi => Wire::OpenAiResponses,
            Maker::Google => Wire::Gemini,
        }
    }
}

impl<'a> Builder<'_, '_, 'a> {
    /// A thought stays only with the provider that made it, and whole: text and signature vouch for each other.
    pub(super) fn think(&mut self, part: PartIx) {
        let Some(maker) = Maker::of(self.transcript.format).filter(|maker| maker.wire() == self.wire) else {
            return self.lose(part, "another provider does not take back this thinking");
        };
        let is_signature = self.transcript.outline.kind(part) == PartKind::Signature;
        match (maker, is_signature) {
            (Maker::Google, true) => self.sign(part),
            (Maker::Google, false) => match self.thought(vec![part], None) {
                Some(thought) => _ = self.act(Block::Thought(thought)),
                None => self.lose(part, "it was cut"),
            },
            (_, true) => {
                let mut parts = self.reasoning_before(part, maker);
                parts.push(part);
                match self.thought(parts.clone(), Some(part)) {
                    Some(thought) => _ = self.act(Block::Thought(thought)),
                    None => parts.into_iter().for_each(|part| self.lose(part, "it has no valid signature")),
                }
            }
            (_, false) if self.is_signed(part, maker) => {}
            (_, false) => self.lose(part, "it has no signature"),
        }
    }

    /// Puts a signature onto the call that it stands behind.
    fn sign(&mut self, part: PartIx) {
        let before = PartIx(part.0.saturating_sub(1));
        let is_behind = self.transcript.outline.kind(before) == PartKind::Call && before != part;
        let literal = self.transcript.content(part).filter(|raw| raw.starts_with('"') && is_behind);
        match (literal, self.turns.last_mut()) {
            (Some(literal), Some(Turn::Step(blocks))) => {
                if let Some(Block::Call(call)) = blocks.last_mut() {
                    call.signature = Some(literal);
                }
            }
            _ => self.lose(part, "it does not stand on a call"),
        }
    }

    /// The thinking right before a signature: one part, or, of OpenAI's, its summary and its text.
    fn reasoning_before(&self, part: PartIx, maker: Maker) -> Vec<PartIx> {
        let outline = &self.transcript.outline;
        let first = outline.parts_of(outline.owner(part)).start;
        let most = if maker == Maker::OpenAi { 2 } else { 1 };
        let before = (first..part.0).rev().map(PartIx).take(most);
        let mut parts: Vec<_> =
            before.take_while(|&part| outline.kind(part) == PartKind::Reasoning).collect();
        parts.reverse();
        parts
    }

    fn is_signed(&self, part: PartIx, maker: Maker) -> bool {
        let outline = &self.transcript.outline;
        let end = outline.parts_of(outline.owner(part)).end;
        let mut behind = (part.0 + 1..end).map(PartIx).take(if maker == Maker::OpenAi { 2 } else { 1 });
        let signature = behind.find(|&behind| outline.kind(behind) != PartKind::Reasoning);
        signature.is_some_and(|signature| {
            outline.kind(signature) == PartKind::Signature
                && self.reasoning_before(signature, maker).contains(&part)
        })
    }

    /// The thought that these parts are; none if one of them was cut or the signature is empty.
    fn thought(&self, parts: Vec<PartIx>, signature: Option<PartIx>) -> Option<Thought<'a>> {
        if parts.iter().any(|part| self.cuts.contains_key(part)) {
            return None;
        }
        let literal = signature.and_then(|part| self.transcript.content(part));
        if signature.is_some() && literal.is_none_or(|raw| !raw.starts_with('"') || is_blank(&decode(raw))) {
            return None;
        }
        let texts = parts.iter().filter(|part| Some(**part) != signature);
        let texts: Vec<_> = texts.map(|&part| self.transcript.content(part).map(content::text)).collect();
        let text = match &*texts {
            [] => None,
            texts => {
                Some(Cow::Owned(texts.iter().flatten().map(|text| &**text).collect::<Vec<_>>().join("\n")))
            }
        };
        let id = signature.and_then(|part| self.transcript.spot(part)?.id.clone());
        let id = id.and_then(|range| self.transcript.raw(range));
        Some(Thought { parts, text, signature: literal, id })
    }
}
