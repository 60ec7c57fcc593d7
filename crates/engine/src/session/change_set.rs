//! Stores what the machine decided, as one commit.

use std::collections::BTreeMap;

use bytes::Bytes;
use secateur::session::{
    ChangeSet, CompactionRecord, CutBy, Input, MessageKind, Operation, Seq, SessionCut, SessionMessage,
    SessionState,
};
use secateur::{Action, Role};
use secateur_store::{Commit, MessageChange, NewOperation, NewStoredMessage, StoreError};
use serde::{Deserialize, Serialize};

use super::core::SessionCore;
use super::history::History;
use super::json::to_json;
use crate::error::EngineError;
use crate::ledger::Ledger;

/// How often changes are rebased on messages that others appended.
const REBASES: u32 = 40;

/// An operation as the store keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredOperation {
    /// What was done.
    #[serde(flatten)]
    pub operation: Operation,
    /// The messages that it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<(Seq, MessageKind)>,
    /// The facts about the messages that it replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// What a model wrote about them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// A commit that is being put together.
struct CommitDraft<'s, H> {
    session: &'s SessionCore<H>,
    commit: Commit,
    state: SessionState,
    made: Vec<(Seq, SessionMessage)>,
    bodies: Vec<(Seq, Bytes)>,
    /// The handles of the cuts, by message and part.
    handles: Vec<(Seq, u32, String)>,
}

impl<H: History> SessionCore<H> {
    /// Stores changes; returns the machine's next input. Messages that others append meanwhile do no harm, because
    /// changes are about older ones.
    pub(crate) async fn store_changes(&mut self, changes: ChangeSet) -> Result<Input, EngineError> {
        for _ in 1..REBASES {
            match self.try_store_changes(&changes).await {
                Err(EngineError::Store(StoreError::Stale { .. })) => self.absorb_remote_messages().await?,
                Err(EngineError::Store(StoreError::HandleTaken { handle })) => {
                    self.taken_handles.insert(handle);
                }
                outcome => return outcome,
            }
        }
        self.try_store_changes(&changes).await
    }

    async fn try_store_changes(&mut self, changes: &ChangeSet) -> Result<Input, EngineError> {
        match self.store_long_history().await {
            Err(error) if self.goes_on_after(&error) => {}
            stored => stored?,
        }
        let time = self.now();
        let revision = self.row.revision;
        let compacts = changes.operations.iter().any(|operation| matches!(operation, Operation::Compact(_)));
        let lease = self.lease.token().filter(|_| compacts);
        let append = self.history.pending().to_vec();
        let commit = Commit { revision, lease, time, append, ..Commit::default() };
        let mut draft = CommitDraft {
            session: self,
            commit,
            state: (*changes.state).clone(),
            made: Vec::new(),
            bodies: Vec::new(),
            handles: Vec::new(),
        };
        for operation in &changes.operations {
            draft.add(operation).await?;
        }
        let CommitDraft { mut commit, state, made, bodies, handles, .. } = draft;
        commit.events = changes.events.iter().map(to_json).collect::<Result<_, _>>()?;
        let state = to_json(&state)?;
        commit.state = Some(state.clone());
        let live_from = commit.live_from;
        let first = self.row.last_operation + 1;
        let committed = self.commit_decision(commit).await?;
        self.note_commit(&committed);
        self.row.last_operation = committed.last_operation;
        self.row.last_event = committed.last_event;
        self.row.live_from = live_from.unwrap_or(self.row.live_from);
        self.row.state = state;
        let is_made = |seq: &Seq| made.iter().any(|(made, _)| made == seq);
        let holds = |seq: &Seq| H::holds_body(MessageKind::Plain) || is_made(seq);
        self.bodies.extend(bodies.into_iter().filter(|(seq, _)| holds(seq)));
        self.announce(&changes.events);
        Ok(Input::Stored { ticket: changes.ticket, messages: made, operation: first, handles })
    }
}

