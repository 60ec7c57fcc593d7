//! The world around a session machine: an application, a store, a summariser, hooks, and bad luck.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use secateur::session::{
    ChangeSet, CompactionFailure, Consent, Effect, Event, Input, LiveMessage, Means, MessageKind, Operation,
    RequestFacts, SessionCut, SessionMachine, SessionMessage, SessionPart, SessionState, SummaryTask,
    TurnState,
};
use secateur::{Limits, Occasion, PartKind, Profile, Profiles, Role, Sizes, ToolStatus, Usage};

use crate::random::Random;

/// So many steps answer any question, or the machine runs in circles.
const PATIENCE: usize = 80;

static PROFILES: LazyLock<Vec<Arc<Profile>>> = LazyLock::new(|| {
    let names = [
        "balanced",
        "balanced",
        "balanced",
        "opencode",
        "openclaw",
        "openagentic",
        "qwery",
        "opencode@2026-01",
        "openagentic@0.1.4",
    ];
    let mut profiles: Vec<Profile> =
        names.iter().map(|name| Profiles::builtin().get(name).expect("a builtin profile")).collect();
    // Small numbers, so that something happens in a short life.
    for (index, profile) in profiles.iter_mut().enumerate() {
        if let secateur::Family::Watermark(watermark) = &mut profile.policy.family {
            watermark.protect = 600;
            watermark.minimum = 200;
        }
        if index == 1 {
            profile.compaction.background = Some("70%".parse().expect("a share"));
        }
        if index == 2 {
            profile.compaction.attempts = 0;
        }
        profile.overflow.output_cap = 500;
        profile.overflow.reserved_default = 500;
    }
    profiles.into_iter().map(Arc::new).collect()
});

struct Stored {
    entry: SessionMessage,
    cuts: Vec<SessionCut>,
    hidden: bool,
    kept: bool,
}

pub(crate) struct World {
    random: Random,
    profile: Arc<Profile>,
    // What survives a crash.
    log: BTreeMap<u64, Stored>,
    state: SessionState,
    live_from: u64,
    operations: u64,
    revision: u64,
    acknowledged: Vec<String>,
    // What does not.
    machine: SessionMachine,
    loaded: u64,
    waiting: Vec<Effect>,
    summary: SessionMessage,
    answered: BTreeMap<u64, Input>,
    // The application and its model.
    open_calls: Vec<String>,
    turn: TurnState,
    calls: u64,
    limits: Limits,
    chars_per_token: u64,
    now: i64,
    is_steady: bool,
    pub(crate) seen: BTreeSet<&'static str>,
}

impl World {
    pub(crate) fn new(mut random: Random) -> Self {
        let profile = Arc::clone(random.pick(&PROFILES));
        let context = *random.pick(&[2_000i64, 4_000, 8_000]);
        let limits = Limits { context, output: Some(500), ..Limits::default() };
        let chars_per_token = 2 + random.below(4);
        let is_steady = random.happens(30);
        let machine = SessionMachine::sharing(Arc::clone(&profile), SessionState::default(), []);
        Self {
            random,
            profile,
            log: BTreeMap::new(),
            state: SessionState::default(),
            live_from: 1,
            operations: 0,
            revision: 0,
            acknowledged: Vec::new(),
            machine,
            loaded: 0,
            waiting: Vec::new(),
            summary: SessionMessage::default(),
            answered: BTreeMap::new(),
            open_calls: Vec::new(),
            turn: TurnState::Over,
            calls: 0,
            limits,
            chars_per_token,
            now: 1_700_000_000_000,
            is_steady,
            seen: BTreeSet::new(),
        }
    }

    pub(crate) fn length(&mut self) -> u64 {
        8 + self.random.below(40)
    }

    pub(crate) fn step(&mut self) {
        self.now += self.random.below(60_000) as i64;
        if self.is_unlucky(2) {
            self.now -= 3_600_000;
        }
        match self.random.below(100) {
            0..40 => self.talk(),
            40..75 => self.ask(),
            75..80 => {
                let now = self.now;
                self.drive(Input::Compact { now });
            }
            80..84 if self.is_unlucky(100) => self.crash(),
            84..88 if self.is_unlucky(100) => self.interfere(),
            88..92 => {
                let (sent, now) = (self.machine.state().sent_chars, self.now);
                self.drive(Input::Refused { tokens: None, sent, now });
            }
            92..95 => {
                let now = self.now;
                self.drive(Input::Opened { now });
            }
            _ => {
                self.drive(Input::Retry);
            }
        }
    }

    fn is_unlucky(&mut self, percent: u64) -> bool {
        !self.is_steady && self.random.happens(percent)
    }

