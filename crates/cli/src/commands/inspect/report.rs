//! What `inspect` reports about a session, as data.

use std::collections::{BTreeMap, HashMap};

use secateur::{
    Calibration, Category, MessageIx, Name, Outline, PartIx, PartKind, Stale, TimelinePoint, ToolClass,
};
use secateur_formats::{Census, Format, Origin, Skim, Warning};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct InspectReport<'a> {
    pub(super) file: &'a str,
    pub(super) format: Format,
    #[serde(flatten)]
    pub(super) census: Census,
    pub(super) origin: &'a Origin,
    pub(super) context: ContextSize,
    pub(super) categories: Vec<CategoryRow>,
    pub(super) tools: Vec<ToolRow<'a>>,
    pub(super) timeline: Vec<TimelinePoint>,
    pub(super) compacted: Vec<CompactionRow>,
    pub(super) biggest: Vec<ResultRow<'a>>,
    pub(super) stalest: Vec<ResultRow<'a>>,
    pub(super) warnings: &'a [Warning],
}

/// What the next request would hold.
#[derive(Serialize)]
pub(super) struct ContextSize {
    pub(super) messages: usize,
    pub(super) chars: u64,
    pub(super) estimated_tokens: u64,
}

#[derive(Serialize)]
pub(super) struct CategoryRow {
    pub(super) name: &'static str,
    pub(super) parts: u64,
    pub(super) chars: u64,
    pub(super) live_chars: u64,
}

#[derive(Serialize)]
pub(super) struct ToolRow<'a> {
    pub(super) name: &'a str,
    pub(super) class: ToolClass,
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) call_chars: u64,
    pub(super) result_chars: u64,
}

/// One compaction: the request before which it happened, and the contexts around it.
#[derive(Serialize)]
pub(crate) struct CompactionRow {
    pub(crate) message: MessageIx,
    pub(super) request: usize,
    pub(crate) before: Option<u64>,
    pub(super) after: Option<u64>,
}

/// A tool result in the list of the biggest or stalest.
#[derive(Clone, Serialize)]
pub(super) struct ResultRow<'a> {
    pub(super) part: u32,
    pub(super) tool: Option<&'a str>,
    pub(super) about: Option<String>,
    pub(super) chars: u64,
    /// How many requests have carried it.
    pub(super) age: u64,
    pub(super) stale: Option<&'static str>,
}

impl<'a> InspectReport<'a> {
    /// The report on one session, with this many of the biggest and stalest results.
    pub(super) fn of(file: &'a str, skim: &'a Skim, top: usize) -> Self {
        let outline = &skim.outline;
        let live = outline.context(None);
        let timeline = outline.timeline();
        let chars = live.iter().map(|&message| weight(outline, message)).sum();
        let mut items = items(skim, &live, &timeline);
        items.sort_by_key(|item| std::cmp::Reverse(item.chars));
        let biggest = items.iter().take(top).cloned().collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.chars.saturating_mul(item.age)));
        let stalest = items.into_iter().filter(|item| item.age > 0).take(top).collect();
        Self {
            file,
            format: skim.format,
            census: Census::of(outline, skim.format),
            origin: &skim.origin,
            context: ContextSize {
                messages: live.len(),
                chars,
                estimated_tokens: Calibration::of(&timeline).predict(chars),
            },
            categories: categories(outline, &live),
            tools: tools(outline),
            compacted: compactions(outline, &timeline),
            timeline,
            biggest,
            stalest,
            warnings: &skim.warnings,
        }
    }
}

/// The tokens of a request, as recorded or else as estimated.
pub(super) fn tokens(moment: &TimelinePoint) -> u64 {
    moment.recorded.unwrap_or(moment.estimated)
}

fn weight(outline: &Outline, message: MessageIx) -> u64 {
    outline.parts_of(message).map(|part| outline.sent(PartIx(part))).sum()
}

