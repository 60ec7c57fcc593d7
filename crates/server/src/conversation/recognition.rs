//! Recognises the conversation that a request continues, in one pass over its body.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;
use secateur_formats::Wire;

use super::branch::Branch;
use super::chain::{ChainId, ChainLink, Fingerprint};
use super::compaction_request::asks_for_summary;
use super::registry::BranchRegistry;
use super::spans::{self, Envelope, MessageVisitor, UnreadableBody};

/// A message of a request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedMessage {
    pub range: Range<usize>,
    pub id: ChainId,
    pub fingerprint: Fingerprint,
}

/// A request whose messages were found.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub wire: Wire,
    pub body: Bytes,
    pub envelope: Envelope,
    pub messages: Vec<ReceivedMessage>,
}

impl ReceivedRequest {
    /// The text of a message.
    pub(crate) fn text(&self, message: &ReceivedMessage) -> &str {
        // Messages were checked to be UTF-8 when they were read, or have the same bytes as one that was.
        let bytes = self.body.get(message.range.clone()).unwrap_or_default();
        simdutf8::basic::from_utf8(bytes).unwrap_or_default()
    }

    /// The same as a slice of the body, which keeps the body in memory.
    pub(crate) fn slice(&self, message: &ReceivedMessage) -> ByteString {
        ByteString::try_from(self.body.slice(message.range.clone())).unwrap_or_default()
    }

    /// The range of these messages, with what separates them; none if there are no messages.
    pub(crate) fn stretch(&self, run: Range<usize>) -> Option<Range<usize>> {
        let messages = self.messages.get(run.start..run.end.min(self.messages.len()))?;
        Some(messages.first()?.range.start..messages.last()?.range.end)
    }

    /// Whether the client asks for a summary of the conversation.
    pub(crate) fn asks_for_summary(&self) -> bool {
        self.messages.last().is_some_and(|message| asks_for_summary(self.text(message)))
    }

    /// How many first messages it shares with a chain.
    pub(crate) fn common(&self, chain: &[ChainLink]) -> usize {
        self.messages.iter().zip(chain).take_while(|(message, link)| message.id == link.id).count()
    }
}

/// Reads a request, and finds the branch in memory that shares most with it.
pub(crate) fn recognise(
    registry: &BranchRegistry,
    wire: Wire,
    body: &Bytes,
    key: Option<&str>,
) -> Result<(ReceivedRequest, Option<Arc<Branch>>), UnreadableBody> {
    let mut matcher = BranchMatcher {
        registry,
        wire,
        body,
        messages: Vec::new(),
        candidates: Vec::new(),
        recognised: None,
    };
    let envelope = spans::read(wire, body, &mut matcher)?;
    let key = key.or(envelope.key.as_deref());
    let best = matcher.best(key);
    let messages = matcher.messages;
    Ok((ReceivedRequest { wire, body: body.clone(), envelope, messages }, best))
}

struct BranchMatcher<'r> {
    registry: &'r BranchRegistry,
    wire: Wire,
    body: &'r [u8],
    messages: Vec<ReceivedMessage>,
    candidates: Vec<BranchCandidate>,
    /// Set after a message was recognised, until it is visited.
    recognised: Option<(ChainId, Fingerprint)>,
}

/// A branch that the request may continue.
struct BranchCandidate {
    branch: Arc<Branch>,
    chain: Arc<Vec<ChainLink>>,
    shared: usize,
}

impl BranchCandidate {
    /// The message of this branch at a place, if the request is the same up to there.
    fn link(&self, place: usize) -> Option<&ChainLink> {
        self.chain.get(place).filter(|_| self.shared == place)
    }
}

impl BranchMatcher<'_> {
    fn best(&self, key: Option<&str>) -> Option<Arc<Branch>> {
        let candidates = self.candidates.iter().filter(|candidate| candidate.shared > 0);
        let best = candidates.max_by_key(|candidate| {
            let BranchCandidate { branch, chain, shared } = candidate;
            // Continuing a branch at its end is better than leaving it on the way.
            (*shared, chain.len() == *shared, key.is_some() && branch.key() == key, branch.used())
        });
        best.map(|candidate| candidate.branch.clone())
    }
}

impl MessageVisitor for BranchMatcher<'_> {
    fn recognise(&mut self, start: usize) -> Option<usize> {
        let place = self.messages.len();
        let mut tried: Vec<(usize, Fingerprint)> = Vec::new();
        for candidate in &self.candidates {
            let Some(link) = candidate.link(place) else { continue };
            for known in link.fingerprints.into_iter().flatten() {
                let fingerprint = match tried.iter().find(|(len, _)| *len == known.len) {
                    Some((_, fingerprint)) => *fingerprint,
                    None => {
                        let Some(message) = self.body.get(start..start + known.len) else { continue };
                        let fingerprint = Fingerprint::of(message, self.registry.seed());
                        tried.push((known.len, fingerprint));
                        fingerprint
                    }
                };
                if fingerprint == known {
                    self.recognised = Some((link.id, known));
                    return Some(start + known.len);
                }
            }
        }
        None
    }

    fn visit(&mut self, range: Range<usize>) {
        let place = self.messages.len();
        let (id, fingerprint) = self.recognised.take().unwrap_or_else(|| {
            let message = self.body.get(range.clone()).unwrap_or_default();
            let fingerprint = Fingerprint::of(message, self.registry.seed());
            let message = simdutf8::basic::from_utf8(message).unwrap_or_default();
            match self.messages.last() {
                None => (self.registry.root(self.wire, message, fingerprint), fingerprint),
                Some(last) => (ChainId::after(last.id, message), fingerprint),
            }
        });
        if place == 0 {
            let family = self.registry.family(id).into_iter();
            let candidate =
                |branch: Arc<Branch>| BranchCandidate { chain: branch.chain(), branch, shared: 0 };
            self.candidates = family.map(candidate).collect();
        }
        for candidate in &mut self.candidates {
            if candidate.link(place).is_some_and(|link| link.id == id) {
                candidate.shared += 1;
            }
        }
        self.messages.push(ReceivedMessage { range, id, fingerprint });
    }
}