    /// Adds messages, in a conversation that is valid as long as it is not cut.
    fn talk(&mut self) {
        let mut entry = SessionMessage::default();
        let size = [40, 200, 900, 4_000, 20_000][self.random.below(5) as usize];
        let size = 1 + self.random.below(size);
        if !self.open_calls.is_empty() && !self.random.happens(10) {
            let call = self.open_calls.remove(0);
            entry.role = Role::Tool;
            entry.parts.push(part(PartKind::Result, size, Some(&call)));
        } else if self.turn == TurnState::Open && self.random.happens(60) {
            self.open_calls.clear();
            entry.role = Role::Assistant;
            entry.parts.push(part(PartKind::Text, size.min(400), None));
            for _ in 0..self.random.below(3) {
                self.calls += 1;
                let call = format!("call-{}", self.calls);
                entry.parts.push(part(PartKind::Call, 30, Some(&call)));
                self.open_calls.push(call);
            }
            self.turn = if self.open_calls.is_empty() { TurnState::Over } else { TurnState::Open };
        } else {
            self.open_calls.clear();
            entry.role = Role::User;
            entry.pinned = self.random.happens(5) && size < 200;
            entry.parts.push(part(PartKind::Text, size.min(700), None));
            self.turn = TurnState::Open;
        }
        self.append(entry);
    }

    /// The application appends, and tries again until it is acknowledged.
    fn append(&mut self, mut entry: SessionMessage) {
        entry.id = format!("m{}", self.acknowledged.len() + 1);
        if self.loaded != self.revision {
            self.crash();
        }
        let seq = self.keep(entry.clone(), false);
        self.acknowledged.push(entry.id.clone());
        self.revision += 1;
        if self.is_unlucky(5) {
            // It died before it could tell its machine.
            return self.crash();
        }
        self.loaded = self.revision;
        let input = Input::Appended { messages: vec![(seq, entry)] };
        if self.is_unlucky(5) {
            self.drive(input.clone());
        }
        self.drive(input);
    }

    fn keep(&mut self, entry: SessionMessage, kept: bool) -> u64 {
        let seq = self.log.keys().next_back().map_or(1, |last| last + 1);
        self.log.insert(seq, Stored { entry, cuts: Vec::new(), hidden: false, kept });
        seq
    }

    /// The application wants to ask a model, which then answers, refuses, or says nothing.
    fn ask(&mut self) {
        if self.random.happens(10) {
            self.limits.context = *self.random.pick(&[1_500i64, 2_000, 4_000, 8_000]);
        }
        let request = RequestFacts {
            model: "model".into(),
            limits: self.limits,
            cache: None,
            band_limits: vec![900, 3_000],
            thinking: None,
            envelope: 300,
            now: self.now,
        };
        let outcome = self.drive(Input::Requested(request));
        self.seen.extend(matches!(outcome, Some(Effect::Reject(_))).then_some("a rejected request"));
        let Some(Effect::Send { tokens, usable, .. }) = outcome else { return };
        assert!(usable.is_none_or(|usable| tokens <= usable), "{tokens} of {usable:?} tokens let through");
        self.check_exchanges();
        let (sent, now) = (self.machine.state().sent_chars, self.now);
        let real = (self.machine.context().chars() + 300) / self.chars_per_token;
        if real as i64 > self.limits.context {
            let tokens = self.random.happens(50).then_some(real);
            self.drive(Input::Refused { tokens, sent, now });
        } else if !self.is_unlucky(10) {
            let usage = Usage { input: real as i64, output: 50, ..Usage::default() };
            self.drive(Input::Responded { usage, turn: self.turn, sent, now });
        }
    }

    /// Hands an input to the machine and carries out what it says, until it has nothing more to say. Gives the last
    /// word on a request.
    fn drive(&mut self, input: Input) -> Option<Effect> {
        let mut last = None;
        let mut inputs = vec![input];
        for _ in 0..PATIENCE {
            let Some(input) = inputs.pop() else {
                // Summaries in the background come when they come.
                let later = |effect: &Effect| matches!(effect, Effect::Summarise(task) if task.background);
                let now = self.waiting.iter().position(|effect| !later(effect) || self.random.happens(30));
                let Some(index) = now else { return last };
                let effect = self.waiting.remove(index);
                match effect {
                    Effect::Send { .. } | Effect::Reject(_) | Effect::Done => last = Some(effect),
                    _ if self.is_unlucky(4) => inputs.push(Input::Retry),
                    effect => match self.carry_out(&effect) {
                        Some(_) if self.is_unlucky(2) => {
                            self.crash();
                            return None;
                        }
                        Some(answer) => {
                            if self.is_unlucky(4) {
                                inputs.push(answer.clone());
                            }
                            inputs.push(answer);
                        }
                        None => {
                            self.crash();
                            return None;
                        }
                    },
                }
                continue;
            };
            self.waiting.extend(self.machine.handle(input));
        }
        panic!("no end in sight: {:?}", self.waiting);
    }

