//! What becomes of a request body: which of its messages stand where they stood, which are cut, and what takes the place
//! of those that a summary replaced.
//!
//! A layout is made when something was decided and holds until the next decision; messages that come later stand behind
//! it as they are. Applying it costs a few slices of the body, whatever lies between them.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use secateur::session::{Seq, SessionCut};
use secateur_engine::{EngineError, FollowedSession, cut_message, cut_parts};

use super::chain::{Link, Spelling};
use super::fidelity;
use super::recognition::Received;

/// What becomes of the messages of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// The decision that it is made of: the session's newest operation, and how often it was loaded.
    of: Option<(u64, u64)>,
    slots: Vec<Slot>,
    /// How many messages it speaks about.
    len: usize,
}

#[derive(Clone, Debug)]
enum Slot {
    /// These messages, as they are.
    Run(Range<usize>),
    /// This message, with cuts.
    Cut(usize, Vec<SessionCut>, Option<Shortened>),
    /// A message that the client does not know.
    Made(Bytes),
}

/// What cuts made of a message, for as long as it is spelled that way.
#[derive(Clone, Debug)]
struct Shortened {
    spelling: Spelling,
    range: Range<usize>,
    text: Bytes,
    /// Bytes that are another than they were although they lie outside of what was cut.
    altered: u64,
}

impl Shortened {
    /// What stays of a message that lies here, before and behind what is another one.
    fn kept(&self, message: &Range<usize>) -> [Range<usize>; 2] {
        let at = |place: usize| message.start + place;
        [message.start..at(self.range.start), at(self.range.end)..message.end]
    }
}

/// A body in pieces.
#[derive(Debug, Default)]
pub(crate) struct Composed {
    pub body: Vec<Bytes>,
    /// Cuts in it.
    pub cuts: u32,
    /// Messages that a summary stands for.
    pub replaced: u32,
    /// Bytes that are another than they were although nothing was cut or replaced there.
    pub altered: u64,
}

impl Composed {
    /// Bytes of the body.
    pub(crate) fn len(&self) -> u64 {
        self.body.iter().map(|piece| piece.len() as u64).sum()
    }
}

impl Layout {
    /// Brings it up to date with what the session decided.
    pub(crate) fn update(&mut self, session: &FollowedSession, chain: &[Link]) {
        let of = Some((session.last_operation(), session.reloads()));
        if self.of != of {
            *self = Self { of, ..Self::of(session, chain, &[]) };
        }
    }

    /// What a session has decided about the messages of a chain, with cuts for this request alone.
    pub(crate) fn of(session: &FollowedSession, chain: &[Link], once: &[(Seq, SessionCut)]) -> Self {
        let places: HashMap<Seq, usize> = chain
            .iter()
            .enumerate()
            .filter(|(_, link)| link.seq != 0)
            .map(|(at, link)| (link.seq, at))
            .collect();
        let mut slots: Vec<Slot> = Vec::new();
        for shown in session.shown_messages() {
            if let Some(made) = shown.made {
                slots.push(Slot::Made(Bytes::copy_from_slice(made)));
                continue;
            }
            let Some(&at) = places.get(&shown.seq) else { continue };
            let once = once.iter().filter(|(seq, _)| *seq == shown.seq).map(|(_, cut)| cut);
            let cuts: Vec<SessionCut> = shown.cuts.iter().chain(once).cloned().collect();
            if cuts.iter().any(|cut| !cut.undone) {
                slots.push(Slot::Cut(at, cuts, None));
                continue;
            }
            match slots.last_mut() {
                Some(Slot::Run(run)) if run.end == at => run.end += 1,
                _ => slots.push(Slot::Run(at..at + 1)),
            }
        }
        Self { of: None, slots, len: chain.len() }
    }

