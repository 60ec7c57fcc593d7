//! Undoing and redoing operations.
//!
//! Operations destroy nothing, so each can be undone: a cut shows the original again, and no policy repeats it; a
//! compaction makes the messages live again that it replaced, and hides those that it made. In whatever order
//! operations are undone and redone, the result follows from those that are not undone. Of several compactions the
//! newest one counts.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use secateur::session::{
    CompactionRecord, Event, MessageKind, Operation, Pivot, Seq, SessionCut, UndoneCompaction,
};
use secateur_store::{Commit, MessageChange, OperationRow, StoredMessage};

use super::change_set::StoredOperation;
use super::core::SessionCore;
use super::history::History;
use super::json::{from_json, to_json};
use crate::error::EngineError;

/// How many messages are read at once.
const PAGE: u64 = 500;

/// Whether an operation is undone or redone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UndoDirection {
    Undo,
    /// Undone by the engine itself, so that another compaction need not wait.
    TakeBack,
    Redo,
}

impl UndoDirection {
    /// Whether the operation is undone afterwards.
    fn is_undo(self) -> bool {
        self != UndoDirection::Redo
    }

    fn participle(self) -> &'static str {
        match self {
            UndoDirection::Undo | UndoDirection::TakeBack => "undone",
            UndoDirection::Redo => "done again",
        }
    }
}

impl<H: History> SessionCore<H> {
    /// Undoes an operation; without a number the newest one that is not undone.
    pub(crate) async fn undo(&mut self, operation: Option<u64>) -> Result<u64, EngineError> {
        self.undo_or_redo(operation, UndoDirection::Undo).await
    }

    /// Undoes an operation because it does not suit the history; without a number the newest one that is not undone.
    pub(crate) async fn take_back(&mut self, operation: Option<u64>) -> Result<u64, EngineError> {
        self.undo_or_redo(operation, UndoDirection::TakeBack).await
    }

    /// Redoes an undone operation; without a number the oldest one that is undone.
    pub(crate) async fn redo(&mut self, operation: Option<u64>) -> Result<u64, EngineError> {
        self.undo_or_redo(operation, UndoDirection::Redo).await
    }

    async fn undo_or_redo(
        &mut self,
        operation: Option<u64>,
        direction: UndoDirection,
    ) -> Result<u64, EngineError> {
        let number = retry!(self, async {
            self.reload().await?;
            self.try_undo_or_redo(operation, direction).await.map(Some)
        });
        self.reload().await?;
        Ok(number)
    }

    async fn try_undo_or_redo(
        &mut self,
        operation: Option<u64>,
        direction: UndoDirection,
    ) -> Result<u64, EngineError> {
        let rows = self.engine.all_operations(&self.row.id).await?;
        let fits = |row: &&OperationRow| row.undone != direction.is_undo();
        let row = match (operation, direction) {
            (Some(number), _) => rows.iter().find(|row| row.number == number),
            (None, UndoDirection::Undo | UndoDirection::TakeBack) => rows.iter().rev().find(fits),
            (None, UndoDirection::Redo) => rows.iter().find(fits),
        };
        let number = operation.or(row.map(|row| row.number)).unwrap_or(0);
        let refuse = |reason| EngineError::CannotUndo {
            session: self.row.id.clone(),
            number,
            action: direction.participle(),
            reason,
        };
        let row = row.ok_or_else(|| refuse("there is no such operation"))?;
        if !fits(&row) {
            return Err(refuse(match direction {
                UndoDirection::Undo | UndoDirection::TakeBack => "it is undone already",
                UndoDirection::Redo => "it is not undone",
            }));
        }
        let mut commit = Commit {
            revision: self.row.revision,
            time: self.now(),
            undone: vec![(number, direction.is_undo())],
            ..Commit::default()
        };
        let mut state = self.machine.state().clone();
        state.changed_since_sent = true;
        commit.state = Some(to_json(&state)?);
        let StoredOperation { operation, made, .. } = self.stored_operation(row)?;
        match operation {
            Operation::Prune { cuts, .. } => self.change_cuts(&cuts, number, direction, &mut commit).await?,
            Operation::Resume => {
                commit.change.extend(made.iter().map(|(seq, _)| hidden(*seq, direction.is_undo())));
            }
            Operation::Mark { .. } | Operation::Compact(_) => {
                self.change_pivot(&rows, number, direction, &mut commit)?;
                self.check_originals(&commit).await?;
                self.drop_missing(&mut commit).await?;
            }
        }
        let event = match direction {
            UndoDirection::Undo | UndoDirection::TakeBack => Event::Undone { operation: number },
            UndoDirection::Redo => Event::Redone { operation: number },
        };
        commit.events = vec![to_json(&event)?];
        self.engine.parts.store.commit(&self.row.id, commit).await?;
        self.announce(&[event]);
        Ok(number)
    }

