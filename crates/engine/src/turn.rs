//! Undoing and redoing operations.
//!
//! Nothing that was done to a session destroyed anything, so everything can be taken back: a cut shows the original
//! again, and no policy makes it anew; a compaction lets the messages that it replaced live again. The messages that
//! an operation made are hidden while it is undone. Whatever the order, what holds is what the operations that are
//! not undone say: of several compactions, the newest.

use std::collections::{BTreeMap, HashSet};

use secateur::session::{CompactionRecord, Event, MessageKind, Operation, Pivot, Seq, SessionCut};
use secateur_store::{Commit, MessageChange, OperationRow};

use crate::error::EngineError;
use crate::record::{Deed, to_json};
use crate::session::{Session, TRIES};

/// How many operations are read at once.
const PAGE: usize = 500;

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Undo,
    Redo,
}

impl Wish {
    fn name(self) -> &'static str {
        match self {
            Wish::Undo => "undone",
            Wish::Redo => "done again",
        }
    }
}

impl Session {
    /// Takes an operation back. Without a number: the newest that is not undone.
    pub async fn undo(&mut self, operation: Option<u64>) -> Result<u64, EngineError> {
        self.turn(operation, Wish::Undo).await
    }

    /// Does an undone operation again. Without a number: the one that was undone and comes first.
    pub async fn redo(&mut self, operation: Option<u64>) -> Result<u64, EngineError> {
        self.turn(operation, Wish::Redo).await
    }

    async fn turn(&mut self, operation: Option<u64>, wish: Wish) -> Result<u64, EngineError> {
        for attempt in 0..TRIES {
            self.reload().await?;
            match self.turn_once(operation, wish).await {
                Ok(number) => {
                    self.reload().await?;
                    return Ok(number);
                }
                Err(error) if error.is_collision() => self.pause(attempt).await?,
                Err(error) => return Err(error),
            }
        }
        Err(EngineError::Busy { session: self.row.id.clone() })
    }

    async fn turn_once(&mut self, operation: Option<u64>, wish: Wish) -> Result<u64, EngineError> {
        let rows = self.operations().await?;
        let is_undone = wish == Wish::Redo;
        let fits = |row: &&OperationRow| row.undone == is_undone;
        let row = match (operation, wish) {
            (Some(number), _) => rows.iter().find(|row| row.number == number),
            (None, Wish::Undo) => rows.iter().rev().find(fits),
            (None, Wish::Redo) => rows.iter().find(fits),
        };
        let number = operation.or(row.map(|row| row.number)).unwrap_or(0);
        let refuse = |reason| EngineError::CannotTurn {
            session: self.row.id.clone(),
            number,
            wish: wish.name(),
            reason,
        };
        let row = row.ok_or_else(|| refuse("there is no such operation"))?;
        if !fits(&row) {
            return Err(refuse(if is_undone { "it is not undone" } else { "it is undone already" }));
        }
        let mut commit = Commit {
            revision: self.row.revision,
            time: self.now(),
            undone: vec![(number, wish == Wish::Undo)],
            ..Commit::default()
        };
        match self.deed(row)?.operation {
            Operation::Prune { cuts, .. } => self.turn_cuts(&cuts, number, wish, &mut commit).await?,
            Operation::Resume => {
                let made = self.deed(row)?.made;
                let hide = |(seq, _): &(Seq, MessageKind)| hidden(*seq, wish == Wish::Undo);
                commit.change.extend(made.iter().map(hide));
            }
            Operation::Mark { .. } | Operation::Compact(_) => {
                self.turn_compaction(&rows, number, wish, &mut commit)?;
                self.check_originals(&commit).await?;
                self.drop_foreign(&mut commit).await?;
            }
        }
        let event = match wish {
            Wish::Undo => Event::Undone { operation: number },
            Wish::Redo => Event::Redone { operation: number },
        };
        commit.events = vec![to_json(&event)?];
        self.engine.parts.store.commit(&self.row.id, commit).await?;
        self.tell(&[event]);
        Ok(number)
    }

    /// Refuses to bring back what was forgotten: a context must not have holes.
    async fn check_originals(&self, commit: &Commit) -> Result<(), EngineError> {
        let mut from = commit.live_from.unwrap_or(self.row.live_from);
        while from < self.row.live_from {
            let to = self.row.live_from.min(from + PAGE as u64);
            let page = self.engine.parts.store.messages(&self.row.id, from, to).await?;
            if let Some(lost) = page.iter().find(|message| message.body.is_empty()) {
                return Err(EngineError::Forgotten { seq: lost.seq });
            }
            from = to;
        }
        Ok(())
    }

    /// Leaves out changes of messages that are not there: operations of a session that branched off from another one
    /// speak of some that it does not share.
    async fn drop_foreign(&self, commit: &mut Commit) -> Result<(), EngineError> {
        let seqs: Vec<Seq> = commit.change.iter().map(|change| change.seq).collect();
        let (Some(&first), Some(&last)) = (seqs.iter().min(), seqs.iter().max()) else { return Ok(()) };
        let mut there = HashSet::new();
        let mut from = first;
        while from <= last {
            let to = (last + 1).min(from + PAGE as u64);
            let page = self.engine.parts.store.messages(&self.row.id, from, to).await?;
            there.extend(page.iter().map(|message| message.seq));
            from = to;
        }
        commit.change.retain(|change| there.contains(&change.seq));
        Ok(())
    }

    /// All operations, oldest first.
    pub(crate) async fn operations(&self) -> Result<Vec<OperationRow>, EngineError> {
        let mut rows: Vec<OperationRow> = Vec::new();
        loop {
            let after = rows.last().map_or(0, |row| row.number);
            let page = self.engine.parts.store.operations(&self.row.id, after, PAGE).await?;
            let is_last = page.len() < PAGE;
            rows.extend(page);
            if is_last {
                return Ok(rows);
            }
        }
    }

