//! Which thinking is kept.
//!
//! A provider signs or encrypts the thinking of its models and takes it back only unchanged. So thinking is kept if it
//! goes to the provider that made it, whole and with what followed it. Otherwise it is lost.

use std::borrow::Cow;

use secateur::{PartIx, PartKind};

use super::super::SignedThinking;
use super::super::conversation::{NormalTurn, StepBlock, Thought};
use super::{Builder, is_blank};
use crate::content;
use crate::format::Format;
use crate::json::decode;
use crate::wire_spec::{ThinkingReturn, Wire};

impl<'a> Builder<'_, '_, 'a> {
    /// Keeps thinking for the provider that made it, if its text and signature are both there.
    pub(crate) fn think(&mut self, part: PartIx) {
        // Gemini CLI keeps no signatures.
        let format = self.transcript.format;
        let is_own = format.wire() == Some(self.wire) && format != Format::GeminiCli;
        let thinking = if is_own { self.wire.spec().thinking } else { ThinkingReturn::NotTaken };
        let is_signature = self.transcript.outline.kind(part) == PartKind::Signature;
        let is_bound = self.wire == Wire::Anthropic && self.options.thinking == SignedThinking::LeftOut;
        if is_bound && thinking != ThinkingReturn::NotTaken {
            self.lose(part, "the model takes it back only behind the very request that it was made for");
            return;
        }
        match (thinking, is_signature) {
            (ThinkingReturn::NotTaken, _) => {
                self.lose(part, "another provider does not take back this thinking");
            }
            (ThinkingReturn::OnCalls, true) => self.sign(part),
            (ThinkingReturn::OnCalls, false) => match self.thought(vec![part], None) {
                Some(thought) => _ = self.act(StepBlock::Thought(thought)),
                None => self.lose(part, "it was cut"),
            },
            (ThinkingReturn::Signed { parts: most }, true) => {
                let mut parts = self.reasoning_before(part, most);
                parts.push(part);
                match self.thought(parts.clone(), Some(part)) {
                    Some(thought) => _ = self.act(StepBlock::Thought(thought)),
                    None => parts.into_iter().for_each(|part| self.lose(part, "it has no valid signature")),
                }
            }
            (ThinkingReturn::Signed { parts: most }, false) if self.is_signed(part, most) => {}
            (ThinkingReturn::Signed { .. }, false) => self.lose(part, "it has no signature"),
        }
    }

    /// Puts a signature on the call in front of it.
    fn sign(&mut self, part: PartIx) {
        let before = PartIx(part.0.saturating_sub(1));
        let is_behind = self.transcript.outline.kind(before) == PartKind::Call && before != part;
        let literal = self.transcript.content(part).filter(|raw| raw.starts_with('"') && is_behind);
        match (literal, self.turns.last_mut()) {
            (Some(literal), Some(NormalTurn::Step(blocks))) => {
                if let Some(StepBlock::Call(call)) = blocks.last_mut() {
                    call.signature = Some(literal);
                }
            }
            _ => self.lose(part, "it does not stand on a call"),
        }
    }

    /// The thinking right before a signature, at most this many parts.
    fn reasoning_before(&self, part: PartIx, most: usize) -> Vec<PartIx> {
        let outline = &self.transcript.outline;
        let first = outline.parts_of(outline.owner(part)).start;
        let before = (first..part.0).rev().map(PartIx).take(most);
        let mut parts: Vec<_> =
            before.take_while(|&part| outline.kind(part) == PartKind::Reasoning).collect();
        parts.reverse();
        parts
    }

    fn is_signed(&self, part: PartIx, most: usize) -> bool {
        let outline = &self.transcript.outline;
        let end = outline.parts_of(outline.owner(part)).end;
        let mut behind = (part.0 + 1..end).map(PartIx).take(most);
        let signature = behind.find(|&behind| outline.kind(behind) != PartKind::Reasoning);
        signature.is_some_and(|signature| {
            outline.kind(signature) == PartKind::Signature
                && self.reasoning_before(signature, most).contains(&part)
        })
    }

    /// These parts as one piece of thinking; none if one of them was cut or the signature is empty.
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
