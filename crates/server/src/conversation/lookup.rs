//! Finds the messages of a chain in the store.

use std::collections::HashMap;
use std::ops::Range;

use secateur::session::{MessageKind, Seq};
use secateur_engine::{Engine, EngineError, FollowedSession};
use secateur_store::{FoundMessage, MOST_FOUND};

use super::chain::{ChainId, ChainLink};

/// How many messages are searched for at once. The newest ones are nearly always enough.
const BATCH: usize = 64;

/// How many of the first messages of a chain are stored in a session. If one is stored, all before it are.
pub(crate) async fn stored(session: &FollowedSession, chain: &[ChainId]) -> Result<usize, EngineError> {
    if !session.is_stored() {
        return Ok(0);
    }
    let found = find_in(session, chain).await?;
    Ok(found.map_or(0, |(place, _)| place + 1))
}

/// The last message of a chain that is stored in this session, and its number there.
///
/// Other processes may store more meanwhile. Messages that this session has not loaded do not count: they would look like
/// messages that a summary replaced, and be left out of the request.
pub(crate) async fn find_in(
    session: &FollowedSession,
    chain: &[ChainId],
) -> Result<Option<(usize, Seq)>, EngineError> {
    let found = SearchPlace::Session(session).find_last(chain).await?;
    Ok(found.map(|(place, found)| (place, found.seq)))
}

/// The last message of a chain that is stored in any session, and where. Of several sessions the newest, in every
/// process: it was begun for the current messages. Session ids begin with their time.
pub(crate) async fn find(
    engine: &Engine,
    chain: &[ChainId],
) -> Result<Option<(usize, FoundMessage)>, EngineError> {
    SearchPlace::Everywhere(engine).find_last(chain).await
}

/// Where messages are searched for.
enum SearchPlace<'s> {
    Session(&'s FollowedSession),
    Everywhere(&'s Engine),
}

impl SearchPlace<'_> {
    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, EngineError> {
        match self {
            Self::Session(session) => session.find_stored(ids).await,
            Self::Everywhere(engine) => engine.find_messages(ids).await,
        }
    }

    /// The last message of a chain that is stored here. A session that has a message has all before it, so the place is
    /// found by halving: a chain that is new takes two lookups, however long it is.
    async fn find_last(&self, chain: &[ChainId]) -> Result<Option<(usize, FoundMessage)>, EngineError> {
        let mut batch = BATCH;
        let newest = loop {
            let start = chain.len().saturating_sub(batch);
            let ids = printed(chain, start..chain.len());
            let found = self.find(&ids).await?;
            if found.len() >= MOST_FOUND && ids.len() > 1 {
                // No search returns more sessions, so those with the last message may be missing.
                batch = ids.len() / 2;
                continue;
            }
            if let Some((place, found)) = last(&ids, found) {
                return Ok(Some((start + place, found)));
            }
            break start;
        };
        // The messages before `low` are stored, the one at `high` is not. The first one is looked at first.
        let (mut low, mut high, mut found) = (0, newest, None);
        while low < high {
            let place = if low == 0 { 0 } else { low.midpoint(high) };
            let ids = printed(chain, place..place + 1);
            match last(&ids, self.find(&ids).await?) {
                Some((_, message)) => (low, found) = (place + 1, Some((place, message))),
                None => high = place,
            }
        }
        Ok(found)
    }
}

fn printed(chain: &[ChainId], range: Range<usize>) -> Vec<String> {
    chain.get(range).unwrap_or_default().iter().map(ChainId::to_string).collect()
}

/// The last of these messages that was found, in the newest session.
fn last(ids: &[String], found: Vec<FoundMessage>) -> Option<(usize, FoundMessage)> {
    let places = found.into_iter().filter_map(|found| {
        let place = ids.iter().position(|id| *id == found.id)?;
        Some((place, found))
    });
    places.max_by(|one, other| (one.0, &one.1.session).cmp(&(other.0, &other.1.session)))
}

/// Sets the numbers that the messages of a chain have in a session, where they are still sent, and adds the later messages
/// of the session, whether they are sent or not: a request with other messages there, or fewer, leaves the branch.
pub(crate) async fn number(chain: &mut Vec<ChainLink>, session: &FollowedSession) -> Result<(), EngineError> {
    let rows = session.shown_messages().filter(|row| row.facts.kind == MessageKind::Plain);
    let mut seqs: HashMap<ChainId, Seq> =
        rows.filter_map(|row| Some((ChainId::parse(&row.facts.id)?, row.seq))).collect();
    for link in chain.iter_mut() {
        link.seq = seqs.remove(&link.id).unwrap_or(0);
    }
    let last = match chain.last() {
        Some(link) if link.seq == 0 => find_in(session, &[link.id]).await?.map(|(_, seq)| seq),
        last => last.map(|link| link.seq),
    };
    let last = last.or(chain.iter().map(|link| link.seq).max()).unwrap_or(0);
    let mut later: Vec<(Seq, ChainLink)> = seqs
        .into_iter()
        .filter(|(_, seq)| *seq > last)
        .map(|(id, seq)| (seq, ChainLink { id, seq, fingerprints: [None, None] }))
        .collect();
    let link = |id: &str| Some(ChainLink { id: ChainId::parse(id)?, seq: 0, fingerprints: [None, None] });
    let replaced = session.replaced_after(last).await?;
    later.extend(replaced.iter().filter_map(|(seq, id)| Some((*seq, link(id)?))));
    later.sort_unstable_by_key(|(seq, _)| *seq);
    chain.extend(later.into_iter().map(|(_, link)| link));
    Ok(())
}