    pub(crate) fn deed(&self, row: &OperationRow) -> Result<Deed, EngineError> {
        serde_json::from_str(&row.data).map_err(|source| EngineError::Unreadable {
            what: format!("operation {} of session {}", row.number, self.row.id),
            source: source.into(),
        })
    }

    /// Shows the originals of cut parts again, or the cuts.
    async fn turn_cuts(
        &self,
        cuts: &[(Seq, SessionCut)],
        number: u64,
        wish: Wish,
        commit: &mut Commit,
    ) -> Result<(), EngineError> {
        let mut messages: BTreeMap<Seq, ()> = BTreeMap::new();
        messages.extend(cuts.iter().map(|(seq, _)| (*seq, ())));
        for seq in messages.into_keys() {
            let rows = self.engine.parts.store.messages(&self.row.id, seq, seq + 1).await?;
            let Some(row) = rows.first().filter(|row| !row.cuts.is_empty()) else { continue };
            let mut made: Vec<SessionCut> = serde_json::from_str(&row.cuts).map_err(|source| {
                EngineError::Unreadable { what: format!("the cuts of message {seq}"), source: source.into() }
            })?;
            for cut in made.iter_mut().filter(|cut| cut.operation == number) {
                cut.undone = wish == Wish::Undo;
            }
            let original = self.engine.parts.store.originals(&self.row.id, &[seq]).await?.pop().flatten();
            let original = original.ok_or(EngineError::Forgotten { seq })?;
            let is_whole = made.iter().all(|cut| cut.undone);
            let shown = if is_whole {
                None
            } else {
                Some(self.dialect.cut(&String::from_utf8_lossy(&original), &made)?.into_bytes())
            };
            let cuts = Some(to_json(&made)?);
            commit.change.push(MessageChange { seq, cuts, shown: Some(shown), ..MessageChange::default() });
        }
        Ok(())
    }

    /// Lets the newest compaction hold that is not undone.
    fn turn_compaction(
        &self,
        rows: &[OperationRow],
        number: u64,
        wish: Wish,
        commit: &mut Commit,
    ) -> Result<(), EngineError> {
        let mut compactions: Vec<Past> = Vec::new();
        // Several operations may want the same message hidden; it is shown only if none does.
        let mut hides: BTreeMap<Seq, bool> = BTreeMap::new();
        let mut hide = |seq: Seq, is_hidden: bool| *hides.entry(seq).or_default() |= is_hidden;
        for row in rows {
            let is_undone = if row.number == number { wish == Wish::Undo } else { row.undone };
            let Deed { operation, made, .. } = self.deed(row)?;
            match operation {
                Operation::Compact(turnover) => {
                    compactions.push(Past { number: row.number, is_undone, turnover, made });
                }
                Operation::Mark { .. } => made.iter().for_each(|(seq, _)| hide(*seq, is_undone)),
                Operation::Prune { .. } | Operation::Resume => {}
            }
        }
        let holding = compactions.iter().rev().find(|past| !past.is_undone);
        let pivot = holding.and_then(|past| pivot_of(&past.turnover, &past.made));
        let live_from = pivot.as_ref().map_or(1, |pivot| pivot.live_from);
        for Past { number, is_undone, turnover, made } in &compactions {
            let holds = holding.is_some_and(|holding| holding.number == *number);
            for (seq, nature) in made {
                let is_pair = matches!(nature, MessageKind::Marker | MessageKind::Summary);
                let is_unshown = *nature == MessageKind::Marker && !turnover.shows_marker;
                hide(*seq, *is_undone || is_pair && !holds || is_unshown);
            }
            if let Some(marker) = turnover.marker {
                let is_free = *is_undone || holds && turnover.shows_marker;
                hide(marker, !is_free);
            }
            // What it replaced is out of sight by `live_from`, except what lies behind that.
            let is_past = holding.is_some_and(|holding| *number <= holding.number);
            for seq in turnover.replaced.iter().filter(|seq| **seq >= turnover.live_from) {
                hide(*seq, !is_undone && is_past);
            }
            let kept = turnover.kept.iter().copied();
            let is_kept = |seq: &Seq| pivot.as_ref().is_some_and(|pivot| pivot.kept.contains(seq));
            commit.change.extend(kept.map(|seq| MessageChange {
                seq,
                pinned: Some(is_kept(&seq)),
                ..MessageChange::default()
            }));
        }
        commit.change.extend(hides.into_iter().map(|(seq, is_hidden)| hidden(seq, is_hidden)));
        let mut state = self.machine.state().clone();
        state.pivot = pivot;
        commit.state = Some(to_json(&state)?);
        commit.live_from = Some(live_from);
        Ok(())
    }
}

/// A compaction that was made once.
struct Past {
    number: u64,
    is_undone: bool,
    turnover: CompactionRecord,
    made: Vec<(Seq, MessageKind)>,
}

fn hidden(seq: Seq, is_hidden: bool) -> MessageChange {
    MessageChange { seq, hidden: Some(is_hidden), ..MessageChange::default() }
}

fn pivot_of(turnover: &CompactionRecord, made: &[(Seq, MessageKind)]) -> Option<Pivot> {
    let of = |nature| made.iter().find(|(_, made)| *made == nature).map(|(seq, _)| *seq);
    let marker = turnover.marker.or_else(|| of(MessageKind::Marker)).filter(|_| turnover.shows_marker);
    let (live_from, kept) = (turnover.live_from, turnover.kept.clone());
    Some(Pivot { marker, summary: of(MessageKind::Summary)?, live_from, kept })
}
