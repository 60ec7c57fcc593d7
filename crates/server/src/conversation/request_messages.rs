//! The messages of a request by their numbers in the session.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use secateur::session::Seq;
use secateur_engine::RequestBodies;

use super::chain::ChainLink;
use super::recognition::ReceivedRequest;

/// The messages of a request that a branch has taken in.
pub(crate) struct RequestMessages {
    received: Arc<ReceivedRequest>,
    chain: Arc<Vec<ChainLink>>,
    /// Where in the request each message is. Most decisions never ask.
    places: OnceLock<HashMap<Seq, usize>>,
}

impl RequestMessages {
    pub(crate) fn new(received: Arc<ReceivedRequest>, chain: Arc<Vec<ChainLink>>) -> Self {
        Self { received, chain, places: OnceLock::new() }
    }

    fn find_places(&self) -> HashMap<Seq, usize> {
        let shared = self.received.common(&self.chain);
        let links = self.chain.iter().take(shared).enumerate();
        links.filter(|(_, link)| link.seq != 0).map(|(place, link)| (link.seq, place)).collect()
    }
}

impl RequestBodies for RequestMessages {
    fn body(&self, seq: Seq) -> Option<Bytes> {
        let place = self.places.get_or_init(|| self.find_places()).get(&seq)?;
        let message = self.received.messages.get(*place)?;
        Some(self.received.body.slice(message.range.clone()))
    }
}
