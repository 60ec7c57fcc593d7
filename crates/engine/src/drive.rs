//! Carries out what the machine says until it has nothing more to say.

use std::collections::VecDeque;
use std::time::Duration;

use secateur::session::{
    CompactionFailure, Consent, Effect, Event, Input, Means, NoRoom, Proposal, Seq, SessionCut, SummaryTask,
    Trigger,
};
use secateur_store::StoreError;

use crate::error::EngineError;
use crate::hooks::{
    CompactionEnding, ContextTokens, HookCall, HookFacts, HookMoment, HookReason, HookResponse, MessageRange,
    PartToCut,
};
use crate::news::News;
use crate::session::Session;

/// How often others are looked after while they compact.
const POLL: Duration = Duration::from_millis(50);

/// How an input ended.
pub(crate) enum Outcome {
    /// The request may be sent.
    Sent { tokens: i64, usable: Option<i64>, cuts: Vec<(Seq, SessionCut)> },
    /// It must not.
    Rejected(NoRoom),
    /// There is nothing to send.
    Done,
}

impl Session {
    /// Hands an input to the machine and carries out what follows.
    pub(crate) async fn drive(&mut self, input: Input) -> Result<Outcome, EngineError> {
        // Also if nobody waits for the end: what is in memory is good again only then.
        self.is_dirty = true;
        let outcome = self.carry_on(input).await;
        self.is_dirty = outcome.is_err();
        if self.background.is_none() {
            self.give_back().await;
        }
        outcome
    }

    async fn carry_on(&mut self, input: Input) -> Result<Outcome, EngineError> {
        let is_wanted = matches!(input, Input::Requested(_) | Input::Compact { .. });
        let mut effects = VecDeque::from(self.machine.handle(input));
        let mut outcome = Outcome::Done;
        loop {
            let Some(effect) = effects.pop_front() else {
                let waits = is_wanted && matches!(outcome, Outcome::Done) && self.background.is_some();
                if !waits {
                    return Ok(outcome);
                }
                // It needs the summary that is being made in the background.
                let answer = self.await_background().await;
                effects.extend(self.machine.handle(answer));
                continue;
            };
            let answer = match effect {
                Effect::Store(record) => {
                    let ends: Vec<Event> =
                        record.events.iter().filter(|event| is_end(event)).cloned().collect();
                    let answer = self.keep(record).await?;
                    for end in ends {
                        self.tell_hooks(end).await;
                    }
                    answer
                }
                Effect::Consult { ticket, about } => {
                    Input::Consulted { ticket, consent: self.consult(about).await? }
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
                    Err(CompactionFailure::Model { message: error.to_string() })
                };
                self.outcome(background.task, outcome.unwrap_or_else(failed))
            }
            None => Input::Retry,
        }
    }

    /// Asks the hooks, and for whatever makes room whether nobody else does.
    async fn consult(&mut self, about: Proposal) -> Result<Consent, EngineError> {
        Ok(match about {
            Proposal::Prune(cuts) => {
                // Cuts under a summary that somebody else waits for would cost him the summary.
                if self.needs_room() {
                    self.take_lease().await?;
                }
                self.consult_cuts(&cuts).await
            }
            Proposal::Compaction(task) => {
                if !task.background {
                    self.take_lease().await?;
                } else if !self.try_lease().await? {
                    return Ok(Consent::Elsewhere);
                }
                self.consult_compaction(&task).await?
            }
            Proposal::Resume => {
                let message = self.profile.compaction.resume.clone().unwrap_or_default();
                self.ask_hooks(self.stretch.trigger, HookFacts::Autocontinue { message }).await.0
            }
        })
    }

    async fn consult_cuts(&mut self, cuts: &[(Seq, SessionCut)]) -> Consent {
        if !self.engine.parts.hooks.wants(HookMoment::BeforePrune) {
            return Consent::Given;
        }
        let window = self.machine.context();
        let part = |(seq, cut): &(Seq, SessionCut)| {
            let part = window.part(*seq, cut.part);
            // A result may not say whose it is; its call does.
            let tool = part.and_then(|part| window.outline().tool(part)).map(str::to_owned);
            let sizes = part.map(|part| window.outline().sizes(part)).unwrap_or_default();
            let tokens = self.machine.state().calibration.scale(sizes.units);
            PartToCut { id: format!("{seq}.{}", cut.part), message: *seq, tool, bytes: sizes.bytes, tokens }
        };
        let parts: Vec<PartToCut> = cuts.iter().map(part).collect();
        let after = parts.iter().map(|part| part.tokens).fold(self.sizes().before, u64::saturating_sub);
        let tokens = ContextTokens { after: Some(after), ..self.sizes() };
        let facts = HookFacts::BeforePrune { tokens, parts };
        let (consent, HookResponse { keep, .. }) = self.ask_hooks(Trigger::Usage, facts).await;
        let kept = |(seq, cut): &&(Seq, SessionCut)| keep.contains(&format!("{seq}.{}", cut.part));
        match consent {
            Consent::Given if !keep.is_empty() => {
                Consent::Except(cuts.iter().filter(kept).map(|(seq, cut)| (*seq, cut.part)).collect())
            }
            consent => consent,
        }
    }

    async fn consult_compaction(&mut self, task: &SummaryTask) -> Result<Consent, EngineError> {
        self.stretch = Stretch { trigger: task.trigger, messages: span(&task.head) };
        self.notes.clear();
        if !self.engine.parts.hooks.wants(HookMoment::BeforeCompaction) {
            return Ok(Consent::Given);
        }
        let conversation = self.conversation(&task.head).await?;
        let previous_summary = match task.previous {
            Some(seq) => Some(self.conversation(&[seq]).await?),
            None => None,
        };
        let facts = HookFacts::BeforeCompaction {
            tokens: self.sizes(),
            messages: span(&task.head),
            conversation,
            previous_summary,
        };
        let (consent, reply) = self.ask_hooks(task.trigger, facts).await;
        self.notes = reply.context;
        Ok(consent)
    }

