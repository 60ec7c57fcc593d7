//! Random outlines, kept as the facts that they are built from.
//!
//! A failing case prints as the facts of its messages, and a test that grows an outline, marks parts of
//! it or changes its texts does so by building it again from changed facts.

use proptest::prelude::*;
use proptest::sample::select;
use secateur::{
    Cut, LineRange, Measures, MessageFacts, MessageIx, ModelCall, Outline, PLACEHOLDER, PartFacts, PartKind,
    Role, Sizes, SurrogatePairs, ToolClass, ToolStatus, Trim, TrimMeasure, Unit, Usage, Vocabulary,
};

/// A message with its parts.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) facts: MessageFacts<'static>,
    pub(crate) parts: Vec<PartFacts<'static>>,
    /// What was reported about the call that produced it, and when it was made.
    pub(crate) report: Option<(i64, Usage)>,
}

/// Few enough that ids of messages, of parents and of tails collide.
const IDS: [&str; 5] = ["m1", "m2", "m3", "m4", "m5"];

/// Few enough that calls and results find one another, rightly or wrongly.
const CALLS: [Option<&str>; 5] = [None, Some("c1"), Some("c2"), Some("c3"), Some("c4")];

/// Tools, some of which differ only in case or white space. Here as below, what is listed more than once is
/// drawn more often, and a failing case shrinks towards the first.
const TOOLS: [Option<&str>; 12] = [
    Some("bash"),
    Some("bash"),
    Some("bash"),
    Some("read"),
    Some("read"),
    Some("Bash"),
    Some("mcp.search"),
    Some("skill"),
    Some("skill"),
    Some("Skill"),
    Some(" skill "),
    None,
];

const CLASSES: [ToolClass; 8] = [
    ToolClass::Read,
    ToolClass::Read,
    ToolClass::Read,
    ToolClass::Edit,
    ToolClass::Edit,
    ToolClass::Shell,
    ToolClass::Agent,
    ToolClass::Other,
];

/// Few enough that reads and edits meet; one names two files.
const SUBJECTS: [Option<&str>; 4] = [Some("/a"), Some("/b"), Some("/a\n/b"), None];

const LINES: [LineRange; 4] = [
    LineRange::ALL,
    LineRange { first: 1, last: 50 },
    LineRange { first: 10, last: 20 },
    LineRange { first: 30, last: LineRange::END },
];

const ROLES: [Role; 11] = [
    Role::User,
    Role::User,
    Role::User,
    Role::User,
    Role::Assistant,
    Role::Assistant,
    Role::Assistant,
    Role::Assistant,
    Role::Tool,
    Role::System,
    Role::Other,
];

const KINDS: [PartKind; 16] = [
    PartKind::Result,
    PartKind::Result,
    PartKind::Result,
    PartKind::Result,
    PartKind::Result,
    PartKind::Result,
    PartKind::Result,
    PartKind::Result,
    PartKind::Call,
    PartKind::Call,
    PartKind::Text,
    PartKind::Reasoning,
    PartKind::Signature,
    PartKind::Media,
    PartKind::Compaction,
    PartKind::Other,
];

const STATUSES: [ToolStatus; 10] = [
    ToolStatus::Completed,
    ToolStatus::Completed,
    ToolStatus::Completed,
    ToolStatus::Completed,
    ToolStatus::Completed,
    ToolStatus::Error,
    ToolStatus::Error,
    ToolStatus::None,
    ToolStatus::Pending,
    ToolStatus::Running,
];

/// Every measure there is, so that any policy finds what it needs.
pub(crate) fn all_measures() -> Measures {
    Measures {
        js_json: true,
        py_json: true,
        weighted: true,
        wide: true,
        source: true,
        excerpt: true,
        tokens: Some(Vocabulary::O200k),
        trimmed: Some(TrimMeasure {
            trim: Trim { max: 4_000, head: 1_500, tail: 1_500, pairs: SurrogatePairs::Whole },
            unit: Unit::Weighted,
        }),
        placeholder: Some(PLACEHOLDER.into()),
    }
}

/// The outline of these messages.
pub(crate) fn build(messages: &[Message]) -> Outline {
    let mut outline = Outline::new(all_measures());
    for message in messages {
        append(&mut outline, message);
    }
    outline
}

/// Adds a message with all of its parts.
pub(crate) fn append(outline: &mut Outline, message: &Message) {
    outline.push_message(message.facts);
    for &part in &message.parts {
        outline.push_part(part);
    }
    report(outline, message);
}

/// Adds the call that produced the newest message, if it was recorded.
pub(crate) fn report(outline: &mut Outline, message: &Message) {
    if let Some((time, usage)) = message.report {
        let message = MessageIx(outline.message_count() as u32 - 1);
        outline.push_model_call(ModelCall { message, time: Some(time).filter(|&time| time > 0), usage });
    }
}