    fn note(&mut self, record: &ChangeSet) {
        for operation in &record.operations {
            self.seen.insert(match operation {
                Operation::Prune { occasion: Occasion::Arrival, .. } => "a result capped",
                Operation::Prune { occasion: Occasion::Emergency, .. } => "a last resort",
                Operation::Prune { .. } => "a prune",
                Operation::Mark { .. } => "a marker ahead of its summary",
                Operation::Resume => "a resume without a summary",
                Operation::Compact(turnover) if turnover.replay.is_some() => "a replay",
                Operation::Compact(turnover) if turnover.resume => "a resume",
                Operation::Compact(turnover) if turnover.previous.is_some() => "a second compaction",
                Operation::Compact(_) => "a compaction",
            });
        }
        for event in &record.events {
            match event {
                Event::BreakerOpened { .. } => self.seen.insert("an open breaker"),
                Event::BreakerClosed => self.seen.insert("a closed breaker"),
                Event::CompactionStarted { background: true, .. } => {
                    self.seen.insert("work in the background")
                }
                Event::CompactionStarted { means: Means::Digest, .. } => self.seen.insert("a digest"),
                Event::CompactionFailed { why: CompactionFailure::NoProgress { .. }, .. } => {
                    self.seen.insert("no progress")
                }
                Event::CompactionRefused { why: CompactionFailure::Vetoed } => self.seen.insert("a veto"),
                _ => false,
            };
        }
    }

    /// Does what an effect says; none if another process was faster.
    fn carry_out(&mut self, effect: &Effect) -> Option<Input> {
        let now = self.now;
        Some(match effect {
            Effect::Store(record) => return self.store(record),
            Effect::Consult { ticket, .. } => {
                let verdict = if self.is_unlucky(3) {
                    Consent::Refused
                } else if self.is_unlucky(3) {
                    Consent::Elsewhere
                } else {
                    Consent::Given
                };
                Input::Consulted { ticket: *ticket, consent: verdict }
            }
            Effect::Summarise(task) => match self.summarise(task) {
                Ok(summary) => Input::Summarised { task: task.id, summary, now },
                Err(why) => Input::Failed { task: task.id, why, now },
            },
            Effect::Send { .. } | Effect::Reject(_) | Effect::Done => return None,
        })
    }

    fn summarise(&mut self, task: &SummaryTask) -> Result<SessionMessage, CompactionFailure> {
        for seq in &task.head {
            assert!(self.log.contains_key(seq), "a message that is not there cannot be summarised");
        }
        let budget = task.budget_chars;
        let size = match task.means {
            Means::Digest => self.random.below(budget + 1),
            Means::Model if self.is_unlucky(30) => {
                return Err(match self.random.below(4) {
                    0 => CompactionFailure::Vetoed,
                    1 => CompactionFailure::Flawed { message: "empty".into() },
                    _ => CompactionFailure::Model { message: "500".into() },
                });
            }
            Means::Model => self.random.below(budget * 3 / 2),
        };
        if size > budget {
            return Err(CompactionFailure::Flawed { message: "too long".into() });
        }
        self.summary = made(MessageKind::Summary, Role::Assistant, size);
        Ok(self.summary.clone())
    }

    /// One transaction: all of it, unless another process was faster.
    fn store(&mut self, record: &ChangeSet) -> Option<Input> {
        if let Some(answer) = self.answered.get(&record.ticket) {
            // A process knows what it stored already.
            return Some(answer.clone());
        }
        if self.loaded != self.revision {
            return None;
        }
        self.note(record);
        let mut messages = Vec::new();
        let mut state = (*record.state).clone();
        let first = self.operations + 1;
        for operation in &record.operations {
            self.operations += 1;
            match operation {
                Operation::Prune { cuts, .. } => {
                    for (seq, cut) in cuts {
                        let stored = self.log.get_mut(seq).expect("a message that is cut is there");
                        stored.cuts.retain(|earlier| earlier.part != cut.part);
                        stored.cuts.push(SessionCut { operation: self.operations, ..cut.clone() });
                    }
                }
                Operation::Mark { .. } => self.make(made(MessageKind::Marker, Role::User, 22), &mut messages),
                Operation::Resume => self.make(made(MessageKind::Resume, Role::User, 30), &mut messages),
                Operation::Compact(turnover) => {
                    if turnover.marker.is_none() {
                        self.make(made(MessageKind::Marker, Role::User, 22), &mut messages);
                    }
                    self.make(self.summary.clone(), &mut messages);
                    if let Some(replay) = turnover.replay {
                        let entry = SessionMessage { id: String::new(), ..self.log[&replay].entry.clone() };
                        self.make(entry, &mut messages);
                    }
                    if turnover.resume {
                        self.make(made(MessageKind::Resume, Role::User, 30), &mut messages);
                    }
                    let pivot = turnover.pivot(&messages).expect("a summary was made");
                    let hidden = turnover.hidden(&messages);
                    for (seq, stored) in &mut self.log {
                        stored.hidden |= hidden.contains(seq);
                        stored.kept = pivot.kept.contains(seq);
                    }
                    self.live_from = pivot.live_from;
                    state.pivot = Some(pivot);
                }
            }
        }
        self.state = state;
        self.revision += 1;
        self.loaded = self.revision;
        let answer = Input::Stored { ticket: record.ticket, messages, operation: first, handles: Vec::new() };
        self.answered.insert(record.ticket, answer.clone());
        Some(answer)
    }

