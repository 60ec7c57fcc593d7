//! A conversation as every provider understands it: turns, and steps of the model in which each call has its answer.

use std::borrow::Cow;

use secateur::{PartIx, PartKind};

use super::Loss;
use super::input::Input;

/// What stands where no user began.
pub(super) const START: &str = "(start of the conversation)";
/// What stands behind the model's last word where a provider wants the user to have it.
pub(super) const CONTINUE: &str = "(continue)";
/// The answer of a call that has none.
pub(super) const NO_RESULT: &str = "[No result was recorded for this tool call]";
/// What precedes an answer without a call.
pub(super) const NO_CALL: &str = "[Result of a tool call that is not in this conversation]";
/// What precedes the media of answers, where answers cannot hold them.
pub(super) const FROM_TOOLS: &str = "[Media from the tool results above]";
/// What stands where a file cannot.
const NOT_SENT: &str = "[A file that cannot be sent here]";

/// A conversation that begins with a user, instructions aside.
#[derive(Default)]
pub(super) struct Conversation<'a> {
    pub turns: Vec<Turn<'a>>,
}

/// What one side says at once.
pub(super) enum Turn<'a> {
    System(Vec<Item<'a>>),
    User(Vec<Item<'a>>),
    Step(Vec<Block<'a>>),
}

/// Something that is said or shown.
#[derive(Clone)]
pub(super) enum Item<'a> {
    /// Never blank.
    Text(Cow<'a, str>),
    Media(Medium<'a>),
}

/// An image or another file, in the dialect of its source.
#[derive(Clone, Copy)]
pub(super) struct Medium<'a> {
    pub part: PartIx,
    pub kind: PartKind,
    pub raw: &'a str,
}

/// A piece of what the model did.
pub(super) enum Block<'a> {
    Said(Item<'a>),
    /// A thought that the provider takes back.
    Thought(Thought<'a>),
    Call(Use<'a>),
}

/// A thought. It is always followed by something in its step.
pub(super) struct Thought<'a> {
    /// The parts that it was, for the case that it gets lost after all.
    pub parts: Vec<PartIx>,
    /// What may be seen of it; none if it is redacted.
    pub text: Option<Cow<'a, str>>,
    /// The literal of its signature, or of what is encrypted.
    pub signature: Option<&'a str>,
    /// The literal of the item's id.
    pub id: Option<&'a str>,
}

/// A call and its answer.
pub(super) struct Use<'a> {
    /// As the provider takes it, and unique.
    pub id: String,
    /// As the provider takes it.
    pub tool: String,
    pub input: Input<'a>,
    /// The literal of the thought's signature that stands on it.
    pub signature: Option<&'a str>,
    pub answer: Option<Answer<'a>>,
}

/// What a tool answered.
pub(super) struct Answer<'a> {
    pub items: Vec<Item<'a>>,
    /// The answer itself, if it is an object.
    pub object: Option<Cow<'a, str>>,
    pub is_error: bool,
}

impl<'a> Use<'a> {
    /// The answer's items; what says that there is none, if there is none.
    pub(super) fn items(&self) -> Cow<'_, [Item<'a>]> {
        match &self.answer {
            Some(answer) => Cow::Borrowed(&answer.items),
            None => Cow::Owned(vec![Item::Text(Cow::Borrowed(NO_RESULT))]),
        }
    }

    /// The answer's text, and its media.
    pub(super) fn split(&self) -> (Cow<'_, str>, Vec<Medium<'a>>) {
        let Some(answer) = &self.answer else { return (Cow::Borrowed(NO_RESULT), Vec::new()) };
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for item in &answer.items {
            match item {
                Item::Text(text) => texts.push(&**text),
                Item::Media(medium) => media.push(*medium),
            }
        }
        let text = match *texts {
            [text] => Cow::Borrowed(text),
            _ => Cow::Owned(texts.join("\n")),
        };
        (text, media)
    }

    pub(super) fn is_error(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.is_error)
    }
}

impl Medium<'_> {
    /// Leaves it out: records the loss, and gives the note that takes its place.
    pub(super) fn leave_out(&self, losses: &mut Vec<Loss>) -> &'static str {
        let why = "the provider does not take such a file there";
        losses.push(Loss { part: self.part, kind: self.kind, bytes: self.raw.len() as u64, why });
        NOT_SENT
    }
}

impl<'a> Conversation<'a> {
    /// All calls in their order.
    pub(super) fn uses(&self) -> impl Iterator<Item = &Use<'a>> {
        let blocks = self.turns.iter().filter_map(|turn| match turn {
            Turn::Step(blocks) => Some(blocks),
            _ => None,
        });
        blocks.flatten().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The names of the tools that were called, each once.
    pub(super) fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<&str> = self.uses().map(|call| &*call.tool).collect();
        tools.sort_unstable();
        tools.dedup();
        tools
    }
}
