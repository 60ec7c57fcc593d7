//! Sessions made up for the page: of any length, the same every time, and one that is out to break it.

use secateur::{PartKind, Role};

use super::super::{
    PartVerdict, ReportCall, ReportCategory, ReportCompaction, ReportData, ReportMessage, ReportPart,
    ReportProfile, ReportTool, ReportTotals, ReportZone,
};

/// Texts that have broken other pages.
pub(super) const HOSTILE: [&str; 10] = [
    "</script><script>document.title='broken'</script>",
    "<!--<script>",
    "\"'><img src=x onerror=document.title='broken'>",
    "{{script}} {{data}} }} {{",
    "\u{202e}txt.exe\u{2066} \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627}",
    "\0\u{1}\u{7}\u{8}\u{1b}[31mred\u{7f}\u{85}\u{9b}\r\n\ttab",
    "line\u{2028}separator\u{2029}paragraph\u{feff}",
    "__proto__ constructor &lt;b&gt; &amp;#x3c;script&gt; javascript:alert(1)",
    "e\u{301}\u{301}\u{301}\u{301}\u{301} 👩‍👩‍👧‍👦 \u{10ffff} \u{fffe}",
    "url(https://example.invalid/x.png) @import 'https://example.invalid/x.css'; </style>",
];

/// A small generator, so that a sample is the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

const TOOLS: [(&str, &str, u64); 12] = [
    ("read", "file", 2600),
    ("bash", "command", 1800),
    ("grep", "search", 900),
    ("edit", "change", 350),
    ("list", "search", 260),
    ("fetch", "web", 5200),
    ("write", "change", 120),
    ("glob", "search", 300),
    ("task", "agent", 1400),
    ("diagnostics", "command", 700),
    ("todo", "note", 90),
    ("screenshot", "media", 1500),
];

const FOLDERS: [&str; 6] =
    ["src", "src/reader", "tests", "docs/pages", "crates/engine/src", "web/components"];
const NOUNS: [&str; 8] = ["outline", "session", "store", "branch", "ledger", "cursor", "parser", "index"];

/// A session with at least this many parts; an empty one if it is zero.
pub(super) fn session(wanted: usize) -> ReportData {
    let mut data = ReportData {
        title: "Move the reader to spans".to_owned(),
        file: "sessions/reader.jsonl".to_owned(),
        format: "opencode".to_owned(),
        agent_version: Some("1.4.2".to_owned()),
        model: Some("claude-sonnet-4-5".to_owned()),
        generator: "secateur 0.1.0".to_owned(),
        profile: ReportProfile {
            name: "opencode".to_owned(),
            about:
                "Leaves the newest two turns alone, protects 40,000 tokens of tool output before them, and \
                    cuts what is older if that is more than 20,000."
                    .to_owned(),
        },
        ..ReportData::default()
    };
    let mut dice = Dice(7);
    while data.parts.len() < wanted {
        turn(&mut data, &mut dice);
    }
    judge(&mut data, wanted);
    count(&mut data);
    data
}

/// A turn: a user message, then responses with thinking, calls and results.
fn turn(data: &mut ReportData, dice: &mut Dice) {
    let clock = data.messages.len() as i64 * 45_000 + 1_767_600_000_000;
    let noun = NOUNS[dice.below(8) as usize];
    speak(data, Role::User, clock);
    part(
        data,
        PartKind::Text,
        40 + dice.below(300),
        &format!("Please look at the {noun} and make it smaller."),
    );
    if dice.below(9) == 0 {
        part(data, PartKind::Media, 1_500, "image/png, 1280 × 800");
    }
    for step in 0..2 + dice.below(6) {
        speak(data, Role::Assistant, clock + 5_000 * step as i64);
        part(
            data,
            PartKind::Reasoning,
            60 + dice.below(500),
            &format!("The {noun} is read twice. I want to see where."),
        );
        part(data, PartKind::Text, 30 + dice.below(120), &format!("Let me look at the {noun}."));
        for _ in 0..1 + dice.below(3) {
            let (tool, _, typical) = TOOLS[(dice.below(12) * dice.below(12) / 11) as usize];
            let subject = match tool {
                "bash" => format!("cargo test -p {noun} -- --nocapture 2>&1 | tail -n 40"),
                "fetch" => format!("https://docs.example/{noun}/guide"),
                _ => {
                    let line = dice.below(900);
                    format!("{}/{noun}.rs:{line}-{}", FOLDERS[dice.below(6) as usize], line + 80)
                }
            };
            part(data, PartKind::Call, 20 + dice.below(90), &format!("{{\"path\": \"{subject}\"}}"));
            tag(data, tool, &subject);
            let text = format!("pub fn {noun}(&self) -> usize {{\n    self.spans.len()\n}}\n").repeat(6);
            part(data, PartKind::Result, typical / 3 + dice.below(typical * 2), &text);
            tag(data, tool, &subject);
        }
        data.calls.push(ReportCall {
            message: data.messages.len() as u64 - 1,
            time: Some(clock + 5_000 * step as i64),
            recorded: None,
            cached: None,
            estimated: 0,
            pruned: 0,
            cold: dice.below(14) == 0,
        });
    }
}

