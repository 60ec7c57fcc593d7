//! What the machine wants kept, as one commit of the store.

use std::collections::BTreeMap;

use bytes::Bytes;
use secateur::Role;
use secateur::session::{
    ChangeSet, CompactionRecord, Input, MessageKind, Operation, Seq, SessionCut, SessionMessage, SessionState,
};
use secateur_store::{Commit, MessageChange, NewOperation, NewStoredMessage, StoreError};
use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::error::EngineError;
use crate::ledger::Ledger;
use crate::news::News;
use crate::session::{Session, TRIES};

/// What an operation left behind, as the store keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Deed {
    /// What was done.
    #[serde(flatten)]
    pub operation: Operation,
    /// The messages that it made, by number and nature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<(Seq, MessageKind)>,
    /// What is known for certain about what was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// What a model wrote about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// A commit in the making.
struct Draft<'s> {
    session: &'s Session,
    commit: Commit,
    state: SessionState,
    made: Vec<(Seq, SessionMessage)>,
    bodies: Vec<(Seq, Bytes)>,
}

impl Session {
    /// Keeps a record; gives the machine's answer. Messages that others appended meanwhile do not make it wrong: what
    /// is done is done to older ones.
    pub(crate) async fn keep(&mut self, record: ChangeSet) -> Result<Input, EngineError> {
        for _ in 1..TRIES {
            let stale = match self.keep_once(&record).await {
                Err(error) if matches!(error, EngineError::Store(StoreError::Stale { .. })) => error,
                outcome => return outcome,
            };
            match self.look().await? {
                News::Changes { .. } => return Err(stale),
                // An answer is awaited, so the machine takes them in and says nothing.
                News::Messages(messages) => drop(self.machine.handle(Input::Appended { messages })),
                News::Nothing => {}
            }
        }
        self.keep_once(&record).await
    }

    async fn keep_once(&mut self, record: &ChangeSet) -> Result<Input, EngineError> {
        let time = self.engine.parts.clock.now();
        let revision = self.row.revision;
        let is_pivot = record.operations.iter().any(|operation| matches!(operation, Operation::Compact(_)));
        let lease = self.lease.as_ref().filter(|_| is_pivot).map(|lease| lease.token);
        self.be_born().await?;
        let commit = Commit { revision, lease, time, append: self.pending(), ..Commit::default() };
        let mut draft = Draft {
            session: self,
            commit,
            state: (*record.state).clone(),
            made: Vec::new(),
            bodies: Vec::new(),
        };
        for operation in &record.operations {
            draft.add(operation).await?;
        }
        let Draft { mut commit, state, made, bodies, .. } = draft;
        commit.events = record.events.iter().map(to_json).collect::<Result<_, _>>()?;
        let state = to_json(&state)?;
        commit.state = Some(state.clone());
        let live_from = commit.live_from;
        let first = self.row.last_operation + 1;
        let committed = self.engine.parts.store.commit(&self.row.id, commit).await?;
        self.note_kept(&committed);
        self.row.last_operation = committed.last_operation;
        self.row.last_event = committed.last_event;
        self.row.live_from = live_from.unwrap_or(self.row.live_from);
        self.row.state = state;
        let is_made = |seq: &Seq| made.iter().any(|(made, _)| made == seq);
        let is_following = self.following.is_some();
        self.bodies.extend(bodies.into_iter().filter(|(seq, _)| !is_following || is_made(seq)));
        self.tell(&record.events);
        Ok(Input::Stored { ticket: record.ticket, messages: made, operation: first })
    }
}

