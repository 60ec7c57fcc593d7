//! Asks for consent before messages are cut or replaced: hooks, and the lease that only one process has.

use secateur::session::{CompactionFailure, Consent, Event, Proposal, Seq, SessionCut, SummaryTask, Trigger};

use super::compaction::{CompactionScope, span};
use super::core::SessionCore;
use super::history::History;
use crate::error::EngineError;
use crate::hooks::{
    CompactionEnding, ContextTokens, HookCall, HookFacts, HookMoment, HookReason, HookResponse, PartToCut,
};

/// How an attempt to get the right to compact ended.
#[derive(PartialEq, Eq)]
enum LeaseAttempt {
    Taken,
    /// Another process has had it for too long.
    Held,
    StoreAway,
}

impl<H: History> SessionCore<H> {
    /// Asks the hooks, and makes sure that no other process compacts.
    pub(crate) async fn consult(&mut self, about: Proposal) -> Result<Consent, EngineError> {
        Ok(match about {
            Proposal::Prune(cuts) => {
                // Cuts would invalidate the summary that another process is making.
                if self.needs_room() {
                    self.take_lease().await?;
                }
                let unreadable = self.read_originals_of(&cuts).await?;
                self.consult_cuts(&cuts).await.except(unreadable)
            }
            Proposal::Compaction(task) => {
                if !task.background {
                    let is_away = self.take_lease().await? == LeaseAttempt::StoreAway;
                    if is_away && !self.has_at_hand(&task.head) {
                        return Ok(Consent::Elsewhere);
                    }
                } else {
                    match self.try_lease().await {
                        Ok(true) => {}
                        Ok(false) => return Ok(Consent::Elsewhere),
                        Err(error) if self.goes_on_after(&error) => return Ok(Consent::Elsewhere),
                        Err(error) => return Err(error),
                    }
                }
                self.consult_compaction(&task).await?
            }
            Proposal::Resume => {
                let message = self.profile.compaction.resume.clone().unwrap_or_default();
                self.ask_hooks(self.compaction.scope.trigger, HookFacts::Autocontinue { message }).await.0
            }
        })
    }

    async fn consult_cuts(&mut self, cuts: &[(Seq, SessionCut)]) -> Consent {
        if !self.engine.parts.hooks.wants(HookMoment::BeforePrune) {
            return Consent::Given;
        }
        let messages = self.machine.context();
        let part = |(seq, cut): &(Seq, SessionCut)| {
            let part = messages.part(*seq, cut.part);
            // A tool result may not name its tool; its tool call does.
            let tool = part.and_then(|part| messages.outline().tool(part)).map(str::to_owned);
            let sizes = part.map(|part| messages.outline().sizes(part)).unwrap_or_default();
            let tokens = self.machine.state().calibration.scale(sizes.units);
            PartToCut { id: format!("{seq}.{}", cut.part), message: *seq, tool, bytes: sizes.bytes, tokens }
        };
        let parts: Vec<PartToCut> = cuts.iter().map(part).collect();
        let after =
            parts.iter().map(|part| part.tokens).fold(self.token_counts().before, u64::saturating_sub);
        let tokens = ContextTokens { after: Some(after), ..self.token_counts() };
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
        self.compaction.scope = CompactionScope { trigger: task.trigger, messages: span(&task.head) };
        self.compaction.hook_context.clear();
        if !self.engine.parts.hooks.wants(HookMoment::BeforeCompaction) {
            return Ok(Consent::Given);
        }
        let conversation = self.text_of(&task.head).await?;
        let previous_summary = match task.previous {
            Some(seq) => Some(self.text_of(&[seq]).await?),
            None => None,
        };
        let facts = HookFacts::BeforeCompaction {
            tokens: self.token_counts(),
            messages: span(&task.head),
            conversation,
            previous_summary,
        };
        let (consent, reply) = self.ask_hooks(task.trigger, facts).await;
        self.compaction.hook_context = reply.context;
        Ok(consent)
    }

    /// Calls the hooks; returns their consent and what else they replied.
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

    /// Reports the end of a compaction to the hooks.
    pub(crate) async fn report_to_hooks(&mut self, end: Event) {
        if !self.engine.parts.hooks.wants(HookMoment::AfterCompaction) {
            return;
        }
        let (tokens, ending) = match end {
            Event::CompactionCompleted { task, before, after, .. } => {
                let prepared = self.compaction.prepared.as_ref().filter(|prepared| prepared.task == task);
                let summary = prepared.map(|prepared| prepared.text.clone()).unwrap_or_default();
                let before = u64::try_from(before).unwrap_or(0);
                let after = u64::try_from(after).ok();
                (
                    ContextTokens { before, after, ..self.token_counts() },
                    CompactionEnding::Compacted { summary },
                )
            }
            Event::CompactionFailed { why, .. } | Event::CompactionRefused { why } => {
                (self.token_counts(), CompactionEnding::Failed { why: describe(&why) })
            }
            _ => return,
        };
        let CompactionScope { trigger, messages } = self.compaction.scope;
        self.ask_hooks(trigger, HookFacts::AfterCompaction { tokens, messages, ending }).await;
    }

    /// The sizes that hooks get to know.
    pub(crate) fn token_counts(&self) -> ContextTokens {
        ContextTokens {
            before: u64::try_from(self.machine.tokens()).unwrap_or(0),
            after: None,
            window: self.machine.usable().and_then(|usable| u64::try_from(usable).ok()),
        }
    }

    /// Whether the next request would have more tokens than are usable.
    fn needs_room(&self) -> bool {
        self.machine.usable().is_some_and(|usable| self.machine.tokens() > usable)
    }

    /// Takes the right to compact. If another process has it, waits for the end of that compaction, which is a
    /// collision, but not for ever. Without the lease no model is asked, and a summary is a digest.
    async fn take_lease(&mut self) -> Result<LeaseAttempt, EngineError> {
        loop {
            match self.try_lease().await {
                Ok(true) => return Ok(LeaseAttempt::Taken),
                Ok(false) => {}
                Err(error) if self.goes_on_after(&error) => return Ok(LeaseAttempt::StoreAway),
                Err(error) => return Err(error),
            }
            if !self.lease.wait().await {
                tracing::warn!(session = self.row.id, "another process has compacted for too long");
                return Ok(LeaseAttempt::Held);
            }
            self.absorb_remote_messages().await?;
        }
    }

    /// Takes the right to compact, unless another process has it.
    async fn try_lease(&mut self) -> Result<bool, EngineError> {
        self.store_provisional().await?;
        self.ensure_stored().await?;
        Ok(self.lease.try_take().await?)
    }
}

fn describe(why: &CompactionFailure) -> String {
    match why {
        CompactionFailure::Vetoed => "a hook refused it".to_owned(),
        CompactionFailure::Model { message } | CompactionFailure::Flawed { message } => message.clone(),
        CompactionFailure::NoProgress { before, after, limit } => {
            format!("it would leave {after} of {before} tokens, more than {limit}")
        }
        CompactionFailure::NoSummariser => {
            "there is no summariser, and the profile makes no digest".to_owned()
        }
        CompactionFailure::Cancelled => "it was cancelled".to_owned(),
        CompactionFailure::NoLease => "the right to compact could not be had from the store".to_owned(),
        CompactionFailure::BoundThinking => "the open turn has thinking that is bound to it".to_owned(),
        _ => "there is nothing to summarise".to_owned(),
    }
}
