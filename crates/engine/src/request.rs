//! The request that a session gives out: living messages put together, checked against what the provider takes.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use secateur::session::{Event, Seq, SessionCut};
use secateur_formats::json::encode;
use secateur_formats::lint::{self, Finding};
use secateur_formats::{RenderOptions, Wire, render};

use crate::dialect::with_member;
use crate::engine::Target;
use crate::error::EngineError;
use crate::session::Session;

/// A request that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The body.
    pub body: String,
    /// Its form.
    pub wire: Wire,
    /// Estimated tokens.
    pub tokens: i64,
    /// What is usable of the model's window, if that is known.
    pub usable: Option<i64>,
    /// What the provider would have rejected, and was repaired: a call without a result, turns in an order that it
    /// does not take. What is stored is not touched.
    pub repaired: Vec<Finding>,
    /// What the provider will reject all the same, because nobody here can repair it: something in the frame is
    /// missing, or a message says what it must not.
    pub remaining: Vec<Finding>,
    /// What happened on the way.
    pub events: Vec<Event>,
}

impl Session {
    /// Writes the request.
    pub(crate) async fn request(
        &mut self,
        target: &Target,
        tokens: i64,
        usable: Option<i64>,
        cuts: &[(Seq, SessionCut)],
    ) -> Result<Request, EngineError> {
        let mut once: HashMap<Seq, Vec<SessionCut>> = HashMap::new();
        for (seq, cut) in cuts {
            once.entry(*seq).or_default().push(cut.clone());
        }
        let mut shown = HashMap::new();
        for (seq, cuts) in once {
            // What was cut for good stays cut.
            let row =
                self.machine.context().position(seq).and_then(|at| self.machine.context().rows().get(at));
            let lasting = row.map(|row| row.cuts.clone()).unwrap_or_default();
            let all: Vec<SessionCut> = lasting.into_iter().chain(cuts).collect();
            shown.insert(seq, Bytes::from(self.shown(seq, &all).await?));
        }
        let rows = self.machine.context().rows().iter();
        let bodies = rows.filter_map(|row| shown.get(&row.seq).or_else(|| self.bodies.get(&row.seq)));
        let wire = target.wire.unwrap_or(self.dialect.0);
        let mut frame = Cow::Borrowed(&*self.row.envelope);
        if wire == self.dialect.0 && wire != Wire::Gemini && !target.model.is_empty() {
            // The frame is short; in a finished body all messages would have to be walked over.
            frame = Cow::Owned(with_member(&frame, "model", &encode(&target.model)));
        }
        let own = self.dialect.body(&frame, bodies.map(Bytes::as_ref));
        let body = if wire == self.dialect.0 {
            own
        } else {
            let transcript = self.dialect.read(&own, &secateur::Measures::default())?;
            let max_tokens = target.limits.output.and_then(|output| u64::try_from(output).ok());
            render(&transcript, wire, &RenderOptions { model: &target.model, max_tokens }, &[]).body
        };
        let lint::Fixed { body: fixed, repaired, remaining } = lint::fix(wire, &body);
        let (body, events) = (fixed.into_owned(), std::mem::take(&mut self.told));
        Ok(Request { body, wire, tokens, usable, repaired, remaining, events })
    }
}