    fn make(&mut self, mut entry: SessionMessage, messages: &mut Vec<(u64, SessionMessage)>) {
        entry.id = format!("made-{}-{}", self.operations, messages.len());
        messages.push((self.keep(entry.clone(), false), entry));
    }

    /// The process dies and starts again from what was stored.
    fn crash(&mut self) {
        self.machine = self.reload();
        self.loaded = self.revision;
        self.waiting.clear();
        self.answered.clear();
    }

    /// Another process appends a message.
    fn interfere(&mut self) {
        let mut entry = SessionMessage { role: Role::User, ..SessionMessage::default() };
        entry.parts.push(part(PartKind::Text, 50, None));
        entry.id = format!("m{}", self.acknowledged.len() + 1);
        self.acknowledged.push(entry.id.clone());
        self.open_calls.clear();
        self.keep(entry, false);
        self.revision += 1;
    }

    fn reload(&self) -> SessionMachine {
        let is_living = |(seq, stored): &(&u64, &Stored)| {
            !stored.hidden && (**seq >= self.live_from || stored.entry.is_fixed() || stored.kept)
        };
        let living = self.log.iter().filter(is_living).map(|(&seq, stored)| {
            let (entry, cuts) = (stored.entry.clone(), stored.cuts.clone());
            LiveMessage { seq, facts: entry, cuts, chars: 0 }
        });
        SessionMachine::sharing(Arc::clone(&self.profile), self.state.clone(), living)
    }

    /// Every answer has its call, and a call whose answer was recorded has its answer.
    fn check_exchanges(&self) {
        let window = self.machine.context();
        assert!(window.is_sound(), "an answer lost its call");
        let ids = |parts: Vec<&SessionPart>, kind: PartKind| -> BTreeSet<String> {
            parts.iter().filter(|part| part.kind == kind).filter_map(|part| part.call.clone()).collect()
        };
        let sent: Vec<&SessionPart> = window.rows().iter().flat_map(|row| &row.facts.parts).collect();
        let all: Vec<&SessionPart> = self.log.values().flat_map(|stored| &stored.entry.parts).collect();
        let (calls, results) = (ids(sent.clone(), PartKind::Call), ids(sent, PartKind::Result));
        let answered = ids(all, PartKind::Result);
        let lost: Vec<_> = calls.intersection(&answered).filter(|call| !results.contains(*call)).collect();
        assert!(lost.is_empty(), "{lost:?} lost their answers");
    }

    pub(crate) fn check(&self) {
        let said = self
            .log
            .values()
            .filter(|stored| stored.entry.id.starts_with('m'))
            .map(|stored| &stored.entry.id);
        let said: Vec<_> = said.filter(|id| !id.starts_with("made")).collect();
        assert!(said.iter().copied().eq(&self.acknowledged), "a message was lost, doubled or moved");
        if self.loaded != self.revision {
            return;
        }
        let fresh = self.reload();
        let rows = |session: &SessionMachine| {
            let cuts = |row: &LiveMessage| row.cuts.iter().map(|cut| cut.part).collect::<BTreeSet<_>>();
            let rows = session.context().rows().iter();
            rows.map(|row| (row.seq, row.chars, cuts(row))).collect::<Vec<_>>()
        };
        assert_eq!(rows(&self.machine), rows(&fresh), "the machine believes what is not stored");
        assert_eq!(self.machine.state().pivot, fresh.state().pivot);
        assert_eq!(self.machine.context().chars(), fresh.context().chars());
    }
}

fn part(kind: PartKind, units: u64, call: Option<&str>) -> SessionPart {
    let sizes = Sizes { units, points: units, bytes: units, ..Sizes::default() };
    let tool = matches!(kind, PartKind::Call | PartKind::Result).then(|| "bash".to_owned());
    let status = if kind == PartKind::Result { ToolStatus::Completed } else { ToolStatus::None };
    SessionPart { kind, status, tool, call: call.map(str::to_owned), sizes, ..SessionPart::default() }
}

fn made(nature: MessageKind, role: Role, units: u64) -> SessionMessage {
    SessionMessage {
        role,
        kind: nature,
        parts: vec![part(PartKind::Text, units, None)],
        ..SessionMessage::default()
    }
}