fn speak(data: &mut ReportData, role: Role, time: i64) {
    data.messages.push(ReportMessage { role, time: Some(time), summary: false, gone: false });
}

fn part(data: &mut ReportData, kind: PartKind, size: u64, preview: &str) {
    data.parts.push(ReportPart {
        message: data.messages.len() as u64 - 1,
        kind,
        tool: None,
        subject: None,
        status: None,
        size,
        after: size,
        verdict: PartVerdict::Kept,
        reason: String::new(),
        preview: preview.chars().take(400).collect(),
        clipped: preview.chars().count() > 400 || kind == PartKind::Result,
    });
}

fn tag(data: &mut ReportData, tool: &str, subject: &str) {
    if let Some(part) = data.parts.last_mut() {
        part.tool = Some(tool.to_owned());
        part.subject = Some(subject.to_owned());
        part.status = Some("completed".to_owned());
    }
}

/// Zones and verdicts: the first third lies behind a summary in long sessions, the rest is cut up to the window.
fn judge(data: &mut ReportData, wanted: usize) {
    let end = data.parts.len();
    if end == 0 {
        return;
    }
    let floor = if wanted > 400 { end / 3 } else { 0 };
    let [open, kept] = [end - end / 4, end - end / 16];
    let mut zone = |name: &str, first: usize, end: usize, about: &str| {
        if end > first {
            data.zones.push(ReportZone {
                name: name.to_owned(),
                first_part: first as u64,
                last_part: end as u64 - 1,
                about: about.to_owned(),
            });
        }
    };
    zone("before a summary", 0, floor, "A summary stands for it.");
    zone("prunable", floor, open, "Tool output that is older than what is protected.");
    zone("protected", open, kept, "The newest 40,000 tokens of tool output.");
    zone("active", kept, end, "What the agent works on now.");
    for (index, part) in data.parts.iter_mut().enumerate() {
        let result = part.kind == PartKind::Result;
        (part.verdict, part.after, part.reason) = match index {
            _ if index < floor => (PartVerdict::Gone, 0, "it lies behind a summary".to_owned()),
            _ if index >= kept => (PartVerdict::Kept, part.size, "it belongs to the active turn".to_owned()),
            _ if index >= open => (PartVerdict::Kept, part.size, "it is protected".to_owned()),
            _ if result && part.size > 4_000 => {
                (PartVerdict::Trimmed, 1_200, "it is large and older than what is protected".to_owned())
            }
            _ if result && part.tool.as_deref() != Some("todo") => {
                (PartVerdict::Cut, 12.min(part.size), "it is older than what is protected".to_owned())
            }
            _ if result => (PartVerdict::Kept, part.size, "its tool is protected".to_owned()),
            _ => (PartVerdict::Kept, part.size, "only tool results are cut".to_owned()),
        };
    }
    if floor > 0 {
        let message = data.parts[floor].message;
        data.compactions.push(ReportCompaction { message, before: Some(171_000) });
        for gone in &mut data.messages[..message as usize] {
            gone.gone = true;
        }
        data.messages[message as usize].summary = true;
    }
}