impl<H: History> CommitDraft<'_, H> {
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
            Operation::Compact(record) => {
                self.compact(record).await?;
                if let Some(prepared) = &self.session.compaction.prepared {
                    (ledger, words) = (Some(prepared.ledger.clone()), prepared.words.clone());
                }
            }
        }
        let made = self.made.get(before..).unwrap_or_default();
        let made = made.iter().map(|(seq, facts)| (*seq, facts.kind)).collect();
        let kind = match &operation {
            Operation::Prune { .. } => "prune",
            Operation::Mark { .. } => "mark",
            Operation::Resume => "resume",
            Operation::Compact(_) => "compact",
        };
        let data = to_json(&StoredOperation { operation, made, ledger, words })?;
        self.commit.operations.push(NewOperation { kind: kind.to_owned(), time: self.commit.time, data });
        Ok(())
    }

    /// Changes the bodies that are shown of messages that are cut, and gives the cuts their handles.
    async fn prune(&mut self, cuts: &mut [(Seq, SessionCut)]) -> Result<(), EngineError> {
        let mut by_message: BTreeMap<Seq, Vec<&mut SessionCut>> = BTreeMap::new();
        for (seq, cut) in cuts {
            by_message.entry(*seq).or_default().push(cut);
        }
        for (seq, made) in by_message {
            let mut fresh: Vec<SessionCut> = made.iter().map(|cut| (**cut).clone()).collect();
            let earlier = self.session.live_message(seq).map(|message| message.cuts.clone());
            let mut all = earlier.unwrap_or_default();
            let is_whole = |cut: &SessionCut| cut.undone || cut.by == CutBy::Provider;
            let is_shown_whole = all.iter().chain(&fresh).all(is_whole);
            if is_shown_whole && fresh.iter().all(|cut| cut.action == Action::DropThinking) {
                all.append(&mut fresh);
                let cuts = Some(to_json(&all)?);
                self.commit.change.push(MessageChange { seq, cuts, ..MessageChange::default() });
                continue;
            }
            let original = self.session.original(seq).await?;
            self.session.name_cuts(&original, &mut fresh);
            for (cut, named) in made.into_iter().zip(&fresh) {
                self.handles.extend(named.handle.clone().map(|handle| (seq, named.part, handle)));
                cut.handle.clone_from(&named.handle);
            }
            self.commit.clippings.extend(self.session.clip_cuts(seq, &original, &fresh)?);
            all.append(&mut fresh);
            let cuts = Some(to_json(&all)?);
            let shown = self.session.wire.cut(&String::from_utf8_lossy(&original), &all)?.into_bytes();
            self.bodies.push((seq, shown.clone().into()));
            let shown = Some(Some(shown).filter(|_| !is_shown_whole));
            self.commit.change.push(MessageChange { seq, cuts, shown, ..MessageChange::default() });
        }
        Ok(())
    }

    fn mark(&mut self) -> Result<(), EngineError> {
        let body = self.session.wire.say(Role::User, &self.session.profile.compaction.marker);
        self.make(body, MessageKind::Marker, None)
    }

    fn resume(&mut self) -> Result<(), EngineError> {
        let text = self.session.profile.compaction.resume.clone().unwrap_or_default();
        let body = self.session.wire.say(Role::User, &text);
        self.make(body, MessageKind::Resume, None)
    }

    /// Appends a message that the operation makes.
    fn make(&mut self, body: String, kind: MessageKind, parent: Option<String>) -> Result<(), EngineError> {
        let id = format!("{}-{}", self.session.row.id, self.session.engine.parts.clock.new_id());
        let measures = self.session.profile.policy.measures();
        let facts = self.session.wire.entry(&body, &id, &measures)?;
        let time = Some(self.commit.time);
        let facts = SessionMessage { kind, parent, time, ..facts };
        let seq = self.session.row.head + self.commit.append.len() as u64 + 1;
        let body = Bytes::from(body);
        self.commit.append.push(NewStoredMessage {
            id,
            operation: Some(self.number()),
            pinned: false,
            time: self.commit.time,
            facts: to_json(&facts)?,
            cuts: String::new(),
            body: body.clone(),
            shown: None,
        });
        self.bodies.push((seq, body));
        self.made.push((seq, facts));
        Ok(())
    }

    /// Appends the summary and what belongs to it, and hides what it replaces.
    async fn compact(&mut self, record: &CompactionRecord) -> Result<(), EngineError> {
        let before = self.made.len();
        if record.marker.is_none() {
            self.mark()?;
        }
        let marker = match record.marker {
            Some(seq) => self.session.live_message(seq).map(|message| message.facts.id.clone()),
            None => self.made.last().map(|(_, facts)| facts.id.clone()),
        };
        let prepared =
            self.session.compaction.prepared.as_ref().filter(|prepared| prepared.task == record.task);
        let body = prepared.map(|prepared| prepared.body.clone()).unwrap_or_default();
        self.make(body, MessageKind::Summary, marker)?;
        if let Some(seq) = record.replay {
            let body = self.session.body(seq).unwrap_or_default().to_owned();
            self.make(String::from_utf8_lossy(&body).into_owned(), MessageKind::Plain, None)?;
        }
        if record.resume {
            self.resume()?;
        }
        let made = self.made.get(before..).unwrap_or_default().to_vec();
        let Some(pivot) = record.pivot(&made) else { return Ok(()) };
        self.commit.clippings.extend(self.session.clip_messages(&record.replaced).await?);
        let flag = |seq, hidden, pinned| MessageChange { seq, hidden, pinned, ..MessageChange::default() };
        let hidden = record.hidden(&made).into_iter().map(|seq| flag(seq, Some(true), None));
        self.commit.change.extend(hidden);
        let earlier = record.previous.iter().flat_map(|pivot| pivot.kept.iter().copied());
        let freed = earlier.filter(|seq| !pivot.kept.contains(seq)).map(|seq| flag(seq, None, Some(false)));
        self.commit.change.extend(freed);
        self.commit.change.extend(pivot.kept.iter().map(|&seq| flag(seq, None, Some(true))));
        self.commit.live_from = Some(pivot.live_from);
        self.state.pivot = Some(pivot);
        Ok(())
    }
}
