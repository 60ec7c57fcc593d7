//! Carries out what the machine says until it has nothing more to say.

use std::collections::VecDeque;
use std::time::Duration;

use secateur::session::{Consent, Effect, Event, Input, MadeCut, Matter, NoRoom, Seq, Task, Trigger};
use secateur_store::StoreError;

use crate::error::EngineError;
use crate::hooks::{Call, Ending, Facts, Messages, Moment, Part, Reason, Reply, Tokens};
use crate::session::Session;

/// How long the right to compact lasts without being renewed. Long enough for a stall, short enough that others take
/// over soon from a process that died.
pub(crate) const LEASE_MS: u64 = 30_000;

/// How often others are looked after while they compact.
const POLL: Duration = Duration::from_millis(50);

/// How an input ended.
pub(crate) enum Outcome {
    /// The request may be sent.
    Sent { tokens: i64, usable: Option<i64>, cuts: Vec<(Seq, MadeCut)> },
    /// It must not.
    Rejected(NoRoom),
    /// There is nothing to send.
    Done,
}

impl Session {
    /// Hands an input to the machine and carries out what follows.
    pub(crate) async fn drive(&mut self, input: Input) -> Result<Outcome, EngineError> {
        let outcome = self.carry_on(input).await;
        if outcome.is_err() {
            self.is_dirty = true;
        }
        if self.background.is_none() {
            self.give_back().await;
        }
        outcome
    }

    async fn carry_on(&mut self, input: Input) -> Result<Outcome, EngineError> {
        let is_request = matches!(input, Input::Asked(_));
        let mut effects = VecDeque::from(self.machine.handle(input));
        let mut outcome = Outcome::Done;
        loop {
            let Some(effect) = effects.pop_front() else {
                let waits = is_request && matches!(outcome, Outcome::Done) && self.background.is_some();
                if !waits {
                    return Ok(outcome);
                }
                // The request needs the summary that is being made in the background.
                let answer = self.await_background().await;
                effects.extend(self.machine.handle(answer));
                continue;
            };
            let answer = match effect {
                Effect::Store(record) => {
                    let completed = record.events.iter().find_map(completion);
                    let answer = self.keep(record).await?;
                    if let Some(sizes) = completed {
                        self.tell_hooks(sizes).await;
                    }
                    answer
                }
                Effect::Consult { ticket, about } => {
                    Input::Consulted { ticket, verdict: self.consult(about).await? }
                }
                Effect::Summarise(task) if task.background => {
                    self.start_background(task).await?;
                    continue;
                }
                Effect::Summarise(task) => {
                    let id = task.id;
                    let made = self.prepare(task).await?;
                    self.outcome(id, made)
                }
                Effect::Send { tokens, usable, cuts } => {
                    outcome = Outcome::Sent { tokens, usable, cuts };
                    continue;
                }
                Effect::Reject(no_room) => {
                    outcome = Outcome::Rejected(no_room);
                    continue;
                }
                Effect::Done => continue,
            };
            effects.extend(self.machine.handle(answer));
        }
    }

    async fn await_background(&mut self) -> Input {
        match self.background.take() {
            Some(mut background) => {
                let outcome = (&mut background.work).await;
                let failed = |error: tokio::task::JoinError| {
                    Err(secateur::session::Failure::Model { message: error.to_string() })
                };
                self.outcome(background.task, outcome.unwrap_or_else(failed))
            }
            None => Input::Nudged,
        }
    }

    /// Asks the hooks, and for a compaction whether nobody else compacts.
    async fn consult(&mut self, about: Matter) -> Result<Consent, EngineError> {
        Ok(match about {
            Matter::Prune(cuts) => self.consult_cuts(&cuts).await,
            Matter::Compaction(task) => {
                self.take_lease().await?;
                self.consult_compaction(&task).await
            }
            Matter::Resume => {
                let message = self.profile.compaction.resume.clone().unwrap_or_default();
                self.ask(Trigger::Usage, Facts::Autocontinue { message }).await.0
            }
        })
    }

