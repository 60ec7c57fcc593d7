//! A session step by step: a user writes, a store in memory stores, a scripted model summarises.

use std::collections::{BTreeMap, VecDeque};

use secateur::session::{
    ChangeSet, CompactionFailure, Consent, Effect, Input, LiveMessage, Means, MessageKind, Operation,
    Proposal, RequestFacts, SessionMachine, SessionMessage, SessionPart, SessionState, SummaryTask,
    TurnState,
};
use secateur::{Cache, Limits, PartKind, Profile, Profiles, Role, Sizes, ToolClass, ToolStatus, Usage};

use crate::wording::{name, word_event, word_message};

/// A session under a profile, its surroundings, and what happened since it was last shown.
pub(crate) struct Scene {
    pub(crate) machine: SessionMachine,
    pub(crate) limits: Limits,
    pub(crate) now: i64,
    /// What the provider charges for cached input, if that is known.
    pub(crate) cache: Option<Cache>,
    /// What the model makes of the next tasks: a summary of so many characters, or nothing. Later ones succeed.
    pub(crate) summaries: VecDeque<Result<u64, CompactionFailure>>,
    /// What the hooks object to.
    pub(crate) refuses: fn(&Proposal) -> bool,
    titles: BTreeMap<u64, String>,
    entries: BTreeMap<u64, SessionMessage>,
    story: Vec<String>,
    /// Cuts of the last request alone.
    passing: Vec<(u64, secateur::session::SessionCut)>,
    later: Vec<SummaryTask>,
    summary: SessionMessage,
    calls: u32,
}

/// A profile by its name.
pub(crate) fn profile(name: &str) -> Profile {
    Profiles::builtin().get(name).expect("a profile that comes with the crate")
}

impl Scene {
    /// An empty session with a model of 200,000 tokens.
    pub(crate) fn of(profile: &Profile) -> Self {
        let limits = Limits { context: 200_000, output: Some(16_000), ..Limits::default() };
        let mut machine = SessionMachine::new(profile, SessionState::default(), []);
        // From its first request on a session knows its model.
        let now = 1_700_000_000_000;
        machine.handle(Input::Requested(RequestFacts { limits, now, ..RequestFacts::default() }));
        Self {
            machine,
            limits,
            now,
            cache: None,
            summaries: VecDeque::new(),
            refuses: |_| false,
            titles: BTreeMap::new(),
            entries: BTreeMap::new(),
            story: Vec::new(),
            passing: Vec::new(),
            later: Vec::new(),
            summary: SessionMessage::default(),
            calls: 0,
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::of(&profile(name))
    }

    /// Adds a message of the user.
    pub(crate) fn say(&mut self, role: Role, title: &str, chars: u64) {
        self.append(
            title,
            SessionMessage { role, parts: vec![part(PartKind::Text, chars)], ..SessionMessage::default() },
        );
    }

    /// The user says something that must stay.
    pub(crate) fn pin(&mut self, title: &str, chars: u64) {
        let parts = vec![part(PartKind::Text, chars)];
        self.append(
            title,
            SessionMessage { role: Role::User, pinned: true, parts, ..SessionMessage::default() },
        );
    }

    /// A marker was written, and its summary never came.
    pub(crate) fn mark(&mut self) {
        self.append("<marker>", made(MessageKind::Marker));
    }

    /// The model calls a tool, which answers.
    pub(crate) fn work(&mut self, tool: &str, chars: u64) {
        self.calls += 1;
        let call = Some(format!("call-{}", self.calls));
        let class = match tool {
            "read" => ToolClass::Read,
            "edit" => ToolClass::Edit,
            "bash" => ToolClass::Shell,
            _ => ToolClass::Other,
        };
        let of = |kind, chars| SessionPart {
            tool: Some(tool.to_owned()),
            call: call.clone(),
            class,
            ..part(kind, chars)
        };
        let parts = vec![part(PartKind::Text, 100), of(PartKind::Call, 60)];
        self.append("", SessionMessage { role: Role::Assistant, parts, ..SessionMessage::default() });
        self.append(
            "",
            SessionMessage {
                role: Role::Tool,
                parts: vec![of(PartKind::Result, chars)],
                ..SessionMessage::default()
            },
        );
    }

    fn append(&mut self, title: &str, entry: SessionMessage) {
        let seq = self.keep(title.to_owned(), entry.clone());
        self.drive(Input::Appended { messages: vec![(seq, entry)] });
    }

    fn keep(&mut self, title: String, entry: SessionMessage) -> u64 {
        let seq = self.entries.len() as u64 + 1;
        self.titles.insert(seq, title);
        self.entries.insert(seq, entry);
        seq
    }

    /// The application wants to ask the model.
    pub(crate) fn ask(&mut self) {
        let (limits, cache, now) = (self.limits, self.cache, self.now);
        self.drive(Input::Requested(RequestFacts {
            model: "model".into(),
            limits,
            cache,
            now,
            ..RequestFacts::default()
        }));
    }

    /// It asked, and the provider reports so many tokens of input.
    pub(crate) fn report(&mut self, input: i64, turn: TurnState) {
        let usage = Usage { input, output: 500, ..Usage::default() };
        let sent = self.machine.state().sent_chars;
        self.drive(Input::Responded { usage, turn, sent, now: self.now });
    }

    /// Hands an input to the machine and carries out what it says.
    pub(crate) fn drive(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.machine.handle(input) {
                inputs.extend(self.carry_out(effect));
            }
        }
    }