    /// Asks the hooks. Gives their verdict and what else they said.
    pub(crate) async fn ask_hooks(&mut self, trigger: Trigger, facts: HookFacts) -> (Consent, HookResponse) {
        let reason = match trigger {
            Trigger::Refusal => HookReason::Overflow,
            Trigger::Manual => HookReason::Manual,
            Trigger::Usage | Trigger::Estimate | Trigger::Ahead => HookReason::Threshold,
        };
        let call = HookCall { session: self.row.id.clone(), reason, facts };
        let reply = self.engine.parts.hooks.ask(call).await.response;
        let consent = if reply.veto.is_some() { Consent::Refused } else { Consent::Given };
        (consent, reply)
    }

    /// Tells the hooks how a compaction ended.
    async fn tell_hooks(&mut self, end: Event) {
        if !self.engine.parts.hooks.wants(HookMoment::AfterCompaction) {
            return;
        }
        let (tokens, ending) = match end {
            Event::CompactionCompleted { task, before, after, .. } => {
                let prepared = self.prepared.as_ref().filter(|prepared| prepared.task == task);
                let summary = prepared.map(|prepared| prepared.text.clone()).unwrap_or_default();
                let before = u64::try_from(before).unwrap_or(0);
                let after = u64::try_from(after).ok();
                (
                    ContextTokens { before, after, window: self.sizes().window },
                    CompactionEnding::Compacted { summary },
                )
            }
            Event::CompactionFailed { why, .. } | Event::CompactionRefused { why } => {
                (self.sizes(), CompactionEnding::Failed { why: describe(&why) })
            }
            _ => return,
        };
        let Stretch { trigger, messages } = self.stretch;
        self.ask_hooks(trigger, HookFacts::AfterCompaction { tokens, messages, ending }).await;
    }

    pub(crate) fn sizes(&self) -> ContextTokens {
        ContextTokens {
            before: u64::try_from(self.machine.tokens()).unwrap_or(0),
            after: None,
            window: self.machine.usable().and_then(|usable| u64::try_from(usable).ok()),
        }
    }

    /// Whether more would be sent than there is room for.
    fn needs_room(&self) -> bool {
        self.machine.usable().is_some_and(|usable| self.machine.tokens() > usable)
    }

    /// Takes the right to compact. If somebody else has it, waits until they are done; then everything has changed.
    async fn take_lease(&mut self) -> Result<(), EngineError> {
        while !self.try_lease().await? {
            tokio::time::sleep(POLL).await;
            match self.look().await? {
                News::Nothing => {}
                // An answer is awaited, so the machine takes them in and says nothing.
                News::Messages(messages) => drop(self.machine.handle(Input::Appended { messages })),
                News::Changes { revision: found } => {
                    let (id, expected) = (self.row.id.clone(), self.row.revision);
                    return Err(StoreError::Stale { id, expected, found }.into());
                }
            }
        }
        Ok(())
    }

    /// Takes the right to compact, unless somebody else has it.
    async fn try_lease(&mut self) -> Result<bool, EngineError> {
        self.be_born().await?;
        let (store, lease_ms) = (&self.engine.parts.store, self.engine.parts.lease_ms());
        self.lease = store.lease(&self.row.id, &self.owner, lease_ms).await?;
        Ok(self.lease.is_some())
    }

    /// Gives the right to compact back.
    pub(crate) async fn give_back(&mut self) {
        if self.lease.take().is_some() {
            // If this fails it runs out by itself.
            self.engine.parts.store.release(&self.row.id, &self.owner).await.ok();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // First the one who would renew it.
        self.background = None;
        if self.lease.take().is_some()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let store = self.engine.parts.store.clone();
            let (id, owner) = (self.row.id.clone(), self.owner.clone());
            // If this fails it runs out by itself.
            runtime.spawn(async move { store.release(&id, &owner).await.ok() });
        }
    }
}

/// What a compaction is about, as hooks are told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub trigger: Trigger,
    pub messages: MessageRange,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { trigger: Trigger::Usage, messages: MessageRange::default() }
    }
}

/// Whether a compaction is over with this. A model that fails is not the end: a digest follows, or a refusal.
fn is_end(event: &Event) -> bool {
    match event {
        Event::CompactionCompleted { .. } | Event::CompactionFailed { means: Means::Digest, .. } => true,
        // What was never begun is not over.
        Event::CompactionRefused { why } => *why != CompactionFailure::NothingToSummarise,
        _ => false,
    }
}

fn describe(why: &CompactionFailure) -> String {
    match why {
        CompactionFailure::Vetoed => "a hook refused it".to_owned(),
        CompactionFailure::Model { message } | CompactionFailure::Flawed { message } => message.clone(),
        CompactionFailure::NoProgress { before, after, limit } => {
            format!("it would leave {after} of {before} tokens, more than {limit}")
        }
        CompactionFailure::Cancelled => "it was called off".to_owned(),
        _ => "there is nothing to summarise".to_owned(),
    }
}

/// The numbers from the first to behind the last.
pub(crate) fn span(seqs: &[Seq]) -> MessageRange {
    let (from, to) = (seqs.iter().min(), seqs.iter().max());
    MessageRange { from: from.copied().unwrap_or(0), to: to.map_or(0, |last| last + 1) }
}