    async fn consult_cuts(&mut self, cuts: &[(Seq, MadeCut)]) -> Consent {
        if !self.engine.parts.hooks.wants(Moment::BeforePrune) {
            return Consent::Given;
        }
        let rows = self.machine.window().rows();
        let part = |(seq, cut): &(Seq, MadeCut)| {
            let row = self.machine.window().position(*seq).and_then(|at| rows.get(at));
            let facts = row.and_then(|row| row.entry.parts.get(cut.part as usize));
            let units = facts.map_or(0, |facts| facts.sizes.units);
            Part {
                id: format!("{seq}.{}", cut.part),
                message: *seq,
                tool: facts.and_then(|facts| facts.tool.clone()),
                bytes: facts.map_or(0, |facts| facts.sizes.bytes),
                tokens: self.machine.state().calibration.scale(units),
            }
        };
        let parts: Vec<Part> = cuts.iter().map(part).collect();
        let facts = Facts::BeforePrune { tokens: self.sizes(), parts };
        let (consent, Reply { keep, .. }) = self.ask(Trigger::Usage, facts).await;
        let kept = |(seq, cut): &&(Seq, MadeCut)| keep.contains(&format!("{seq}.{}", cut.part));
        match consent {
            Consent::Given if !keep.is_empty() => {
                Consent::Except(cuts.iter().filter(kept).map(|(seq, cut)| (*seq, cut.part)).collect())
            }
            consent => consent,
        }
    }

    async fn consult_compaction(&mut self, task: &Task) -> Consent {
        self.context.clear();
        if !self.engine.parts.hooks.wants(Moment::BeforeCompaction) {
            return Consent::Given;
        }
        let conversation = self.conversation(&task.head);
        let facts = Facts::BeforeCompaction {
            tokens: self.sizes(),
            messages: span(&task.head),
            conversation,
            previous_summary: task.previous.map(|seq| self.conversation(&[seq])),
        };
        self.ask(task.trigger, facts).await.0
    }

    /// Asks the hooks; keeps what they want the summariser to know. Gives their verdict and what else they said.
    pub(crate) async fn ask(&mut self, trigger: Trigger, facts: Facts) -> (Consent, Reply) {
        let reason = match trigger {
            Trigger::Refusal => Reason::Overflow,
            Trigger::Manual => Reason::Manual,
            Trigger::Usage | Trigger::Estimate | Trigger::Ahead => Reason::Threshold,
        };
        let call = Call { session: self.row.id.clone(), reason, facts };
        let mut reply = self.engine.parts.hooks.ask(call).await.reply;
        self.context.append(&mut reply.context);
        let consent = if reply.veto.is_some() { Consent::Refused } else { Consent::Given };
        (consent, reply)
    }

    async fn tell_hooks(&mut self, (before, after, messages): (i64, i64, u32)) {
        if !self.engine.parts.hooks.wants(Moment::AfterCompaction) {
            return;
        }
        let summary = self.prepared.as_ref().map(|prepared| prepared.text.clone()).unwrap_or_default();
        let tokens = Tokens {
            before: u64::try_from(before).unwrap_or(0),
            after: u64::try_from(after).ok(),
            window: self.sizes().window,
        };
        let messages = Messages { from: 0, to: u64::from(messages) };
        let ending = Ending::Compacted { summary };
        self.ask(Trigger::Usage, Facts::AfterCompaction { tokens, messages, ending }).await;
    }

    pub(crate) fn sizes(&self) -> Tokens {
        Tokens {
            before: u64::try_from(self.machine.tokens()).unwrap_or(0),
            after: None,
            window: self.machine.usable().and_then(|usable| u64::try_from(usable).ok()),
        }
    }

    /// Takes the right to compact. If somebody else has it, waits until they are done; then everything has changed.
    async fn take_lease(&mut self) -> Result<(), EngineError> {
        let store = self.engine.parts.store.clone();
        loop {
            self.lease = store.lease(&self.row.id, &self.owner, LEASE_MS).await?;
            if self.lease.is_some() {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
            let found = store.session(&self.row.id).await?.revision;
            let expected = self.row.revision;
            if found != expected {
                return Err(StoreError::Stale { id: self.row.id.clone(), expected, found }.into());
            }
        }
    }

    /// Gives the right to compact back.
    async fn give_back(&mut self) {
        if self.lease.take().is_some() {
            // If this fails it runs out by itself.
            self.engine.parts.store.release(&self.row.id, &self.owner).await.ok();
        }
    }
}

/// The sizes that a completed compaction tells.
fn completion(event: &Event) -> Option<(i64, i64, u32)> {
    match event {
        Event::CompactionCompleted { before, after, messages, .. } => Some((*before, *after, *messages)),
        _ => None,
    }
}

/// The numbers from the first to behind the last.
pub(crate) fn span(seqs: &[Seq]) -> Messages {
    let (from, to) = (seqs.iter().min(), seqs.iter().max());
    Messages { from: from.copied().unwrap_or(0), to: to.map_or(0, |last| last + 1) }
}
