//! How a request body is composed: which messages stay, which are cut, and what replaces those in a summary.
//!
//! A layout is made after a decision and holds until the next one. Later messages follow it unchanged. Applying it costs a
//! few slices of the body, however long the body is.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use secateur::session::{CutBy, Seq, SessionCut};
use secateur_engine::{EngineError, FollowedSession, cut_message, cut_parts};
use secateur_formats::json::Edit;

use super::chain::{ChainLink, Fingerprint};
use super::fidelity;
use super::recognition::{ReceivedMessage, ReceivedRequest};

/// How the messages of a request are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyLayout {
    /// The decision that it was made from: the session's newest operation, and its number of reloads.
    version: Option<(u64, u64)>,
    slots: Vec<LayoutSlot>,
    /// How many messages it covers.
    len: usize,
}

#[derive(Clone, Debug)]
enum LayoutSlot {
    /// These messages, unchanged.
    Run(Range<usize>),
    /// This message, with cuts.
    Cut(usize, Vec<SessionCut>, Option<Shortened>),
    /// A message that a compaction made.
    Made(Bytes),
}

/// A cut message, valid while its original has the same bytes.
#[derive(Clone, Debug)]
struct Shortened {
    fingerprint: Fingerprint,
    range: Range<usize>,
    text: Bytes,
    /// Bytes changed outside of cut parts.
    altered: u64,
}

impl Shortened {
    /// What stays of the message at this range: before and after the changed bytes.
    fn kept(&self, message: &Range<usize>) -> [Range<usize>; 2] {
        let at = |place: usize| message.start + place;
        [message.start..at(self.range.start), at(self.range.end)..message.end]
    }
}

/// A body in pieces.
#[derive(Debug, Default)]
pub(crate) struct ComposedBody {
    pub pieces: Vec<Bytes>,
    /// Cuts in it.
    pub cuts: u32,
    /// Messages that a summary replaces.
    pub replaced: u32,
    /// Bytes changed outside of cut ranges.
    pub altered: u64,
}

impl ComposedBody {
    /// Whether it has cuts or a summary.
    pub(crate) fn is_changed(&self) -> bool {
        self.cuts + self.replaced > 0
    }

    /// Makes edits outside of the messages, which are sent as slices of this body.
    pub(crate) fn edit(&mut self, body: &Bytes, edits: &[Edit]) {
        let start = body.as_ptr() as usize;
        for edit in edits {
            let place = |piece: &Bytes| {
                let at = (piece.as_ptr() as usize).checked_sub(start)?;
                (at <= edit.range.start && edit.range.end <= at + piece.len()).then_some(at)
            };
            let found = self.pieces.iter().enumerate().find_map(|(ix, piece)| Some((ix, place(piece)?)));
            let Some((ix, at)) = found else { continue };
            let whole = self.pieces.remove(ix);
            let (before, after) = (edit.range.start - at, edit.range.end - at);
            let parts = [whole.slice(..before), Bytes::from(edit.text.clone()), whole.slice(after..)];
            self.pieces.splice(ix..ix, parts.into_iter().filter(|piece| !piece.is_empty()));
        }
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }
}

impl BodyLayout {
    /// Brings it up to date with the decisions of the session.
    pub(crate) fn update(&mut self, session: &FollowedSession, chain: &[ChainLink]) {
        let version = Some((session.last_operation(), session.reloads()));
        if self.version != version {
            *self = Self { version, ..Self::of(session, chain, &[]) };
        }
    }

    /// The layout for the decisions of a session about the messages of a chain, and cuts for this request alone.
    pub(crate) fn of(session: &FollowedSession, chain: &[ChainLink], once: &[(Seq, SessionCut)]) -> Self {
        let places: HashMap<Seq, usize> = chain
            .iter()
            .enumerate()
            .filter(|(_, link)| link.seq != 0)
            .map(|(at, link)| (link.seq, at))
            .collect();
        let mut slots: Vec<LayoutSlot> = Vec::new();
        for shown in session.shown_messages() {
            if let Some(made) = shown.made {
                slots.push(LayoutSlot::Made(Bytes::copy_from_slice(made)));
                continue;
            }
            let Some(&at) = places.get(&shown.seq) else { continue };
            let once = once.iter().filter(|(seq, _)| *seq == shown.seq).map(|(_, cut)| cut);
            let cuts: Vec<SessionCut> = shown.cuts.iter().chain(once).cloned().collect();
            if cuts.iter().any(|cut| !cut.undone && cut.by == CutBy::Secateur) {
                slots.push(LayoutSlot::Cut(at, cuts, None));
                continue;
            }
            match slots.last_mut() {
                Some(LayoutSlot::Run(run)) if run.end == at => run.end += 1,
                _ => slots.push(LayoutSlot::Run(at..at + 1)),
            }
        }
        Self { version: None, slots, len: chain.len() }
    }

