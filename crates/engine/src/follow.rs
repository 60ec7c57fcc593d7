//! A session that follows a history which somebody else keeps as well.
//!
//! A proxy sees whole histories: each request repeats the one before and adds to it. What the client sends again need
//! not be stored before it is passed on, and not be held in memory at all. So a session that follows differs from one
//! that keeps in three things:
//!
//! * **It stores late.** Messages are taken in at once and stored together with the next thing that has to be: a cut, a
//!   compaction, what was learned from an answer. A conversation that never gets that far is never stored. Nothing can
//!   be lost by it: what is not stored yet was not cut either, and the client says it again.
//! * **Its newest messages may be taken back.** Clients write their last message anew with each request, repeat a
//!   question in other words, go back a step. Messages that are [held](Session::hold) are not stored until they are
//!   confirmed.
//! * **It holds no bodies.** They are read from the store when a summary is made of them.
//!
//! When others change the session, all of it is loaded again and what was not stored is gone; [`Session::reloads`]
//! tells, and the follower says it again.

use std::sync::Arc;

use bytes::Bytes;
use secateur::session::{Event, Input, MessageKind, Seq, SessionCut, SessionMessage};
use secateur::{Amount, MarkerAt, PivotStart, Profile, Replay, ResumeWhen, Role};
use secateur_store::{NewMessageRow, SessionRow};
use uuid::Uuid;

use crate::drive::Outcome;
use crate::engine::{DEFAULT_PROFILE, Engine, Opening, Target, check_frame};
use crate::error::EngineError;
use crate::following::Following;
use crate::message::NewMessage;
use crate::provider::LanguageModel;
use crate::record::to_json;
use crate::session::{Session, Settlement};

/// From here on a summary is made in the background: at four fifths of what is usable.
const BACKGROUND: Amount = Amount::Share(8_000);

/// A request that may be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Estimated tokens.
    pub tokens: i64,
    /// What is usable of the model's window, if that is known.
    pub usable: Option<i64>,
    /// Cuts for this request alone.
    pub once: Vec<(Seq, SessionCut)>,
    /// What happened on the way, since the session was refreshed.
    pub events: Vec<Event>,
}

/// A message as the model is to see it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'s> {
    /// Its number.
    pub seq: Seq,
    /// Its facts.
    pub entry: &'s SessionMessage,
    /// What is cut in it; undone cuts are among them.
    pub cuts: &'s [SessionCut],
    /// Its bytes, if a compaction made it and the client does not know it.
    pub made: Option<&'s [u8]>,
}

/// Makes a profile one for a session that follows a client.
///
/// It is the client who lets the work go on, and who repeats what he wants said again. Since he waits while a summary is
/// made, it is begun before it is needed. And what comes behind the summary is the client's: it may begin with a call of
/// the model's, which some providers take only behind something that the user said. So the summary is said by the user,
/// and nothing asks for it.
pub(crate) fn adapt(profile: &mut Profile) {
    let compaction = &mut profile.compaction;
    compaction.background = compaction.background.or(Some(BACKGROUND));
    compaction.resume_when = ResumeWhen::Never;
    compaction.replay = Replay::Never;
    compaction.marker_at = MarkerAt::End;
    profile.pivot.start = PivotStart::Summary;
}

impl Engine {
    /// A session that follows a history. It is stored once there is something to store.
    pub fn begin(&self, opening: Opening) -> Result<Session, EngineError> {
        let now = self.parts.clock.now();
        let row = SessionRow {
            id: opening.id.unwrap_or_else(|| Uuid::now_v7().to_string()),
            wire: opening.wire.name().to_owned(),
            profile: opening.profile.unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
            title: opening.title,
            envelope: check_frame(&opening.frame)?,
            state: "{}".to_owned(),
            live_from: 1,
            created: now,
            updated: now,
            ..SessionRow::default()
        };
        let following = Following { is_unborn: true, ..Following::default() };
        Session::of(self.clone(), row, Some(following))
    }

    /// Opens a session to follow a history with it.
    pub async fn follow(&self, id: &str) -> Result<Session, EngineError> {
        let mut session = Session::load(self.clone(), id, Some(Following::default())).await?;
        session.leave_foreign().await?;
        Ok(session)
    }
}

impl Session {
    /// Takes messages in without storing them yet; gives their numbers.
    pub async fn take(
        &mut self,
        messages: impl IntoIterator<Item = NewMessage>,
    ) -> Result<Vec<Seq>, EngineError> {
        let (time, measures) = (self.now(), self.profile.policy.measures());
        let mut room = self.opening_room();
        let mut rows: Vec<(NewMessageRow, SessionMessage)> = Vec::new();
        for message in messages {
            let (mut row, mut entry) = message.read(self.dialect, &measures, time)?;
            if entry.role == Role::Assistant {
                room = 0;
            } else if entry.is_from_user() && !entry.has_tool_parts() && row.body.len() <= room {
                room -= row.body.len();
                (row.pinned, entry.pinned) = (true, true);
                row.facts = to_json(&entry)?;
            }
            rows.push((row, entry));
        }
        let Some(following) = &mut self.following else { return self.append_read(rows, time).await };
        let first = self.row.head + following.pending.len() as u64 + 1;
        let mut entries = Vec::with_capacity(rows.len());
        for (seq, (row, entry)) in (first..).zip(rows) {
            following.pending.push(row);
            entries.push((seq, entry));
        }
        let seqs = entries.iter().map(|(seq, _)| *seq).collect();
        self.drive(Input::Appended { messages: entries }).await?;
        Ok(seqs)
    }