fn categories(outline: &Outline, live: &[MessageIx]) -> Vec<CategoryRow> {
    let mut is_live = vec![false; outline.message_count()];
    for message in live {
        if let Some(slot) = is_live.get_mut(message.0 as usize) {
            *slot = true;
        }
    }
    let mut rows: BTreeMap<Category, CategoryRow> = BTreeMap::new();
    for part in outline.parts() {
        let category = outline.category(part);
        let name = category.name();
        let row = rows.entry(category).or_insert(CategoryRow { name, parts: 0, chars: 0, live_chars: 0 });
        let chars = outline.sent(part);
        row.parts += 1;
        row.chars += chars;
        if is_live.get(outline.owner(part).0 as usize).copied().unwrap_or(false) {
            row.live_chars += chars;
        }
    }
    rows.into_values().filter(|row| row.chars > 0).collect()
}

fn tools(outline: &Outline) -> Vec<ToolRow<'_>> {
    let mut rows: HashMap<Name, ToolRow<'_>> = HashMap::new();
    for part in outline.parts() {
        let name = outline.tool(part).unwrap_or("(not named)");
        let kind = outline.kind(part);
        if !matches!(kind, PartKind::Call | PartKind::Result) {
            continue;
        }
        let row = rows.entry(outline.tool_name(part)).or_insert(ToolRow {
            name,
            class: outline.class(part),
            calls: 0,
            failed: 0,
            call_chars: 0,
            result_chars: 0,
        });
        if kind == PartKind::Call {
            row.calls += 1;
            row.call_chars += outline.units(part);
        } else {
            row.failed += u64::from(outline.is_failure(part));
            row.result_chars += outline.units(part);
        }
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by(|one, other| other.result_chars.cmp(&one.result_chars).then(one.name.cmp(other.name)));
    rows
}

/// The compactions of a session, with the requests around each.
pub(crate) fn compactions(outline: &Outline, timeline: &[TimelinePoint]) -> Vec<CompactionRow> {
    let marks = outline.parts().filter(|&part| outline.kind(part) == PartKind::Compaction);
    marks
        .map(|mark| {
            let message = outline.owner(mark);
            let next = timeline.partition_point(|moment| moment.message <= message);
            let before = next.checked_sub(1).and_then(|before| timeline.get(before));
            let after = timeline.get(next).map(tokens);
            CompactionRow { message, request: next + 1, before: before.map(tokens), after }
        })
        .collect()
}

fn items<'a>(skim: &'a Skim, live: &[MessageIx], timeline: &[TimelinePoint]) -> Vec<ResultRow<'a>> {
    let (outline, format) = (&skim.outline, skim.format);
    let staleness = outline.staleness();
    let parts = live.iter().flat_map(|&message| outline.parts_of(message)).map(PartIx);
    // Numbered as plans number them: within the context, or in the whole session if its system's rule needs all of it.
    let results = parts.zip(0_u32..).map(|(part, place)| match format.prunes_itself() {
        true => (part, part.0),
        false => (part, place),
    });
    let results =
        results.filter(|&(part, _)| outline.kind(part) == PartKind::Result && !outline.is_cut(part));
    let item = |(part, number): (PartIx, u32)| ResultRow {
        part: number,
        tool: outline.tool(part),
        about: about(outline, part),
        chars: outline.units(part),
        age: (timeline.len() - timeline.partition_point(|moment| moment.message <= outline.owner(part)))
            as u64,
        stale: staleness.get(part.0 as usize).copied().flatten().map(|stale| match stale {
            Stale::ReadAgain(_) => "read again later",
            Stale::Edited(_) => "edited later",
            Stale::Repeated(_) => "repeated later",
        }),
    };
    results.map(item).collect()
}

/// The subject of a part in one line: a path with its lines, or a command.
pub(crate) fn about(outline: &Outline, part: PartIx) -> Option<String> {
    let subject = outline.subject(part)?;
    let lines = outline.lines(part);
    Some(match lines {
        secateur::LineRange::ALL => subject.to_owned(),
        secateur::LineRange { first, last: u32::MAX } => format!("{subject}:{first}-"),
        secateur::LineRange { first, last } => format!("{subject}:{first}-{last}"),
    })
}