    fn carry_out(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Consult { ticket, about } => {
                let refused = (self.refuses)(&about);
                let verdict = if refused { Consent::Refused } else { Consent::Given };
                Some(Input::Consulted { ticket, consent: verdict })
            }
            Effect::Store(record) => Some(self.store(&record)),
            Effect::Summarise(task) if task.background => {
                self.later.push(task);
                None
            }
            Effect::Summarise(task) => Some(self.summarise(&task)),
            Effect::Send { tokens, usable, cuts } => {
                let usable = usable.map_or("unknown".into(), |usable| usable.to_string());
                self.story.push(format!("send {tokens} of {usable} tokens"));
                self.passing = cuts;
                None
            }
            Effect::Reject(no) => {
                let largest = no.largest.map_or(String::new(), |seq| self.title(seq));
                let because = no.why.map_or(String::new(), |why| format!(", {}", name(&why)));
                self.story.push(format!("reject {} of {} tokens: {largest}{because}", no.tokens, no.usable));
                None
            }
            Effect::Done => None,
        }
    }

    /// The summaries in the background are there.
    pub(crate) fn finish(&mut self) {
        while let Some(task) = self.later.pop() {
            let answer = self.summarise(&task);
            self.drive(answer);
        }
    }

    fn summarise(&mut self, task: &SummaryTask) -> Input {
        let scripted = match task.means {
            Means::Model => self.summaries.pop_front().unwrap_or(Ok(1_200)),
            Means::Digest => Ok(800),
        };
        let about = format!("{} messages", task.head.len());
        let previous = task.previous.map_or(String::new(), |seq| format!(", updating {}", self.title(seq)));
        let (task, means, now) = (task.id, name(&task.means), self.now);
        self.story.push(format!("summarise {about}{previous} by {means}"));
        match scripted {
            Ok(chars) => {
                let parts = vec![part(PartKind::Text, chars)];
                let nature = MessageKind::Summary;
                self.summary = SessionMessage {
                    role: Role::Assistant,
                    kind: nature,
                    parts,
                    ..SessionMessage::default()
                };
                Input::Summarised { task, summary: self.summary.clone(), now }
            }
            Err(why) => Input::Failed { task, why, now },
        }
    }

    fn store(&mut self, record: &ChangeSet) -> Input {
        let mut messages = Vec::new();
        let mut make = |scene: &mut Self, title: String, entry: SessionMessage| {
            messages.push((scene.keep(title, entry.clone()), entry));
        };
        for operation in &record.operations {
            match operation {
                Operation::Prune { .. } => {}
                Operation::Mark { .. } => make(self, "<marker>".into(), made(MessageKind::Marker)),
                Operation::Resume => make(self, "<continue>".into(), made(MessageKind::Resume)),
                Operation::Compact(turnover) => {
                    if turnover.marker.is_none() {
                        make(self, "<marker>".into(), made(MessageKind::Marker));
                    }
                    let title = format!("<summary {}>", turnover.task);
                    make(self, title, self.summary.clone());
                    if let Some(seq) = turnover.replay {
                        make(self, self.titles[&seq].clone(), self.entries[&seq].clone());
                    }
                    if turnover.resume {
                        make(self, "<continue>".into(), made(MessageKind::Resume));
                    }
                }
            }
        }
        self.story.extend(record.events.iter().map(word_event));
        Input::Stored { ticket: record.ticket, messages, operation: 1, handles: Vec::new() }
    }

    fn title(&self, seq: u64) -> String {
        word_message(
            &self.titles[&seq],
            &LiveMessage { seq, facts: self.entries[&seq].clone(), cuts: vec![], chars: 0 },
        )
    }

    /// What the model would see, and what happened since this was last asked.
    pub(crate) fn show(&mut self) -> String {
        let mut lines = Vec::new();
        for (index, row) in self.machine.context().rows().iter().enumerate() {
            let mut row = row.clone();
            row.cuts
                .extend(self.passing.iter().filter(|(seq, _)| *seq == row.seq).map(|(_, cut)| cut.clone()));
            let role = name(&row.facts.role);
            lines.push(format!("{index:02} {role:<9} {}", word_message(&self.titles[&row.seq], &row)));
        }
        lines.push("--".into());
        lines.append(&mut self.story);
        lines.join("\n")
    }
}

fn made(nature: MessageKind) -> SessionMessage {
    SessionMessage {
        role: Role::User,
        kind: nature,
        parts: vec![part(PartKind::Text, 30)],
        ..SessionMessage::default()
    }
}

fn part(kind: PartKind, chars: u64) -> SessionPart {
    let sizes = Sizes {
        units: chars,
        points: chars,
        bytes: chars,
        py_json: chars,
        weighted: chars,
        wide: chars,
        trimmed: chars.min(3_000),
        ..Sizes::default()
    };
    let status = if kind == PartKind::Result { ToolStatus::Completed } else { ToolStatus::None };
    SessionPart { kind, status, sizes, ..SessionPart::default() }
}