    /// How many messages it speaks about; those behind them stand as they are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A body as the model is to see it.
    pub(crate) fn apply(&mut self, received: &Received) -> Result<Composed, EngineError> {
        let mut writer = Writer::new(received);
        let (mut shown, mut altered) = (0, 0);
        // What nothing was decided about: that is where the original must be.
        let list = &received.frame.list;
        let head = 0..list.start + 1;
        let mut kept = vec![head];
        for slot in &mut self.slots {
            match slot {
                Slot::Run(run) => {
                    shown += run.len();
                    kept.extend(received.stretch(run.clone()));
                    writer.run(run.clone());
                }
                Slot::Made(text) => writer.insert(text.clone()),
                Slot::Cut(at, cuts, shortened) => {
                    shown += 1;
                    let Some(element) = received.elements.get(*at) else { continue };
                    if shortened.as_ref().is_none_or(|known| known.spelling != element.spelling) {
                        *shortened = Some(shorten(received, *at, cuts)?);
                    }
                    if let Some(shortened) = shortened {
                        altered += shortened.altered;
                        kept.extend(shortened.kept(&element.range));
                        writer.cut(*at, shortened);
                        writer.cuts += cuts.iter().filter(|cut| !cut.undone).count() as u32;
                    }
                }
            }
        }
        let behind = self.len..received.elements.len();
        kept.extend(received.stretch(behind.clone()));
        kept.push(list.end - 1..received.body.len());
        writer.run(behind);
        let replaced = self.len.saturating_sub(shown) as u32;
        let cuts = writer.cuts;
        let body = writer.finish();
        altered += fidelity::in_body(&received.body, &kept, &body);
        Ok(Composed { body, cuts, replaced, altered })
    }
}

/// Cuts a message; gives the stretch of it that is another one then.
fn shorten(received: &Received, at: usize, cuts: &[SessionCut]) -> Result<Shortened, EngineError> {
    let Some(element) = received.elements.get(at) else {
        return Err(EngineError::NotFound { session: String::new(), what: format!("message {at}") });
    };
    let whole = received.text(element);
    let cut = cut_message(received.wire, whole, cuts)?;
    let (old, new) = (whole.as_bytes(), cut.as_bytes());
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old.iter().skip(same).rev().zip(new.iter().skip(same).rev());
    let tail = rest.take_while(|(old, new)| old == new).count();
    let text = new.get(same..new.len() - tail).unwrap_or_default();
    let range = same..old.len() - tail;
    let altered = fidelity::in_message(whole, &cut, &cut_parts(received.wire, whole, cuts)?);
    Ok(Shortened { spelling: element.spelling, range, text: Bytes::copy_from_slice(text), altered })
}

/// Puts a body together out of slices of the original.
struct Writer<'r> {
    received: &'r Received,
    pieces: Vec<Piece>,
    /// How far the original is written, if what was written last is a part of it, and which message comes next there.
    place: Option<(usize, usize)>,
    is_first: bool,
    cuts: u32,
}

enum Piece {
    Same(Range<usize>),
    New(Bytes),
}

impl<'r> Writer<'r> {
    fn new(received: &'r Received) -> Self {
        let start = received.frame.list.start + 1;
        Self {
            received,
            pieces: vec![Piece::Same(0..start)],
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
            Some(Piece::Same(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(Piece::Same(range)),
        }
    }

    /// Goes to where a message of the original begins, and gives its range.
    fn go_to(&mut self, at: usize) -> Option<Range<usize>> {
        let range = self.received.elements.get(at)?.range.clone();
        match self.place {
            Some((written, next)) if next == at => self.same(written..range.start),
            _ => self.separate(),
        }
        self.is_first = false;
        Some(range)
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.pieces.push(Piece::New(Bytes::from_static(b",")));
        }
        self.is_first = false;
    }

    fn run(&mut self, run: Range<usize>) {
        let end = run.end.min(self.received.elements.len());
        if run.start >= end {
            return;
        }
        let (Some(first), Some(last)) = (self.go_to(run.start), self.received.elements.get(end - 1)) else {
            return;
        };
        self.same(first.start..last.range.end);
        self.place = Some((last.range.end, end));
    }

    fn cut(&mut self, at: usize, shortened: &Shortened) {
        let Some(range) = self.go_to(at) else { return };
        self.same(range.start..range.start + shortened.range.start);
        self.pieces.push(Piece::New(shortened.text.clone()));
        self.same(range.start + shortened.range.end..range.end);
        self.place = Some((range.end, at + 1));
    }

    fn insert(&mut self, text: Bytes) {
        self.separate();
        self.pieces.push(Piece::New(text));
        self.place = None;
    }

    /// The body in pieces.
    fn finish(mut self) -> Vec<Bytes> {
        let (len, list) = (self.received.body.len(), &self.received.frame.list);
        match self.place {
            Some((written, next)) if next == self.received.elements.len() => self.same(written..len),
            _ => self.same(list.end - 1..len),
        }
        let body = &self.received.body;
        let bytes = |piece| match piece {
            Piece::Same(range) => body.slice(range),
            Piece::New(text) => text,
        };
        self.pieces.into_iter().map(bytes).filter(|piece| !piece.is_empty()).collect()
    }
}
