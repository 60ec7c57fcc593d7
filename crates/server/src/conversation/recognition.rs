//! Which conversation a request goes on, found in one pass over its body.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;
use secateur_formats::Wire;

use super::branch::Branch;
use super::chain::{Id, Link, Spelling};
use super::compaction_request::asks_for_summary;
use super::registry::Registry;
use super::spans::{self, Eye, Frame, Opaque};

/// A message of a request.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub range: Range<usize>,
    pub id: Id,
    pub spelling: Spelling,
}

/// A request that was understood.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub wire: Wire,
    pub body: Bytes,
    pub frame: Frame,
    pub elements: Vec<Element>,
}

impl Received {
    /// The text of a message.
    pub(crate) fn text(&self, element: &Element) -> &str {
        // Elements were found to be UTF-8 when they were read, or are spelled as one that was.
        let bytes = self.body.get(element.range.clone()).unwrap_or_default();
        simdutf8::basic::from_utf8(bytes).unwrap_or_default()
    }

    /// The same, as a slice of the body that may outlive it.
    pub(crate) fn slice(&self, element: &Element) -> ByteString {
        ByteString::try_from(self.body.slice(element.range.clone())).unwrap_or_default()
    }

    /// Where these messages lie, with what stands between them; none without any.
    pub(crate) fn stretch(&self, run: Range<usize>) -> Option<Range<usize>> {
        let elements = self.elements.get(run.start..run.end.min(self.elements.len()))?;
        Some(elements.first()?.range.start..elements.last()?.range.end)
    }

    /// Whether the client asks for a summary of the conversation, to go on with that instead of it.
    pub(crate) fn is_compaction(&self) -> bool {
        let Some(last) = self.elements.last().map(|element| self.text(element)) else { return false };
        asks_for_summary(last)
    }

    /// How many of its first messages are those of a chain.
    pub(crate) fn common(&self, chain: &[Link]) -> usize {
        self.elements.iter().zip(chain).take_while(|(element, link)| element.id == link.id).count()
    }
}

/// Reads a request and finds the branch that shares most with it, and how much that is.
pub(crate) fn recognise(
    registry: &Registry,
    wire: Wire,
    body: &Bytes,
    key: Option<&str>,
) -> Result<(Received, Option<Arc<Branch>>), Opaque> {
    let mut matcher =
        Matcher { registry, wire, body, elements: Vec::new(), candidates: Vec::new(), recognised: None };
    let frame = spans::read(wire, body, &mut matcher)?;
    let key = key.or(frame.key.as_deref());
    let best = matcher.best(key);
    let elements = matcher.elements;
    Ok((Received { wire, body: body.clone(), frame, elements }, best))
}

struct Matcher<'r> {
    registry: &'r Registry,
    wire: Wire,
    body: &'r [u8],
    elements: Vec<Element>,
    candidates: Vec<Candidate>,
    /// Set between a message's being recognised and its being seen.
    recognised: Option<(Id, Spelling)>,
}

/// A branch that may be the one.
struct Candidate {
    branch: Arc<Branch>,
    chain: Arc<Vec<Link>>,
    shared: usize,
}

impl Candidate {
    /// What this branch says at a place, if it agrees with the request up to there.
    fn link(&self, place: usize) -> Option<&Link> {
        self.chain.get(place).filter(|_| self.shared == place)
    }
}

impl Matcher<'_> {
    fn best(&self, key: Option<&str>) -> Option<Arc<Branch>> {
        let candidates = self.candidates.iter().filter(|candidate| candidate.shared > 0);
        let best = candidates.max_by_key(|candidate| {
            let Candidate { branch, chain, shared } = candidate;
            // Going on where a branch ends is better than leaving it on the way.
            (*shared, chain.len() == *shared, key.is_some() && branch.key() == key, branch.used())
        });
        best.map(|candidate| candidate.branch.clone())
    }
}

impl Eye for Matcher<'_> {
    fn recognise(&mut self, start: usize) -> Option<usize> {
        let place = self.elements.len();
        let mut tried: Vec<(usize, Spelling)> = Vec::new();
        for candidate in &self.candidates {
            let Some(link) = candidate.link(place) else { continue };
            for known in link.spellings.into_iter().flatten() {
                let spelling = match tried.iter().find(|(len, _)| *len == known.len) {
                    Some((_, spelling)) => *spelling,
                    None => {
                        let Some(message) = self.body.get(start..start + known.len) else { continue };
                        let spelling = Spelling::of(message, self.registry.seed());
                        tried.push((known.len, spelling));
                        spelling
                    }
                };
                if spelling == known {
                    self.recognised = Some((link.id, known));
                    return Some(start + known.len);
                }
            }
        }
        None
    }

    fn see(&mut self, range: Range<usize>) {
        let place = self.elements.len();
        let (id, spelling) = self.recognised.take().unwrap_or_else(|| {
            let message = self.body.get(range.clone()).unwrap_or_default();
            let spelling = Spelling::of(message, self.registry.seed());
            let message = simdutf8::basic::from_utf8(message).unwrap_or_default();
            match self.elements.last() {
                None => (self.registry.root(self.wire, message, spelling), spelling),
                Some(last) => (Id::after(Some(last.id), self.wire, message), spelling),
            }
        });
        if place == 0 {
            let family = self.registry.family(id).into_iter();
            let candidate = |branch: Arc<Branch>| Candidate { chain: branch.chain(), branch, shared: 0 };
            self.candidates = family.map(candidate).collect();
        }
        for candidate in &mut self.candidates {
            if candidate.link(place).is_some_and(|link| link.id == id) {
                candidate.shared += 1;
            }
        }
        self.elements.push(Element { range, id, spelling });
    }
}
