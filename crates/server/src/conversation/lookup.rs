//! What the store knows of a chain.

use std::collections::HashMap;
use std::ops::Range;

use secateur::session::{MessageKind, Seq};
use secateur_engine::{Engine, EngineError, FollowedSession};
use secateur_store::{FoundMessage, MOST_FOUND};

use super::chain::{Id, Link};

/// How many messages are looked for at once. The newest ones are nearly always enough.
const PAGE: usize = 64;

/// How many of the first messages of a chain are stored in a session. If one is, all before it are.
pub(crate) async fn stored(session: &FollowedSession, chain: &[Id]) -> Result<usize, EngineError> {
    if !session.is_stored() {
        return Ok(0);
    }
    let found = find_in(session, chain).await?;
    Ok(found.map_or(0, |(place, _)| place + 1))
}

/// The last message of a chain that is stored in this session, and its number there.
///
/// Others may store more while we look. What the session has not heard of does not count: it would be taken for a
/// message that is no longer alive, and left out of the request.
pub(crate) async fn find_in(
    session: &FollowedSession,
    chain: &[Id],
) -> Result<Option<(usize, Seq)>, EngineError> {
    let mut end = chain.len();
    while end > 0 {
        let start = end.saturating_sub(PAGE);
        let ids = spelled(chain, start..end);
        let found = session.find_stored(&ids).await?;
        if let Some((place, found)) = last(&ids, found) {
            return Ok(Some((start + place, found.seq)));
        }
        end = start;
    }
    Ok(None)
}

/// The last message of a chain that is stored in any session, and where. Of several sessions the youngest, whoever
/// looks: it was begun for what is said now. Ids of sessions begin with their time.
pub(crate) async fn find(
    engine: &Engine,
    chain: &[Id],
) -> Result<Option<(usize, FoundMessage)>, EngineError> {
    let (mut end, mut page) = (chain.len(), PAGE);
    while end > 0 {
        let start = end.saturating_sub(page);
        let ids = spelled(chain, start..end);
        let found = engine.find_messages(&ids).await?;
        if found.len() >= MOST_FOUND && ids.len() > 1 {
            // So many say the earlier ones of these that those who say the last one may be missing.
            page = ids.len() / 2;
            continue;
        }
        if let Some((place, found)) = last(&ids, found) {
            return Ok(Some((start + place, found)));
        }
        end = start;
    }
    Ok(None)
}

fn spelled(chain: &[Id], range: Range<usize>) -> Vec<String> {
    chain.get(range).unwrap_or_default().iter().map(Id::to_string).collect()
}

/// The last of these messages that was found, in the youngest session.
fn last(ids: &[String], found: Vec<FoundMessage>) -> Option<(usize, FoundMessage)> {
    let places = found.into_iter().filter_map(|found| {
        let place = ids.iter().position(|id| *id == found.id)?;
        Some((place, found))
    });
    places.max_by(|one, other| (one.0, &one.1.session).cmp(&(other.0, &other.1.session)))
}

/// Gives the messages of a chain the numbers that they have in a session, where they are alive, and adds what the session
/// says beyond them, alive or not: whoever says something else there, or less, leaves it.
pub(crate) async fn number(chain: &mut Vec<Link>, session: &FollowedSession) -> Result<(), EngineError> {
    let rows = session.shown_messages().filter(|row| row.facts.kind == MessageKind::Plain);
    let mut seqs: HashMap<Id, Seq> =
        rows.filter_map(|row| Some((Id::parse(&row.facts.id)?, row.seq))).collect();
    for link in chain.iter_mut() {
        link.seq = seqs.remove(&link.id).unwrap_or(0);
    }
    let last = match chain.last() {
        Some(link) if link.seq == 0 => find_in(session, &[link.id]).await?.map(|(_, seq)| seq),
        last => last.map(|link| link.seq),
    };
    let last = last.or(chain.iter().map(|link| link.seq).max()).unwrap_or(0);
    let mut beyond: Vec<(Seq, Link)> = seqs
        .into_iter()
        .filter(|(_, seq)| *seq > last)
        .map(|(id, seq)| (seq, Link { id, seq, spellings: [None, None] }))
        .collect();
    let link = |id: &str| Some(Link { id: Id::parse(id)?, seq: 0, spellings: [None, None] });
    let replaced = session.replaced_after(last).await?;
    beyond.extend(replaced.iter().filter_map(|(seq, id)| Some((*seq, link(id)?))));
    beyond.sort_unstable_by_key(|(seq, _)| *seq);
    chain.extend(beyond.into_iter().map(|(_, link)| link));
    Ok(())
}