/// The totals, the tables and the calls, from the parts.
fn count(data: &mut ReportData) {
    let floor = data.compactions.first().map_or(0, |compaction| compaction.message);
    let mut running = (9_000_u64, 9_000_u64);
    let mut next = 0;
    for call in &mut data.calls {
        while let Some(part) = data.parts.get(next).filter(|part| part.message <= call.message) {
            if part.message == floor && floor > 0 && data.parts[next - 1].message < floor {
                running = (12_000, 12_000);
            }
            running.0 += part.size;
            running.1 +=
                if part.kind == PartKind::Result && next % 9 != 0 { part.size / 5 } else { part.size };
            next += 1;
        }
        call.estimated = running.0;
        call.pruned = running.1;
        call.recorded = (call.message % 17 != 5).then_some(running.0 / 50 * 52);
        call.cached = call.recorded.map(|size| if call.cold { 0 } else { size / 10 * 9 });
    }
    let here = |part: &&ReportPart| part.verdict != PartVerdict::Gone;
    let total = |parts: &mut dyn Iterator<Item = &ReportPart>| {
        parts.fold((0, 0), |sum, part| (sum.0 + part.size, sum.1 + part.after))
    };
    let (before, after) = total(&mut data.parts.iter().filter(here));
    let of = |kind: PartKind| data.parts.iter().filter(move |part| part.kind == kind);
    data.totals = ReportTotals {
        messages: data.messages.len() as u64,
        parts: data.parts.len() as u64,
        tool_calls: of(PartKind::Call).count() as u64,
        tool_results: of(PartKind::Result).count() as u64,
        before,
        after,
        window: (!data.parts.is_empty()).then(|| before.div_ceil(5) * 7),
        recorded_peak: data.calls.iter().filter_map(|call| call.recorded).max(),
    };
    let kinds = [
        ("user", PartKind::Text),
        ("reasoning", PartKind::Reasoning),
        ("tool_call", PartKind::Call),
        ("tool_result", PartKind::Result),
        ("media", PartKind::Media),
    ];
    for (name, kind) in kinds {
        let (before, after) = total(&mut of(kind).filter(here));
        data.categories.push(ReportCategory { name: name.to_owned(), before, after });
    }
    for (name, class, _) in TOOLS {
        let mine = |part: &&ReportPart| part.tool.as_deref() == Some(name);
        let (before, after) = total(&mut data.parts.iter().filter(mine).filter(here));
        let calls = of(PartKind::Call).filter(mine).count() as u64;
        if calls > 0 {
            data.tools.push(ReportTool {
                name: name.to_owned(),
                class: class.to_owned(),
                calls,
                before,
                after,
            });
        }
    }
}

/// A session whose every text is out to break the page, and whose numbers are as wide as they get.
pub(super) fn hostile() -> ReportData {
    let mut data = session(120);
    let nasty = |at: usize| HOSTILE[at % HOSTILE.len()].to_owned();
    let wide = |at: usize| format!("{}{}", nasty(at), "W".repeat(3_000));
    (data.title, data.file, data.format) = (nasty(0) + &nasty(4), wide(2), nasty(3));
    (data.model, data.agent_version, data.generator) = (Some(wide(4)), Some(nasty(5)), nasty(6));
    data.profile = ReportProfile { name: nasty(7), about: wide(8) };
    data.warnings = (0..150).map(wide).collect();
    for (at, part) in data.parts.iter_mut().enumerate() {
        part.preview = if at % 7 == 0 { nasty(at).repeat(3_000) } else { nasty(at) };
        part.reason = nasty(at + 1);
        part.status = part.status.take().map(|_| nasty(at + 2));
        part.tool = part.tool.take().map(|tool| format!("{}{tool}", nasty(at + 3)));
        part.subject = part.subject.take().map(|_| wide(at + 4));
    }
    for (at, tool) in data.tools.iter_mut().enumerate() {
        (tool.name, tool.class) = (wide(at), nasty(at));
    }
    for (at, zone) in data.zones.iter_mut().enumerate() {
        (zone.name, zone.about) = (nasty(at), wide(at));
    }
    data.categories.push(ReportCategory { name: wide(1), before: u64::MAX, after: 1 });
    data.zones.push(ReportZone {
        name: String::new(),
        first_part: 90,
        last_part: u64::MAX,
        about: String::new(),
    });
    if let [first, second, third, ..] = data.parts.as_mut_slice() {
        (first.size, first.after) = (0, 0);
        (second.message, second.after) = (u64::MAX, second.size * 2);
        third.size = 9_999_999;
    }
    if let [first, second, ..] = data.calls.as_mut_slice() {
        (first.time, second.time) = (Some(i64::MAX), None);
    }
    data.compactions.push(ReportCompaction { message: u64::MAX, before: None });
    data
}