    /// Refuses to show forgotten messages again: a context must have no gaps.
    async fn check_originals(&self, commit: &Commit) -> Result<(), EngineError> {
        let mut from = commit.live_from.unwrap_or(self.row.live_from);
        while from < self.row.live_from {
            let to = self.row.live_from.min(from + PAGE);
            let page = self.engine.parts.store.messages(&self.row.id, from, to).await?;
            if let Some(lost) = page.iter().find(|message| message.body.is_empty()) {
                return Err(EngineError::Forgotten { seq: lost.seq });
            }
            from = to;
        }
        Ok(())
    }

    /// Drops changes of messages that this session does not have: a fork has all operations of its parent, but not all
    /// of its messages. Refuses to show forgotten messages that were hidden.
    async fn drop_missing(&self, commit: &mut Commit) -> Result<(), EngineError> {
        let seqs: Vec<Seq> = commit.change.iter().map(|change| change.seq).collect();
        let (Some(&first), Some(&last)) = (seqs.iter().min(), seqs.iter().max()) else { return Ok(()) };
        let shown = commit.change.iter().filter(|change| change.hidden == Some(false));
        let shown: HashSet<Seq> = shown.map(|change| change.seq).collect();
        let live_from = commit.live_from.unwrap_or(self.row.live_from);
        let mut there = HashSet::new();
        let mut from = first;
        while from <= last {
            let to = (last + 1).min(from + PAGE);
            let page = self.engine.parts.store.messages(&self.row.id, from, to).await?;
            let is_lost = |message: &&StoredMessage| {
                message.hidden
                    && message.seq >= live_from
                    && shown.contains(&message.seq)
                    && message.body.is_empty()
            };
            if let Some(lost) = page.iter().find(is_lost) {
                return Err(EngineError::Forgotten { seq: lost.seq });
            }
            there.extend(page.iter().map(|message| message.seq));
            from = to;
        }
        commit.change.retain(|change| there.contains(&change.seq));
        Ok(())
    }

    pub(crate) fn stored_operation(&self, row: &OperationRow) -> Result<StoredOperation, EngineError> {
        from_json(&row.data, || format!("operation {} of session {}", row.number, self.row.id))
    }

    /// Shows the originals of cut parts again, or the cuts.
    async fn change_cuts(
        &self,
        cuts: &[(Seq, SessionCut)],
        number: u64,
        direction: UndoDirection,
        commit: &mut Commit,
    ) -> Result<(), EngineError> {
        let messages: BTreeSet<Seq> = cuts.iter().map(|(seq, _)| *seq).collect();
        for seq in messages {
            let rows = self.engine.parts.store.messages(&self.row.id, seq, seq + 1).await?;
            let Some(row) = rows.first().filter(|row| !row.cuts.is_empty()) else { continue };
            let mut made: Vec<SessionCut> = from_json(&row.cuts, || format!("the cuts of message {seq}"))?;
            for cut in made.iter_mut().filter(|cut| cut.operation == number) {
                cut.undone = direction.is_undo();
            }
            let original = self.engine.parts.store.originals(&self.row.id, &[seq]).await?.pop().flatten();
            let original = original.ok_or(EngineError::Forgotten { seq })?;
            let is_whole = made.iter().all(|cut| cut.undone);
            let shown = if is_whole {
                None
            } else {
                Some(self.wire.cut(&String::from_utf8_lossy(&original), &made)?.into_bytes())
            };
            let cuts = Some(to_json(&made)?);
            commit.change.push(MessageChange { seq, cuts, shown: Some(shown), ..MessageChange::default() });
        }
        Ok(())
    }