impl Draft<'_> {
    fn dialect(&self) -> Dialect {
        self.session.dialect
    }

    /// The number that the operation being added will have.
    fn number(&self) -> u64 {
        self.session.row.last_operation + self.commit.operations.len() as u64 + 1
    }

    async fn add(&mut self, operation: &Operation) -> Result<(), EngineError> {
        let before = self.made.len();
        let number = self.number();
        let mut operation = operation.clone();
        let (mut ledger, mut words) = (None, String::new());
        match &mut operation {
            Operation::Prune { cuts, .. } => {
                cuts.iter_mut().for_each(|(_, cut)| cut.operation = number);
                self.prune(cuts).await?;
            }
            Operation::Mark { .. } => self.mark()?,
            Operation::Resume => self.resume()?,
            Operation::Compact(turnover) => {
                self.compact(turnover).await?;
                if let Some(prepared) = &self.session.prepared {
                    (ledger, words) = (Some(prepared.ledger.clone()), prepared.words.clone());
                }
            }
        }
        let made = self.made.get(before..).unwrap_or_default();
        let made = made.iter().map(|(seq, entry)| (*seq, entry.kind)).collect();
        let kind = match &operation {
            Operation::Prune { .. } => "prune",
            Operation::Mark { .. } => "mark",
            Operation::Resume => "resume",
            Operation::Compact(_) => "compact",
        };
        let data = to_json(&Deed { operation, made, ledger, words })?;
        self.commit.operations.push(NewOperation { kind: kind.to_owned(), time: self.commit.time, data });
        Ok(())
    }

    /// Shows other bodies for messages that are cut.
    async fn prune(&mut self, cuts: &[(Seq, SessionCut)]) -> Result<(), EngineError> {
        let mut by_message: BTreeMap<Seq, Vec<SessionCut>> = BTreeMap::new();
        for (seq, cut) in cuts {
            by_message.entry(*seq).or_default().push(cut.clone());
        }
        for (seq, fresh) in by_message {
            let rows = self.session.machine.context().rows();
            let row = self.session.machine.context().position(seq).and_then(|at| rows.get(at));
            let mut all = row.map(|row| row.cuts.clone()).unwrap_or_default();
            all.extend_from_slice(&fresh);
            let original = self.session.original(seq).await?;
            self.commit.clippings.extend(self.session.clip_cuts(seq, &original, &fresh)?);
            let shown = self.dialect().cut(&String::from_utf8_lossy(&original), &all)?.into_bytes();
            self.bodies.push((seq, shown.clone().into()));
            let cuts = to_json(&all)?;
            self.commit.change.push(MessageChange {
                seq,
                cuts: Some(cuts),
                shown: Some(Some(shown)),
                ..MessageChange::default()
            });
        }
        Ok(())
    }

    fn mark(&mut self) -> Result<(), EngineError> {
        let body = self.dialect().say(Role::User, &self.session.profile.compaction.marker);
        self.make(body, MessageKind::Marker, None)
    }

    fn resume(&mut self) -> Result<(), EngineError> {
        let text = self.session.profile.compaction.resume.clone().unwrap_or_default();
        let body = self.dialect().say(Role::User, &text);
        self.make(body, MessageKind::Resume, None)
    }

    /// Adds a message that the operation makes.
    fn make(&mut self, body: String, nature: MessageKind, parent: Option<String>) -> Result<(), EngineError> {
        let id = format!("{}-{}", self.session.row.id, uuid::Uuid::now_v7());
        let measures = self.session.profile.policy.measures();
        let entry = self.dialect().entry(&body, &id, &measures)?;
        let time = Some(self.commit.time);
        let entry = SessionMessage { kind: nature, parent, time, ..entry };
        let seq = self.session.row.head + self.commit.append.len() as u64 + 1;
        let body = Bytes::from(body);
        self.commit.append.push(NewStoredMessage {
            id,
            operation: Some(self.number()),
            pinned: false,
            time: self.commit.time,
            facts: to_json(&entry)?,
            cuts: String::new(),
            body: body.clone(),
            shown: None,
        });
        self.bodies.push((seq, body));
        self.made.push((seq, entry));
        Ok(())
    }

    async fn compact(&mut self, turnover: &CompactionRecord) -> Result<(), EngineError> {
        let before = self.made.len();
        if turnover.marker.is_none() {
            self.mark()?;
        }
        let marker = match turnover.marker {
            Some(seq) => {
                let rows = self.session.machine.context().rows();
                rows.iter().find(|row| row.seq == seq).map(|row| row.facts.id.clone())
            }
            None => self.made.last().map(|(_, entry)| entry.id.clone()),
        };
        let prepared = self.session.prepared.as_ref().filter(|prepared| prepared.task == turnover.task);
        let body = prepared.map(|prepared| prepared.body.clone()).unwrap_or_default();
        self.make(body, MessageKind::Summary, marker)?;
        if let Some(seq) = turnover.replay {
            let body = self.session.body(seq).unwrap_or_default().to_owned();
            self.make(String::from_utf8_lossy(&body).into_owned(), MessageKind::Plain, None)?;
        }
        if turnover.resume {
            self.resume()?;
        }
        let made = self.made.get(before..).unwrap_or_default().to_vec();
        let Some(pivot) = turnover.pivot(&made) else { return Ok(()) };
        self.commit.clippings.extend(self.session.clip_messages(&turnover.replaced).await?);
        let flag = |seq, hidden, pinned| MessageChange { seq, hidden, pinned, ..MessageChange::default() };
        let hidden = turnover.hidden(&made).into_iter().map(|seq| flag(seq, Some(true), None));
        self.commit.change.extend(hidden);
        let earlier = turnover.previous.iter().flat_map(|pivot| pivot.kept.iter().copied());
        let freed = earlier.filter(|seq| !pivot.kept.contains(seq)).map(|seq| flag(seq, None, Some(false)));
        self.commit.change.extend(freed);
        self.commit.change.extend(pivot.kept.iter().map(|&seq| flag(seq, None, Some(true))));
        self.commit.live_from = Some(pivot.live_from);
        self.state.pivot = Some(pivot);
        Ok(())
    }
}

impl Session {
    /// What is shown of a message with these cuts.
    pub(crate) async fn shown(&self, seq: Seq, cuts: &[SessionCut]) -> Result<Vec<u8>, EngineError> {
        let original = self.original(seq).await?;
        let text = String::from_utf8_lossy(&original);
        Ok(self.dialect.cut(&text, cuts)?.into_bytes())
    }

    /// The bytes of a message as they were appended.
    pub(crate) async fn original(&self, seq: Seq) -> Result<Vec<u8>, EngineError> {
        let rows = self.machine.context().rows();
        let row = self.machine.context().position(seq).and_then(|at| rows.get(at));
        if let (Some(row), Some(body)) = (row, self.body(seq))
            && row.cuts.is_empty()
        {
            return Ok(body.to_owned());
        }
        let mut found = self.engine.parts.store.originals(&self.row.id, &[seq]).await?;
        found.pop().flatten().ok_or(EngineError::Forgotten { seq })
    }
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, EngineError> {
    serde_json::to_string(value)
        .map_err(|source| EngineError::Unreadable { what: "a record".to_owned(), source: source.into() })
}
