//! What the proxy cuts on the way can be fetched back by what it wrote in its place.

use crate::setup::{Setup, engine};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::text;

/// What placeholders say: how many characters there were, and the handle.
fn cut(body: &str) -> Vec<(usize, String)> {
    let named = body.split(" characters; recall ").collect::<Vec<_>>();
    let pairs = named.windows(2).map(|pair| {
        let size = pair[0].rsplit(' ').next().unwrap().parse().unwrap();
        (size, pair[1].split(' ').next().unwrap().to_owned())
    });
    pairs.collect()
}

#[tokio::test]
async fn every_handle_that_a_provider_sees_brings_the_original_back() {
    for wire in Wire::ALL {
        let engine = engine("sqlite::memory:").await;
        let setup = Setup::with_engine(12_000, engine.clone()).await;
        Agent::new(wire, "SCENARIO:long steps=24 bytes=6000").work(setup.address()).await;
        let mut seen: Vec<_> = setup.relay.take().iter().flat_map(|request| cut(&text(request))).collect();
        seen.sort();
        seen.dedup();
        assert!(seen.len() > 3, "{wire:?}: {seen:?}");
        for (size, handle) in seen {
            let recalled = engine.recall(&handle, None).await.unwrap();
            assert_eq!(recalled.text.encode_utf16().count(), size, "{wire:?}: {handle}");
        }
    }
}