    /// Moves the pivot to the newest compaction that is not undone.
    fn change_pivot(
        &self,
        rows: &[OperationRow],
        number: u64,
        direction: UndoDirection,
        commit: &mut Commit,
    ) -> Result<(), EngineError> {
        let mut compactions: Vec<PastCompaction> = Vec::new();
        // A message is shown only if no operation hides it.
        let mut hides: BTreeMap<Seq, bool> = BTreeMap::new();
        let mut hide = |seq: Seq, is_hidden: bool| *hides.entry(seq).or_default() |= is_hidden;
        for row in rows {
            let is_undone = if row.number == number { direction.is_undo() } else { row.undone };
            let StoredOperation { operation, made, .. } = self.stored_operation(row)?;
            match operation {
                Operation::Compact(record) => {
                    compactions.push(PastCompaction { number: row.number, is_undone, record, made });
                }
                Operation::Mark { .. } => made.iter().for_each(|(seq, _)| hide(*seq, is_undone)),
                Operation::Prune { .. } | Operation::Resume => {}
            }
        }
        let holding = compactions.iter().rev().find(|past| !past.is_undone);
        let pivot = holding.and_then(|past| pivot_of(&past.record, &past.made));
        let live_from = pivot.as_ref().map_or(1, |pivot| pivot.live_from);
        for PastCompaction { number, is_undone, record, made } in &compactions {
            let holds = holding.is_some_and(|holding| holding.number == *number);
            for (seq, kind) in made {
                let is_pair = matches!(kind, MessageKind::Marker | MessageKind::Summary);
                let is_unshown = *kind == MessageKind::Marker && !record.shows_marker;
                hide(*seq, *is_undone || is_pair && !holds || is_unshown);
            }
            if let Some(marker) = record.marker {
                let is_free = *is_undone || holds && record.shows_marker;
                hide(marker, !is_free);
            }
            // What it replaced lies before `live_from` and is not live anyway, with few exceptions.
            let is_past = holding.is_some_and(|holding| *number <= holding.number);
            for seq in record.replaced.iter().filter(|seq| **seq >= record.live_from) {
                hide(*seq, !is_undone && is_past);
            }
            let kept = record.kept.iter().copied();
            let is_kept = |seq: &Seq| pivot.as_ref().is_some_and(|pivot| pivot.kept.contains(seq));
            commit.change.extend(kept.map(|seq| MessageChange {
                seq,
                pinned: Some(is_kept(&seq)),
                ..MessageChange::default()
            }));
        }
        commit.change.extend(hides.into_iter().map(|(seq, is_hidden)| hidden(seq, is_hidden)));
        let mut state = self.machine.state().clone();
        (state.pivot, state.changed_since_sent) = (pivot, true);
        let is_compaction = compactions.iter().any(|past| past.number == number);
        if is_compaction && direction != UndoDirection::TakeBack {
            let undone = UndoneCompaction { operation: number, is_told: false };
            state.undone_compaction = Some(undone).filter(|_| direction.is_undo());
        }
        commit.state = Some(to_json(&state)?);
        commit.live_from = Some(live_from);
        Ok(())
    }
}

/// A compaction with its state after this undo or redo.
struct PastCompaction {
    number: u64,
    is_undone: bool,
    record: CompactionRecord,
    made: Vec<(Seq, MessageKind)>,
}

fn hidden(seq: Seq, is_hidden: bool) -> MessageChange {
    MessageChange { seq, hidden: Some(is_hidden), ..MessageChange::default() }
}

fn pivot_of(record: &CompactionRecord, made: &[(Seq, MessageKind)]) -> Option<Pivot> {
    let of = |kind| made.iter().find(|(_, made)| *made == kind).map(|(seq, _)| *seq);
    let marker = record.marker.or_else(|| of(MessageKind::Marker)).filter(|_| record.shows_marker);
    let (live_from, kept) = (record.live_from, record.kept.clone());
    Some(Pivot { marker, summary: of(MessageKind::Summary)?, live_from, kept })
}
