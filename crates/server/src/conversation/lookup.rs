//! What the store knows of a chain.

use std::collections::HashMap;

use secateur::session::{Nature, Seq};
use secateur_engine::{Engine, EngineError, Session};
use secateur_store::Found;

use super::chain::{Id, Link};

/// How many of the first messages of a chain are stored in a session. If one is, all before it are.
///
/// Others may store more while we look. What the session has not heard of does not count: it would be taken for a
/// message that is no longer alive, and left out of the request.
pub(crate) async fn stored(engine: &Engine, session: &Session, chain: &[Id]) -> Result<usize, EngineError> {
    if session.is_unborn() {
        return Ok(0);
    }
    let is_known = |found: &Found| found.session == session.id() && found.seq <= session.head();
    let found = find(engine, chain, is_known).await?;
    Ok(found.map_or(0, |(place, _)| place + 1))
}

/// The last message of a chain that is stored in a session of the wanted kind, and where. Of several sessions the
/// youngest, whoever looks: it was begun for what is said now. Ids of sessions begin with their time.
pub(crate) async fn find(
    engine: &Engine,
    chain: &[Id],
    is_wanted: impl Fn(&Found) -> bool,
) -> Result<Option<(usize, Found)>, EngineError> {
    /// How many messages are looked for at once. The newest ones are nearly always enough.
    const PAGE: usize = 64;
    let mut end = chain.len();
    while end > 0 {
        let start = end.saturating_sub(PAGE);
        let page = chain.get(start..end).unwrap_or_default();
        let ids: Vec<String> = page.iter().map(Id::to_string).collect();
        let found = engine.store().find(&ids).await?;
        let places = found.into_iter().filter(&is_wanted).filter_map(|found| {
            let place = ids.iter().position(|id| *id == found.id)?;
            Some((start + place, found))
        });
        let best = places.max_by(|one, other| (one.0, &one.1.session).cmp(&(other.0, &other.1.session)));
        if let Some(best) = best {
            return Ok(Some(best));
        }
        end = start;
    }
    Ok(None)
}

/// Gives the messages of a chain the numbers that they have in a session, where they are alive, and adds what the session
/// says beyond them: whoever says something else there leaves it.
pub(crate) fn number(chain: &mut Vec<Link>, session: &Session) {
    let rows = session.machine().window().rows().iter().filter(|row| row.entry.nature == Nature::Plain);
    let mut seqs: HashMap<Id, Seq> =
        rows.filter_map(|row| Some((Id::parse(&row.entry.id)?, row.seq))).collect();
    for link in chain.iter_mut() {
        link.seq = seqs.remove(&link.id).unwrap_or(0);
    }
    let last = chain.iter().map(|link| link.seq).max().unwrap_or(0);
    let mut beyond: Vec<(Id, Seq)> = seqs.into_iter().filter(|(_, seq)| *seq > last).collect();
    beyond.sort_unstable_by_key(|(_, seq)| *seq);
    chain.extend(beyond.into_iter().map(|(id, seq)| Link { id, seq, spellings: [None, None] }));
}