    /// How many bytes of what the user says next stay verbatim through every compaction: what is said before the model
    /// speaks for the first time is the task.
    fn opening_room(&self) -> usize {
        /// Instructions may be long, but what is longer is material.
        const MOST: usize = 40_000;
        let rows = self.machine.context().rows();
        if self.following.is_none() || rows.iter().any(|row| row.facts.role == Role::Assistant) {
            return 0;
        }
        let pinned = rows.iter().filter(|row| row.facts.pinned).map(|row| row.chars);
        MOST.saturating_sub(usize::try_from(pinned.sum::<u64>()).unwrap_or(MOST))
    }

    /// Learns how a request of so many characters ended, without storing that yet; gives what happened because of it.
    pub async fn learn(
        &mut self,
        settlement: Settlement,
        sent: Option<u64>,
    ) -> Result<Vec<Event>, EngineError> {
        self.report(settlement, sent).await?;
        Ok(std::mem::take(&mut self.told))
    }

    /// Stores what will not be taken back, and what was learned.
    pub async fn keep_settled(&mut self) -> Result<(), EngineError> {
        let kept = self.keep_state().await;
        self.let_go();
        kept
    }

    /// Messages that are not stored yet may be slices of a whole request. Copies them, so that they do not hold it.
    pub fn let_go(&mut self) {
        for row in self.following.iter_mut().flat_map(|following| &mut following.pending) {
            row.body = Bytes::copy_from_slice(&row.body);
        }
    }

    /// Says from which message on they may still be taken back; the others are confirmed.
    pub fn hold(&mut self, from: Seq) {
        if let Some(following) = &mut self.following {
            following.held_from = Some(from);
        }
    }

    /// Takes messages from this one on back. Says whether it could: what is stored stays.
    pub async fn take_back(&mut self, from: Seq) -> Result<bool, EngineError> {
        let head = self.row.head;
        let Some(following) = self.following.as_mut().filter(|_| from > head) else { return Ok(false) };
        let keep = usize::try_from(from - head - 1).unwrap_or(usize::MAX);
        following.pending.truncate(keep);
        self.drive(Input::Retracted { from }).await?;
        Ok(true)
    }

    /// Lets this model write summaries, if nobody is configured to.
    pub fn lend(&mut self, model: Option<Arc<dyn LanguageModel>>) {
        if let Some(following) = &mut self.following {
            following.lent = model;
        }
    }

    /// How often everything was loaded anew, or messages of others were taken in. Messages that were taken in before and not stored are gone then.
    pub fn reloads(&self) -> u64 {
        self.following.as_ref().map_or(0, |following| following.reloads)
    }

    /// Makes the request fit: prunes, compacts, or says that it cannot. Beside the messages so many characters are sent.
    ///
    /// If somebody else changed the session meanwhile, that is an error ([`EngineError::is_collision`]); the follower
    /// catches up and tries again.
    pub async fn fit(&mut self, target: &Target, frame: u64) -> Result<Fit, EngineError> {
        match self.ask(target, frame).await? {
            Outcome::Sent { tokens, usable, cuts } => {
                Ok(Fit { tokens, usable, once: cuts, events: std::mem::take(&mut self.told) })
            }
            Outcome::Rejected(no_room) => Err(EngineError::NoRoom(no_room)),
            Outcome::Done => Err(EngineError::Busy { session: self.row.id.clone() }),
        }
    }

    /// What happened on the way to a request that could not be made to fit.
    pub fn happened(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.told)
    }

    /// The living messages, in the order in which the model is to see them.
    pub fn shown_messages(&self) -> impl Iterator<Item = Shown<'_>> {
        self.machine.context().rows().iter().map(|row| Shown {
            seq: row.seq,
            entry: &row.facts,
            cuts: &row.cuts,
            made: self
                .bodies
                .get(&row.seq)
                .filter(|_| row.facts.kind != MessageKind::Plain)
                .map(Bytes::as_ref),
        })
    }

    /// The number of the newest message that is stored, as far as this session knows.
    pub fn head(&self) -> Seq {
        self.row.head
    }

    /// The number of the newest operation; it changes whenever something was cut or compacted.
    pub fn last_operation(&self) -> u64 {
        self.row.last_operation
    }

    /// Whether it is not stored yet.
    pub fn is_unborn(&self) -> bool {
        self.following.as_ref().is_some_and(|following| following.is_unborn)
    }
}
