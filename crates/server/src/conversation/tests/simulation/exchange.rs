//! One request of a simulated client and its response, as the proxy carries it out.

use std::cell::RefCell;
use std::time::Duration;

use bytes::Bytes;
use secateur::session::TurnState;
use secateur_engine::provider::read_overflow;
use secateur_formats::Wire;
use secateur_formats::thinking::ThinkingRefusal;
use secateur_testing::simulated_store::{SimulatedStore, StoreCondition};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::client::SimulatedClient;
use super::process::SimulatedProcess;
use super::provider::{ProviderAnswer, SimulatedProvider};
use crate::conversation::{PreparedRequest, ResponseReport};
use crate::outcome::{ExchangeReport, PassReason};

/// How long the proxy waits for a decision, and how often it sends a request; see `proxy/exchange.rs`.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
const MAX_ATTEMPTS: usize = 4;

/// A request that was sent to the provider.
pub(super) struct SentAttempt {
    pub body: Vec<u8>,
    pub report: ExchangeReport,
    /// The provider was asked for something beside what the client asked for.
    pub has_controls: bool,
    /// The operations of the session at that moment.
    pub operations: (u64, usize),
    /// The decision was made with exactly these operations: none came from elsewhere meanwhile.
    pub is_exact: bool,
}

/// How an exchange ended.
pub(super) enum ExchangeEnd {
    Answered {
        /// What the model saw, if it thinks.
        body: Option<Value>,
    },
    /// The provider failed, which is not the proxy's fault.
    Failed,
    /// The provider refused what the proxy made of the request.
    Refused { error: String },
}

pub(super) struct SimulatedExchange {
    pub attempts: Vec<SentAttempt>,
    pub end: ExchangeEnd,
    pub began: Instant,
    /// The store worked all the time.
    pub is_healthy: bool,
}

impl SimulatedExchange {
    /// Carries out the request of a client.
    pub(super) async fn run(
        store: &SimulatedStore,
        provider: &RefCell<SimulatedProvider>,
        process: &SimulatedProcess,
        number: usize,
        client: &SimulatedClient,
    ) -> Self {
        let is_well = || matches!(store.condition(), StoreCondition::Works | StoreCondition::Busy);
        let (faults, was_well) = (store.faults(), is_well());
        let (mut attempts, began) = (Vec::new(), Instant::now());
        let end = converse(store, provider, process, number, client, &mut attempts).await;
        let is_healthy = was_well && is_well() && store.faults() == faults;
        Self { attempts, end, began, is_healthy }
    }
}

async fn converse(
    store: &SimulatedStore,
    provider: &RefCell<SimulatedProvider>,
    process: &SimulatedProcess,
    number: usize,
    client: &SimulatedClient,
    attempts: &mut Vec<SentAttempt>,
) -> ExchangeEnd {
    let body = Bytes::from(client.body());
    let mut revision = store.operations();
    let mut prepared = match timeout(PATIENCE, process.prepare(client, &body)).await {
        Ok(prepared) => prepared,
        Err(_) => PreparedRequest::passed_through(body.clone(), PassReason::Slow),
    };
    loop {
        let PreparedRequest { body, report, betas, mut pending, .. } = prepared;
        let body = body.concat();
        let operations = report.session.as_deref().and_then(|session| store.operations_of(session));
        attempts.push(SentAttempt {
            body: body.clone(),
            report,
            has_controls: !betas.is_empty(),
            operations: operations.unwrap_or_default(),
            is_exact: store.operations() == revision,
        });
        let delay = provider.borrow_mut().delay();
        sleep(Duration::from_millis(delay)).await;
        let answer =
            provider.borrow_mut().answer(number, client.wire, client.thinks, &body, &betas.join(","));
        let (status, error) = match answer {
            ProviderAnswer::Accepted { usage, report, body } => {
                if let Some(mut pending) = pending {
                    pending.accepted();
                    let delay = provider.borrow_mut().delay();
                    sleep(Duration::from_millis(delay)).await;
                    if !provider.borrow_mut().is_cut_off() {
                        let turn = TurnState::Open;
                        pending.settle(ResponseReport { usage: Some(usage), turn, provider: report });
                    }
                }
                return ExchangeEnd::Answered { body };
            }
            ProviderAnswer::Refused { status, error } => (status, error),
        };
        let overflow = read_overflow(status, &error);
        let thinking =
            ThinkingRefusal::read(&error).filter(|_| client.wire == Wire::Anthropic && status == 400);
        if overflow.is_none() && thinking.is_none() {
            if let Some(pending) = &mut pending {
                pending.accepted();
            }
            return ExchangeEnd::Failed;
        }
        let conversations = process.conversations(client.tenant);
        let before = store.operations();
        let another = match pending.take().filter(|_| attempts.len() < MAX_ATTEMPTS) {
            None => None,
            Some(refused) => match (overflow, thinking) {
                (Some(overflow), _) => {
                    timeout(PATIENCE, conversations.make_room(refused, overflow)).await.ok().flatten()
                }
                (None, Some(refusal)) => {
                    timeout(PATIENCE, conversations.adapt_thinking(refused, refusal)).await.ok().flatten()
                }
                (None, None) => None,
            },
        };
        match another {
            Some(another) => (prepared, revision) = (another, before),
            None => return ExchangeEnd::Refused { error },
        }
    }
}
