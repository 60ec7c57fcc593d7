//! A conversation in the form that every provider takes: turns, and steps of the model in which each call has its result.

use std::borrow::Cow;

use secateur::{PartIx, PartKind};

use super::Loss;
use super::input::PairedInput;

/// The first message, if the conversation does not begin with one of the user.
pub(crate) const START: &str = "(start of the conversation)";
/// The last message, if a provider wants it to be the user's and it is not.
pub(crate) const CONTINUE: &str = "(continue)";
/// The result of a call that has none.
pub(crate) const NO_RESULT: &str = "[No result was recorded for this tool call]";
/// What precedes a result without a call.
pub(crate) const NO_CALL: &str = "[Result of a tool call that is not in this conversation]";
/// What precedes the media of results, where results cannot hold them.
pub(crate) const FROM_TOOLS: &str = "[Media from the tool results above]";
/// What takes the place of a file that cannot be sent.
const NOT_SENT: &str = "[A file that cannot be sent here]";

/// A conversation that begins with the user, apart from instructions.
#[derive(Default)]
pub(crate) struct NormalConversation<'a> {
    pub turns: Vec<NormalTurn<'a>>,
}

/// What one side sends at once.
pub(crate) enum NormalTurn<'a> {
    System(Vec<NormalItem<'a>>),
    User(Vec<NormalItem<'a>>),
    Step(Vec<StepBlock<'a>>),
}

/// Text or media.
#[derive(Clone)]
pub(crate) enum NormalItem<'a> {
    /// Never blank.
    Text(Cow<'a, str>),
    Media(Medium<'a>),
}

/// An image or another file, as its source writes it.
#[derive(Clone, Copy)]
pub(crate) struct Medium<'a> {
    pub part: PartIx,
    pub kind: PartKind,
    pub raw: &'a str,
}

/// A part of a step of the model.
pub(crate) enum StepBlock<'a> {
    Said(NormalItem<'a>),
    /// Thinking that the provider takes back.
    Thought(Thought<'a>),
    Call(PairedCall<'a>),
}

/// Thinking. Something always follows it in its step.
pub(crate) struct Thought<'a> {
    /// Its parts, in case it is lost after all.
    pub parts: Vec<PartIx>,
    /// Its readable text; none if it is redacted.
    pub text: Option<Cow<'a, str>>,
    /// The literal of its signature, or of its encrypted content.
    pub signature: Option<&'a str>,
    /// The literal of the item's id.
    pub id: Option<&'a str>,
}

/// A call and its result.
pub(crate) struct PairedCall<'a> {
    /// As the provider takes it, and unique.
    pub id: String,
    /// As the provider takes it.
    pub tool: String,
    pub input: PairedInput<'a>,
    /// The literal of the signature of thinking that is on it.
    pub signature: Option<&'a str>,
    pub answer: Option<PairedResult<'a>>,
}

/// The result of a call.
pub(crate) struct PairedResult<'a> {
    pub items: Vec<NormalItem<'a>>,
    /// The result as JSON, if it is an object.
    pub object: Option<Cow<'a, str>>,
    pub is_error: bool,
}

impl<'a> PairedCall<'a> {
    /// The result's items; a note if there is no result.
    pub(crate) fn items(&self) -> Cow<'_, [NormalItem<'a>]> {
        match &self.answer {
            Some(answer) => Cow::Borrowed(&answer.items),
            None => Cow::Owned(vec![NormalItem::Text(Cow::Borrowed(NO_RESULT))]),
        }
    }

    /// The result's text, and its media.
    pub(crate) fn split(&self) -> (Cow<'_, str>, Vec<Medium<'a>>) {
        let Some(answer) = &self.answer else { return (Cow::Borrowed(NO_RESULT), Vec::new()) };
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for item in &answer.items {
            match item {
                NormalItem::Text(text) => texts.push(&**text),
                NormalItem::Media(medium) => media.push(*medium),
            }
        }
        let text = match *texts {
            [text] => Cow::Borrowed(text),
            _ => Cow::Owned(texts.join("\n")),
        };
        (text, media)
    }

    pub(crate) fn is_error(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.is_error)
    }
}

impl Medium<'_> {
    /// Leaves it out: records the loss, and returns the note that takes its place.
    pub(crate) fn leave_out(&self, losses: &mut Vec<Loss>) -> &'static str {
        let why = "the provider does not take such a file there";
        losses.push(Loss { part: self.part, kind: self.kind, bytes: self.raw.len() as u64, why });
        NOT_SENT
    }
}

impl<'a> NormalConversation<'a> {
    /// All calls in their order.
    pub(crate) fn uses(&self) -> impl Iterator<Item = &PairedCall<'a>> {
        let blocks = self.turns.iter().filter_map(|turn| match turn {
            NormalTurn::Step(blocks) => Some(blocks),
            _ => None,
        });
        blocks.flatten().filter_map(|block| match block {
            StepBlock::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The names of the tools that were called, each once.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<&str> = self.uses().map(|call| &*call.tool).collect();
        tools.sort_unstable();
        tools.dedup();
        tools
    }
}
