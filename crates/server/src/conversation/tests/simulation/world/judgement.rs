//! Whether what happened in a simulation was right.

use std::fmt::Write as _;

use secateur_testing::simulated_store::StoreCondition;
use tokio::time::Instant;

use super::super::exchange::{ExchangeEnd, SimulatedExchange};
use super::super::sent_request::SentRequest;
use super::super::stability::SentPrefix;
use super::{Company, SentHandle, World};
use crate::outcome::{Outcome, PassReason};

impl World {
    /// Checks an exchange, and takes note of it.
    pub(super) fn judge(
        &mut self,
        process: usize,
        place: usize,
        exchange: SimulatedExchange,
        company: Company,
    ) {
        let client = &self.clients[place];
        let mut last = None;
        for attempt in &exchange.attempts {
            let report = &attempt.report;
            note!(
                self,
                "client {place}, process {process}: {} messages, {} of {} bytes, {} {} {} cuts {} provisional {:?} {}",
                client.messages.len(),
                attempt.body.len(),
                report.bytes_in,
                report.outcome.as_str(),
                report.reason.map_or("", PassReason::as_str),
                report.cuts,
                report.provisional,
                attempt.operations,
                if exchange.is_healthy { "" } else { "(store faults)" }
            );
            self.seen.extend(sights(report.outcome, report.reason));
            if report.provisional > 0 {
                self.seen.insert("a provisional decision");
            }
            if report.altered != 0 {
                self.fail(&format!("{} bytes were altered: {report:?}", report.altered));
            }
            let sent = match SentRequest::check(client, &attempt.body, attempt.has_controls) {
                Ok(sent) => sent,
                Err(why) => self.fail(&format!("client {place}: {why}")),
            };
            if let Some(session) = &report.session {
                let owner = *self.owners.entry(session.clone()).or_insert(client.tenant);
                if owner != client.tenant {
                    self.fail(&format!("tenant {} was given a session of tenant {owner}", client.tenant));
                }
            }
            if sent.made > 0 {
                self.seen.insert("a summary");
            }
            last = Some((sent, attempt));
        }
        if exchange.attempts.len() > 1 {
            self.seen.insert("a request after a refusal");
        }
        let body = match exchange.end {
            ExchangeEnd::Answered { body } => body,
            ExchangeEnd::Failed => {
                note!(self, "the provider failed");
                return;
            }
            ExchangeEnd::Refused { error } => {
                let bytes = client.body().len() as u64;
                let (fits, is_bound) = {
                    let provider = self.provider.borrow();
                    (provider.fits(bytes), client.thinks && !provider.can_drop_thinking())
                };
                // Thinking of the open turn is valid behind what the model saw then, and nothing but that.
                if is_bound && (!fits || self.may_have_lost_decisions()) {
                    note!(
                        self,
                        "client {place}: thinking of the open turn keeps {bytes} bytes from being sent"
                    );
                    return;
                }
                self.fail(&format!("client {place}, whose {bytes} bytes fit: {fits}, was refused: {error}"));
            }
        };
        let Some((sent, attempt)) = last else { return };
        let now = attempt.report.session.clone().map(|session| SentPrefix {
            session,
            process: self.processes[process].number,
            began: exchange.began,
            ended: Instant::now(),
            operations: attempt.operations,
            faults: self.store.faults(),
            messages: sent.messages,
        });
        // Alone, a process knows best what it decided. Another one may have decided meanwhile.
        let is_exact = attempt.is_exact || (self.processes.len() == 1 && company == Company::Alone);
        let is_recorded = exchange.is_healthy && attempt.report.provisional == 0;
        let is_compared = is_recorded && is_exact;
        if let (true, Some(before), Some(now)) = (is_compared, &client.last, &now)
            && let Err(why) = before.check(now, self.is_damaged)
        {
            self.fail(&format!("client {place}: {why}"));
        }
        if is_recorded {
            for handle in sent.handles {
                let mut parts = client.messages.iter().flat_map(|message| &message.parts);
                let part = parts.find(|(_, letters)| letters.starts_with(&handle));
                let text = part.map(|(text, _)| text.clone()).unwrap_or_default();
                let tenant = client.tenant;
                self.handles.insert((tenant, handle.clone()), SentHandle { tenant, handle, text });
            }
        }
        let client = &mut self.clients[place];
        client.last = now.filter(|_| is_compared);
        client.is_ahead = false;
        self.answers[place] = body;
    }

    pub(super) async fn recall_some(&mut self) {
        let place = self.random.place(self.handles.len());
        if let Some(name) = self.handles.keys().nth(place).cloned() {
            self.recall(&name).await;
        }
    }

    /// Recalls what a handle stands for. While the store works, that must be there.
    pub(super) async fn recall(&mut self, name: &(usize, String)) {
        let (tenant, handle) = name;
        let process = self.random.place(self.processes.len());
        let (faults, condition) = (self.store.faults(), self.store.condition());
        if !matches!(condition, StoreCondition::Works | StoreCondition::Busy) {
            return;
        }
        let recalled = self.processes[process].engine(*tenant).recall(handle, None).await;
        note!(self, "recalls {handle}: {}", recalled.is_ok());
        match (recalled, self.handles.get(name)) {
            (Ok(recalled), Some(sent)) => {
                self.seen.insert("a recall");
                if recalled.text != sent.text {
                    let SentHandle { tenant, handle, text } = sent;
                    self.fail(&format!(
                        "{handle} of tenant {tenant} recalls {:?} instead of {text:?}",
                        recalled.text
                    ));
                }
            }
            (Err(error), Some(_)) if self.store.faults() == faults && !self.is_damaged => {
                self.fail(&format!("{handle} cannot be recalled: {error}"));
            }
            _ => {}
        }
    }
}

/// What a report says that must have happened in some schedule.
fn sights(outcome: Outcome, reason: Option<PassReason>) -> impl Iterator<Item = &'static str> {
    let outcome = match outcome {
        Outcome::Pruned => Some("a prune"),
        Outcome::Compacted => Some("a compaction"),
        Outcome::Replayed => Some("a replay"),
        _ => None,
    };
    let reason = match reason {
        Some(PassReason::Store) => Some("a decision without the store"),
        _ => None,
    };
    outcome.into_iter().chain(reason)
}
