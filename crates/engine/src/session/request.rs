//! Writes the request of a kept session: envelope and live messages, repaired where the provider would reject it.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use secateur::session::{Event, Seq, SessionCut};
use secateur_formats::json::encode;
use secateur_formats::lint::{self, Finding, Rule};
use secateur_formats::{RenderOptions, Wire, render};

use super::core::SessionCore;
use super::history::KeptHistory;
use crate::engine::Target;
use crate::error::EngineError;
use crate::session_wire::with_member;

/// A request that is ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextRequest {
    /// The body.
    pub body: String,
    /// Its wire.
    pub wire: Wire,
    /// Estimated tokens.
    pub tokens: i64,
    /// The usable tokens of the model's window, if they are known.
    pub usable: Option<i64>,
    /// What the provider would have rejected and was repaired in this request, such as a tool call without a result.
    /// Stored messages are not changed.
    pub repaired: Vec<Finding>,
    /// What the provider will reject, because it cannot be repaired here: a missing member of the envelope, or an
    /// invalid message. A session without a question is no fault.
    pub remaining: Vec<Finding>,
    /// What happened while it was prepared.
    pub events: Vec<Event>,
}

impl SessionCore<KeptHistory> {
    /// Writes the request, with these cuts for it alone.
    pub(crate) async fn write_request(
        &mut self,
        target: &Target,
        tokens: i64,
        usable: Option<i64>,
        cuts: &[(Seq, SessionCut)],
    ) -> Result<ContextRequest, EngineError> {
        let mut once: HashMap<Seq, Vec<SessionCut>> = HashMap::new();
        for (seq, cut) in cuts {
            once.entry(*seq).or_default().push(cut.clone());
        }
        let mut shown = HashMap::new();
        for (seq, cuts) in once {
            let lasting = self.live_message(seq).map(|message| message.cuts.clone()).unwrap_or_default();
            let all: Vec<SessionCut> = lasting.into_iter().chain(cuts).collect();
            shown.insert(seq, Bytes::from(self.body_with_cuts(seq, &all).await?));
        }
        let rows = self.machine.context().rows().iter();
        let bodies = rows.filter_map(|row| shown.get(&row.seq).or_else(|| self.bodies.get(&row.seq)));
        let wire = target.wire.unwrap_or(self.wire.0);
        let mut envelope = Cow::Borrowed(&*self.row.envelope);
        if wire == self.wire.0 && wire.spec().has_model_in_body && !target.model.is_empty() {
            // The envelope is short; in a finished body all messages would have to be scanned.
            envelope = Cow::Owned(with_member(&envelope, "model", &encode(&target.model)));
        }
        let own = self.wire.body(&envelope, bodies.map(Bytes::as_ref));
        let body = if wire == self.wire.0 {
            own
        } else {
            let transcript = self.wire.read(&own, &secateur::Measures::default())?;
            let max_tokens = target.limits.output.and_then(|output| u64::try_from(output).ok());
            render(&transcript, wire, &RenderOptions { max_tokens, ..RenderOptions::new(&target.model) }, &[])
                .body
        };
        let lint::Fixed { body: fixed, repaired, mut remaining } = lint::fix(wire, &body);
        if !self.machine.context().has_question() {
            // The application wants the context of a session that ends with the model's message.
            remaining.retain(|finding| finding.rule != Rule::NothingToAnswer);
        }
        let (body, events) = (fixed.into_owned(), self.take_events());
        Ok(ContextRequest { body, wire, tokens, usable, repaired, remaining, events })
    }
}