    /// Composes the body that is sent.
    pub(crate) fn apply(&mut self, received: &ReceivedRequest) -> Result<ComposedBody, EngineError> {
        let mut writer = BodyWriter::new(received);
        let (mut shown, mut altered) = (0, 0);
        // The ranges in which the original must be sent.
        let list = &received.envelope.list;
        let head = 0..list.start + 1;
        let mut kept = vec![head];
        for slot in &mut self.slots {
            match slot {
                LayoutSlot::Run(run) => {
                    shown += run.len();
                    kept.extend(received.stretch(run.clone()));
                    writer.run(run.clone());
                }
                LayoutSlot::Made(text) => writer.insert(text.clone()),
                LayoutSlot::Cut(at, cuts, shortened) => {
                    shown += 1;
                    let Some(message) = received.messages.get(*at) else { continue };
                    if shortened.as_ref().is_none_or(|known| known.fingerprint != message.fingerprint) {
                        *shortened = Some(shorten(received, message, cuts)?);
                    }
                    if let Some(shortened) = shortened {
                        altered += shortened.altered;
                        kept.extend(shortened.kept(&message.range));
                        writer.cut(*at, shortened);
                        let own = cuts.iter().filter(|cut| !cut.undone && cut.by == CutBy::Secateur);
                        writer.cuts += own.count() as u32;
                    }
                }
            }
        }
        let later = self.len..received.messages.len();
        kept.extend(received.stretch(later.clone()));
        kept.push(list.end - 1..received.body.len());
        writer.run(later);
        let replaced = self.len.saturating_sub(shown) as u32;
        let cuts = writer.cuts;
        let pieces = writer.finish();
        altered += fidelity::in_body(&received.body, &kept, &pieces);
        Ok(ComposedBody { pieces, cuts, replaced, altered })
    }
}

/// Cuts a message. Returns the range of it that changes, and its new bytes.
fn shorten(
    received: &ReceivedRequest,
    message: &ReceivedMessage,
    cuts: &[SessionCut],
) -> Result<Shortened, EngineError> {
    let whole = received.text(message);
    let cut = cut_message(received.wire, whole, cuts)?;
    let (old, new) = (whole.as_bytes(), cut.as_bytes());
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old.iter().skip(same).rev().zip(new.iter().skip(same).rev());
    let tail = rest.take_while(|(old, new)| old == new).count();
    let text = new.get(same..new.len() - tail).unwrap_or_default();
    let range = same..old.len() - tail;
    let altered = fidelity::in_message(whole, &cut, &cut_parts(received.wire, whole, cuts)?);
    Ok(Shortened { fingerprint: message.fingerprint, range, text: Bytes::copy_from_slice(text), altered })
}

/// Composes a body from slices of the original.
struct BodyWriter<'r> {
    received: &'r ReceivedRequest,
    pieces: Vec<BodyPiece>,
    /// How far the original is written, and which message comes next there. None after a message that is not in it.
    place: Option<(usize, usize)>,
    is_first: bool,
    cuts: u32,
}

enum BodyPiece {
    Same(Range<usize>),
    New(Bytes),
}

impl<'r> BodyWriter<'r> {
    fn new(received: &'r ReceivedRequest) -> Self {
        let start = received.envelope.list.start + 1;
        Self {
            received,
            pieces: vec![BodyPiece::Same(0..start)],
            place: Some((start, 0)),
            is_first: true,
            cuts: 0,
        }
    }

    fn same(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(BodyPiece::Same(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(BodyPiece::Same(range)),
        }
    }

    /// Moves to the beginning of a message of the original, and returns its range.
    fn go_to(&mut self, at: usize) -> Option<Range<usize>> {
        let range = self.received.messages.get(at)?.range.clone();
        match self.place {
            Some((written, next)) if next == at => self.same(written..range.start),
            _ => self.separate(),
        }
        self.is_first = false;
        Some(range)
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.pieces.push(BodyPiece::New(Bytes::from_static(b",")));
        }
        self.is_first = false;
    }

    fn run(&mut self, run: Range<usize>) {
        let end = run.end.min(self.received.messages.len());
        if run.start >= end {
            return;
        }
        let (Some(first), Some(last)) = (self.go_to(run.start), self.received.messages.get(end - 1)) else {
            return;
        };
        self.same(first.start..last.range.end);
        self.place = Some((last.range.end, end));
    }

    fn cut(&mut self, at: usize, shortened: &Shortened) {
        let Some(range) = self.go_to(at) else { return };
        self.same(range.start..range.start + shortened.range.start);
        self.pieces.push(BodyPiece::New(shortened.text.clone()));
        self.same(range.start + shortened.range.end..range.end);
        self.place = Some((range.end, at + 1));
    }

    fn insert(&mut self, text: Bytes) {
        self.separate();
        self.pieces.push(BodyPiece::New(text));
        self.place = None;
    }

    /// The body in pieces.
    fn finish(mut self) -> Vec<Bytes> {
        let (len, list) = (self.received.body.len(), &self.received.envelope.list);
        match self.place {
            Some((written, next)) if next == self.received.messages.len() => self.same(written..len),
            _ => self.same(list.end - 1..len),
        }
        let body = &self.received.body;
        let bytes = |piece| match piece {
            BodyPiece::Same(range) => body.slice(range),
            BodyPiece::New(text) => text,
        };
        self.pieces.into_iter().map(bytes).filter(|piece| !piece.is_empty()).collect()
    }
}
