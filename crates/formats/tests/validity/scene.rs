//! A conversation, before any provider spells it.
//!
//! Random in everything that a reader or a cut could trip over, and valid by construction: each call has one result,
//! no message is empty, and the first one is the user's.

use proptest::prelude::*;
use proptest::sample::select;
use secateur_formats::Wire;
use serde_json::{Value, json};

use crate::{anthropic, gemini, openai_chat, openai_responses};

/// A picture of one pixel, or so.
pub(crate) const PIXEL: &str = "iVBORw0KGgo=";

/// A whole conversation.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub turns: Vec<Turn>,
    pub layout: Layout,
    /// Whether there is a reference to something that the provider stores, if it has such references.
    pub reference: bool,
    /// Whether the provider keeps what was said.
    pub stored: bool,
    /// Whether calls have ids, where a provider can do without.
    pub ids: bool,
}

/// How JSON is laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    Compact,
    Indented,
}

/// What a user wants, and what is done about it.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub asked: Said,
    /// A word of the program's maker before it.
    pub reported: Option<String>,
    pub steps: Vec<Step>,
    pub closing: Option<String>,
}

/// One response and the results of its tool calls.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub thought: Option<Thought>,
    pub said: Option<Said>,
    pub calls: Vec<Call>,
    /// What the user says together with the results.
    pub beside: Option<String>,
}

/// Text in one of the ways of giving it.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    Plain(String),
    Blocks(Vec<Block>),
}

/// A block of content.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub shows: Shown,
    pub marked: bool,
}

/// What a block holds.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    Text(String),
    Image,
    File,
}

/// What the model thought.
#[derive(Clone, Debug)]
pub(crate) enum Thought {
    Open(String),
    Sealed,
}

/// A tool call with its result.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub tool: &'static str,
    pub input: Value,
    /// The input is free text, where a provider has such tools.
    pub custom: bool,
    pub failed: bool,
    pub marked: bool,
    pub found: Found,
}

/// What a tool found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// The result has no content, where that is allowed.
    Nothing,
    /// The result is an object, where that is allowed.
    Data(Value),
    Said(Said),
}

impl Scene {
    /// The conversation as a valid request.
    pub(crate) fn request(&self, wire: Wire) -> String {
        let value = match wire {
            Wire::Anthropic => anthropic::request(self),
            Wire::OpenAiChat => openai_chat::request(self),
            Wire::OpenAiResponses => openai_responses::request(self),
            Wire::Gemini => gemini::request(self),
        };
        match self.layout {
            Layout::Compact => value.to_string(),
            Layout::Indented => serde_json::to_string_pretty(&value).unwrap(),
        }
    }
}

impl Said {
    /// The blocks; a plain text is one.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        match self {
            Said::Plain(text) => vec![Block { shows: Shown::Text(text.clone()), marked: false }],
            Said::Blocks(blocks) => blocks.clone(),
        }
    }

    /// The texts alone.
    pub(crate) fn texts(&self) -> Vec<String> {
        let blocks = self.blocks().into_iter();
        let texts = blocks.filter_map(|block| match block.shows {
            Shown::Text(text) => Some(text),
            Shown::Image | Shown::File => None,
        });
        texts.collect()
    }
}

/// Any conversation.
pub(crate) fn scene() -> impl Strategy<Value = Scene> {
    let layout = select(vec![Layout::Compact, Layout::Indented]);
    let flags = (prop::bool::weighted(0.2), any::<bool>(), any::<bool>());
    (prop::collection::vec(turn(), 1..5), layout, flags).prop_map(
        |(mut turns, layout, (reference, stored, ids))| {
            // A request ends with something to answer.
            turns.iter_mut().next_back().into_iter().for_each(|turn| turn.closing = None);
            Scene { turns, layout, reference, stored, ids }
        },
    )
}

fn turn() -> impl Strategy<Value = Turn> {
    let reported = prop::option::weighted(0.2, text());
    let closing = prop::option::weighted(0.7, text());
    (said(), reported, prop::collection::vec(step(), 0..4), closing)
        .prop_map(|(asked, reported, steps, closing)| Turn { asked, reported, steps, closing })
}

fn step() -> impl Strategy<Value = Step> {
    let thought = prop_oneof![text().prop_map(Thought::Open), Just(Thought::Sealed)];
    let said = texts().prop_map(Some);
    (
        prop::option::weighted(0.4, thought),
        prop_oneof![Just(None), said],
        prop::collection::vec(call(), 1..4),
        prop::option::weighted(0.2, text()),
    )
        .prop_map(|(thought, said, calls, beside)| Step { thought, said, calls, beside })
}

fn call() -> impl Strategy<Value = Call> {
    let tool = select(vec!["read", "Bash", "web_search", "mcp__files__list", "skill"]);
    let input = prop_oneof![
        Just(json!({})),
        Just(json!({"path": "src/lib.rs", "offset": 3, "limit": 20})),
        text().prop_map(|text| json!({"command": text, "deep": [null, {"n": 1.50}]})),
    ];
    let found = prop_oneof![
        1 => Just(Found::Nothing),
        1 => text().prop_map(|text| Found::Data(json!({"lines": [text], "count": 2}))),
        6 => long_text().prop_map(|text| Found::Said(Said::Plain(text))),
        6 => said().prop_map(Found::Said),
        1 => Just(Found::Said(Said::Plain(String::new()))),
        1 => Just(Found::Said(Said::Blocks(Vec::new()))),
    ];
    let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (tool, input, found, flags).prop_map(|(tool, input, found, (custom, failed, marked))| Call {
        tool,
        input,
        custom,
        failed,
        marked,
        found,
    })
}

/// Text or blocks, images among them.
fn said() -> impl Strategy<Value = Said> {
    let shows = prop_oneof![
        5 => long_text().prop_map(Shown::Text),
        2 => Just(Shown::Image),
        1 => Just(Shown::File),
    ];
    let block = (shows, prop::bool::weighted(0.15)).prop_map(|(shows, marked)| Block { shows, marked });
    prop_oneof![text().prop_map(Said::Plain), prop::collection::vec(block, 1..4).prop_map(Said::Blocks),]
}

/// Text or blocks of text.
fn texts() -> impl Strategy<Value = Said> {
    let shows = text().prop_map(Shown::Text);
    let block = (shows, prop::bool::weighted(0.15)).prop_map(|(shows, marked)| Block { shows, marked });
    prop_oneof![text().prop_map(Said::Plain), prop::collection::vec(block, 1..3).prop_map(Said::Blocks),]
}

/// A text that is neither empty nor ends in white space.
fn text() -> impl Strategy<Value = String> {
    "[a-z \"\\\\/<é漢😀\n\t\u{1}\u{7f}]{0,12}[a-z😀]"
}

/// A text, mostly one that is worth a cut.
fn long_text() -> impl Strategy<Value = String> {
    (text(), prop_oneof![Just(1), 20..100usize]).prop_map(|(text, times)| text.repeat(times))
}