/// The same messages after a change to each part, which is told the part's number.
pub(crate) fn changed(
    messages: &[Message],
    mut change: impl FnMut(u32, &mut PartFacts<'static>),
) -> Vec<Message> {
    let mut messages = messages.to_vec();
    let parts = messages.iter_mut().flat_map(|message| &mut message.parts);
    for (number, part) in (0..).zip(parts) {
        change(number, part);
    }
    messages
}

/// The same messages as a reader sees them after these cuts were written into the session: the text is still
/// there, and the part says that it was cut.
pub(crate) fn marked(messages: &[Message], cuts: &[Cut]) -> Vec<Message> {
    changed(messages, |number, part| part.cut |= cuts.iter().any(|cut| cut.part.0 == number))
}

/// Up to a dozen messages of any kind.
pub(crate) fn messages() -> impl Strategy<Value = Vec<Message>> {
    prop_oneof![some(part(size())), heavy_messages()]
}

/// Some messages with such parts. In half of all histories calls were recorded.
fn some(part: impl Strategy<Value = PartFacts<'static>> + 'static) -> impl Strategy<Value = Vec<Message>> {
    (prop::collection::vec(message(part), 0..13), any::<bool>()).prop_map(|(mut messages, recorded)| {
        messages.iter_mut().filter(|_| !recorded).for_each(|message| message.report = None);
        messages
    })
}

/// Messages whose results are large enough for the thresholds of the builtin profiles, and often sum up to
/// exactly such a threshold.
pub(crate) fn heavy_messages() -> impl Strategy<Value = Vec<Message>> {
    let near = |units: u64| units - 4..units + 5;
    let size = prop_oneof![
        1 => Just(0),
        2 => 0..8u64,
        3 => near(40_000),
        4 => near(80_000),
        2 => near(160_000),
        1 => near(200_000),
        6 => 1_000..200_000u64,
    ];
    some(part(size))
}

fn message(part: impl Strategy<Value = PartFacts<'static>> + 'static) -> BoxedStrategy<Message> {
    let names = (id(4), id(4), id(1));
    (select(&ROLES), names, any::<u32>(), prop::collection::vec(part, 0..5))
        .prop_map(|(role, (id, parent, tail), detail, parts)| {
            let mut digits = Digits(detail);
            let facts = MessageFacts {
                role,
                id,
                parent,
                summary: digits.next(10) == 9 && role == Role::Assistant,
                finished: digits.next(3) != 2,
                failed: digits.next(5) == 4,
                marker: digits.next(4) == 3,
                tail,
                time: Some(digits.next(1_000_000).into()).filter(|&time| time > 0),
                ..MessageFacts::default()
            };
            let report = Some(report_of(detail)).filter(|_| role == Role::Assistant && detail % 7 > 0);
            Message { facts, parts, report }
        })
        .boxed()
}

/// What a provider may have reported: pauses around the life of a cache, and most, half or nothing from it.
fn report_of(detail: u32) -> (i64, Usage) {
    let mut digits = Digits(detail);
    let time = 200_000 * i64::from(digits.next(40));
    let cache_read = 50 * i64::from(digits.next(3));
    let cache_write_1h = 10 * i64::from(digits.next(2));
    (time, Usage { input: 50, cache_read, cache_write: 15, cache_write_1h, ..Usage::default() })
}

/// An id, or none: of five draws this many give one.
fn id(often: usize) -> impl Strategy<Value = Option<&'static str>> {
    (0..5usize, select(&IDS)).prop_map(move |(draw, id)| Some(id).filter(|_| draw < often))
}

fn part(size: impl Strategy<Value = u64> + 'static) -> BoxedStrategy<PartFacts<'static>> {
    let about = (select(&CLASSES), select(&SUBJECTS), select(&LINES), prop::bool::weighted(0.1));
    (select(&KINDS), select(&STATUSES), select(&TOOLS), select(&CALLS), any::<u32>(), size, about)
        .prop_map(|(kind, status, tool, call, detail, units, (class, subject, lines, failed))| {
            let mut digits = Digits(detail);
            let (cut, placeholder) = (digits.next(20) == 19, digits.next(12) == 11);
            let sizes = sizes(units, digits);
            PartFacts {
                kind,
                status,
                tool,
                call,
                cut,
                placeholder,
                failed,
                class,
                subject,
                lines,
                sizes,
                ..PartFacts::default()
            }
        })
        .boxed()
}

/// Lengths from nothing over those around a trim's limit to more than a column holds.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0),
        4 => 1..60u64,
        5 => 60..6_000u64,
        3 => 3_900..4_100u64,
        8 => 10_000..300_000u64,
        1 => (0..9u64).prop_map(|beyond| u64::from(u32::MAX) - 4 + beyond),
    ]
}

/// All sizes of a part whose text has this many units: near one another as in life, but all different, so
/// that a rule that reads the wrong one is noticed.
fn sizes(units: u64, mut digits: Digits) -> Sizes {
    let spread = digits.next(200).into();
    let blocks = digits.next(4);
    let images = digits.next(8).saturating_sub(4);
    let weighted = units + 3 * spread;
    Sizes {
        bytes: units + 2 * spread + 50_000 * u64::from(images),
        units,
        points: units.saturating_sub(spread),
        blocks,
        images,
        js_json: units + spread + 2,
        py_json: units + 5 * spread + 2,
        weighted,
        wide: units + 2 * spread,
        trimmed: weighted.min(3_000),
        tokens: units / 4 + spread,
        excerpt: if units < 1_000 { 0 } else { spread },
        // Few enough that some outputs come twice.
        source: 1 + u64::from(digits.next(200)),
    }
}

/// One drawn number, taken apart into several small ones: much cheaper than drawing each, and zero, to
/// which a failing case shrinks, makes all of them zero.
struct Digits(u32);

impl Digits {
    fn next(&mut self, base: u32) -> u32 {
        let digit = self.0 % base;
        self.0 /= base;
        digit
    }
}
