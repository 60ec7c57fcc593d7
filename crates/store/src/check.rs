//! What a check of a whole store looks at, once for both databases.
//!
//! A check reads every row in pages, changes nothing, and also reads stores of earlier schemas. What it finds is listed
//! with what it means.

use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::body::PackedBody;
use crate::error::StoreError;
use crate::stored_row::StoredRow;

/// The most damages that are listed. All are counted.
const LISTED: usize = 1_000;

/// What a check of a store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreReport {
    /// How many sessions were checked.
    pub sessions: u64,
    /// How many messages.
    pub messages: u64,
    /// How many bodies.
    pub bodies: u64,
    /// How many bytes they have before compression.
    pub bytes: u64,
    /// How many clippings.
    pub clippings: u64,
    /// Whether everything was checked. If not, the time was over.
    pub is_complete: bool,
    /// What is damaged; at most 1,000 are listed.
    pub damages: Vec<StoreDamage>,
    /// How many there are.
    pub damage_count: u64,
}

/// Something in a store that is damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreDamage {
    /// The session that it belongs to, if it is known.
    pub session: Option<String>,
    /// The number of the message.
    pub message: Option<u64>,
    /// What is damaged, and how that was noticed.
    pub what: String,
    /// What that means.
    pub meaning: &'static str,
}

/// A check that is going on.
pub(crate) struct CheckWork {
    pub(crate) report: StoreReport,
    pub(crate) end: Option<Instant>,
}

const RESENT: &str = "A client that sends it again mends it; until then it cannot be recalled.";
const LEFT: &str =
    "The proxy continues the conversation in a new session; an application gets an error for this one.";
const INDEX: &str = "It may not be found by search or by its handle; its message can be recalled by number.";

impl CheckWork {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { report: StoreReport { is_complete: true, ..StoreReport::default() }, end }
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&mut self) -> bool {
        let is_over = self.end.is_some_and(|end| Instant::now() >= end);
        self.report.is_complete &= !is_over;
        is_over
    }

    pub(crate) fn add(&mut self, damage: StoreDamage) {
        self.report.damage_count += 1;
        if self.report.damages.len() < LISTED {
            self.report.damages.push(damage);
        }
    }

    /// The database itself is damaged, or cannot be read further.
    pub(crate) fn add_database(&mut self, what: String) {
        let meaning =
            "Some rows cannot be read. `secateur store recover` brings out what can be; or restore a backup.";
        self.add(StoreDamage { what, meaning, ..StoreDamage::default() });
    }

    pub(crate) fn session(&mut self, id: &str, texts: [(&str, &str); 2]) {
        self.report.sessions += 1;
        for (name, text) in texts {
            if !is_json(text) {
                let (session, what) = (Some(id.to_owned()), format!("its {name} is no JSON"));
                self.add(StoreDamage { session, what, meaning: LEFT, ..StoreDamage::default() });
            }
        }
    }

    /// Checks a row of messages. The session is none if its row is lost.
    pub(crate) fn message(&mut self, session: Option<(&str, bool)>, row: &StoredRow) {
        self.report.messages += 1;
        let message = Some(row.message.seq);
        let (name, is_sealed) = session.map_or((None, false), |(id, sealed)| (Some(id.to_owned()), sealed));
        let mut whats = Vec::new();
        if session.is_none() {
            whats.push("its session is missing".to_owned());
        }
        if let Err(StoreError::Damaged { why, .. }) = row.check("", is_sealed) {
            whats.push(why);
        }
        let is_wrong = |text: &str| !is_json(text);
        if is_wrong(&row.message.facts) {
            whats.push("its facts are no JSON".to_owned());
        }
        if !row.message.cuts.is_empty() && is_wrong(&row.message.cuts) {
            whats.push("its cuts are no JSON".to_owned());
        }
        for what in whats {
            self.add(StoreDamage { session: name.clone(), message, what, meaning: LEFT });
        }
    }

    /// Checks a body. Says whether it is whole; if not, its messages are to be [named](Self::body_of).
    pub(crate) fn body(&mut self, digest: &[u8], packed: PackedBody) -> Result<(), &'static str> {
        self.report.bodies += 1;
        self.report.bytes += packed.unpack(digest)?.len() as u64;
        Ok(())
    }

    /// A damaged body belongs to this message.
    pub(crate) fn body_of(&mut self, session: Option<String>, seq: Option<i64>, why: &str) {
        let message = seq.and_then(|seq| u64::try_from(seq).ok());
        self.add(StoreDamage { session, message, what: why.to_owned(), meaning: RESENT });
    }

    /// Checks a clipping: its part must be one of its message's.
    pub(crate) fn clipping(&mut self, handle: &str, part: i64, facts: Option<&str>) {
        self.report.clippings += 1;
        let parts = facts.and_then(|facts| serde_json::from_str::<Value>(facts).ok());
        // A row whose facts cannot be read is reported as such.
        let count = parts.map(|facts| facts.get("parts").and_then(Value::as_array).map_or(0, Vec::len));
        let is_there = |count: usize| usize::try_from(part).is_ok_and(|part| part < count);
        if facts.is_none() || count.is_some_and(|count| count > 0 && !is_there(count)) {
            let what = format!("the clipping {handle} names a part that is not there");
            self.add(StoreDamage { what, meaning: INDEX, ..StoreDamage::default() });
        }
    }

    /// Checks the data of an operation or event.
    pub(crate) fn record(&mut self, session: Option<String>, what: &str, number: i64, data: &str) {
        if !is_json(data) {
            let what = format!("its {what} {number} is no JSON");
            self.add(StoreDamage { session, what, meaning: LEFT, ..StoreDamage::default() });
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
