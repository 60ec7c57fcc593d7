//! Gathers what a summary is made of.

use secateur::session::{CompactionFailure, Consent, LiveMessage, Means, MessageKind, Seq, SummaryTask};
use secateur::{Measures, PivotStart, Role};

use super::change_set::StoredOperation;
use super::compaction::span;
use super::core::SessionCore;
use super::history::History;
use super::summary_job::SummaryJob;
use crate::error::EngineError;
use crate::hooks::{HookFacts, HookMoment};
use crate::ledger::{HEADER, Ledger};
use crate::summary::TASK;

impl<H: History> SessionCore<H> {
    /// Gathers what a summary needs. Hooks may refuse.
    pub(crate) async fn summary_job(
        &mut self,
        task: SummaryTask,
    ) -> Result<Result<SummaryJob, CompactionFailure>, EngineError> {
        let model = self.engine.parts.model.clone().or_else(|| self.history.client_model());
        // A second attempt gets the context of the first one, too.
        let (mut context, mut prompt) = (self.compaction.hook_context.clone(), None);
        if task.means == Means::Model && self.engine.parts.hooks.wants(HookMoment::SessionCompacting) {
            let facts = HookFacts::SessionCompacting {
                tokens: self.token_counts(),
                messages: span(&task.head),
                model: model.as_ref().map(|model| model.name().to_owned()),
                prompt: TASK.to_owned(),
            };
            let (consent, reply) = self.ask_hooks(task.trigger, facts).await;
            if consent == Consent::Refused {
                return Ok(Err(CompactionFailure::Vetoed));
            }
            context.extend(reply.context);
            prompt = reply.prompt;
        }
        // Messages that compactions made are not part of the history.
        let rows = self.machine.context().rows().iter();
        let said = rows.filter(|row| row.facts.kind == MessageKind::Plain && task.head.contains(&row.seq));
        let said: Vec<&LiveMessage> = said.collect();
        let marked = said.iter().filter(|row| row.facts.parts.iter().any(|part| part.summary));
        let marked: Vec<Seq> = marked.map(|row| row.seq).collect();
        let said: Vec<Seq> = said.iter().map(|row| row.seq).collect();
        let summaries = self.summaries_in(&marked).await?;
        let body = self.request_of(&said).await?;
        let (previous_ledger, previous_words) = match task.previous {
            Some(seq) => match self.sources_of(seq).await {
                // The text of the earlier summary is in memory, and contains its facts.
                Err(error) if self.goes_on_after(&error) => {
                    (Ledger::default(), self.summary_text(seq).await?)
                }
                sources => sources?,
            },
            None => (Ledger::default(), String::new()),
        };
        let previous = match task.previous {
            Some(seq) => {
                let words = previous_words.clone();
                Some(if words.is_empty() { self.summary_text(seq).await? } else { words.trim().to_owned() })
            }
            None => None,
        };
        Ok(Ok(SummaryJob {
            parts: self.engine.parts.clone(),
            model,
            session: self.row.id.clone(),
            lease: self.lease.claim().clone(),
            wire: self.wire,
            role: self.summary_role(),
            measures: self.profile.policy.measures(),
            body,
            previous,
            summaries,
            previous_words,
            previous_ledger,
            focus: self.compaction.focus.clone(),
            context,
            prompt,
            chars_per_token: self.machine.state().calibration.chars_per_token(),
            task,
        }))
    }

    /// The text of a summary without its header.
    async fn summary_text(&self, seq: Seq) -> Result<String, EngineError> {
        let text = self.text_of(&[seq]).await?;
        Ok(text.strip_prefix(HEADER).unwrap_or(&text).trim().to_owned())
    }

    /// The texts of the parts of these messages that are summaries.
    async fn summaries_in(&self, seqs: &[Seq]) -> Result<Vec<String>, EngineError> {
        let mut texts = Vec::new();
        for &seq in seqs {
            let body = self.request_of(&[seq]).await?;
            let transcript = self.wire.read(&body, &Measures::default())?;
            let facts = self.live_message(seq).map(|row| row.facts.parts.as_slice()).unwrap_or_default();
            let marked = transcript.outline.parts().zip(facts).filter(|(_, facts)| facts.summary);
            texts.extend(marked.map(|(part, _)| transcript.text_of(part).into_owned()));
        }
        Ok(texts)
    }

    /// A summary is the model's response to the marker. Without a marker it is the first message, which some
    /// providers accept only from the user.
    fn summary_role(&self) -> Role {
        match self.profile.pivot.start {
            PivotStart::Marker => Role::Assistant,
            _ => H::first_summary_role(self.wire.0),
        }
    }

    /// The ledger of a stored summary, and what a model wrote of it.
    async fn sources_of(&self, summary: Seq) -> Result<(Ledger, String), EngineError> {
        if let Some(data) = self.history.provisional_operation(summary) {
            return Ok(summary_of(data));
        }
        let store = &self.engine.parts.store;
        let messages = store.messages(&self.row.id, summary, summary + 1).await?;
        let Some(number) = messages.first().and_then(|message| message.operation) else {
            return Ok((Ledger::default(), String::new()));
        };
        let operations = store.operations(&self.row.id, number.saturating_sub(1), 1).await?;
        let (ledger, words) = operations.first().map(|row| summary_of(&row.data)).unwrap_or_default();
        if ledger == Ledger::default() && words.is_empty() {
            // They were forgotten with the messages that they came from. What is shown of them is left.
            return Ok((ledger, self.summary_text(summary).await?));
        }
        Ok((ledger, words))
    }
}

/// The ledger of a compaction, and what a model wrote of its summary.
fn summary_of(operation: &str) -> (Ledger, String) {
    let stored = serde_json::from_str::<StoredOperation>(operation).ok();
    stored.map(|stored| (stored.ledger.unwrap_or_default(), stored.words)).unwrap_or_default()
}
