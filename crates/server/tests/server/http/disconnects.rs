//! Clients and providers that leave, each in its own way.

use socket2::SockRef;

use super::harness::Harness;
use secateur_testing::connection::{Connection, within};

const ASK: &str =
    "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
const HEAD: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

async fn begin(harness: &Harness, ask: &str) -> (Connection, Connection) {
    let mut client = harness.client().await;
    client.send(ask).await;
    let mut provider = harness.provider().await;
    provider.message().await;
    (client, provider)
}

#[tokio::test]
async fn a_client_that_closes_its_half_with_the_request_gets_its_answer() {
    let harness = Harness::start_with(|settings| settings.grace = std::time::Duration::from_secs(5)).await;
    for path in ["/v1/messages", "/v1/files"] {
        let mut client = harness.client().await;
        // The end is sent together with the request, in one packet.
        SockRef::from(&client.socket).set_tcp_cork(true).unwrap();
        client.send(ASK.replace("/v1/messages", path)).await;
        client.close_half().await;
        let mut provider = harness.provider().await;
        provider.message().await;
        provider.send(HEAD).await;
        client.head().await;
        provider.chunk("one").await;
        assert_eq!(client.next_chunk().await, b"one");
        provider.chunk("two").await;
        assert_eq!(client.next_chunk().await, b"two");
        provider.send("0\r\n\r\n").await;
        assert_eq!(client.rest().await, b"0\r\n\r\n");
    }
}

#[tokio::test]
async fn a_client_that_closes_its_half_soon_after_gets_its_answer_too() {
    let harness = Harness::start_with(|settings| settings.grace = std::time::Duration::from_secs(3600)).await;
    let (mut client, mut provider) = begin(&harness, ASK).await;
    client.close_half().await;
    provider.send(HEAD).await;
    client.head().await;
    provider.send("0\r\n\r\n").await;
    assert_eq!(client.rest().await, b"0\r\n\r\n");
}

#[tokio::test]
async fn a_client_that_goes_before_the_answer_cancels_its_request() {
    let harness = Harness::start().await;
    for path in ["/v1/messages", "/v1/files"] {
        let (client, mut provider) = begin(&harness, &ASK.replace("/v1/messages", path)).await;
        drop(client);
        assert_eq!(provider.rest().await, b"");
        let (client, mut provider) = begin(&harness, &ASK.replace("/v1/messages", path)).await;
        client.reset();
        assert_eq!(provider.rest().await, b"");
    }
}

#[tokio::test]
async fn a_client_that_goes_in_the_middle_of_the_answer_cancels_it() {
    let harness = Harness::start().await;
    for path in ["/v1/messages", "/v1/files"] {
        let (mut client, mut provider) = begin(&harness, &ASK.replace("/v1/messages", path)).await;
        provider.send(HEAD).await;
        provider.chunk("one").await;
        client.head().await;
        client.next_chunk().await;
        drop(client);
        assert_eq!(provider.rest().await, b"");
        harness.until(|counters| counters.open == 0).await;
    }
}

#[tokio::test]
async fn a_client_that_goes_in_the_middle_of_its_request_cancels_it() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client.send("POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf").await;
    let mut provider = harness.provider().await;
    provider.head().await;
    assert_eq!(provider.exactly(4).await, b"half");
    drop(client);
    assert_eq!(provider.rest().await, b"");
}

#[tokio::test]
async fn requests_in_a_row_are_answered_in_a_row() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client.send(ASK.repeat(2)).await;
    let mut provider = harness.provider().await;
    for answer in ["1", "2"] {
        provider.message().await;
        provider.send(format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{answer}")).await;
        assert_eq!(client.message().await.text(), answer);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_does_not_look_whole() {
    let harness = Harness::start().await;
    for path in ["/v1/messages", "/v1/files"] {
        for is_reset in [true, false] {
            let (mut client, mut provider) = begin(&harness, &ASK.replace("/v1/messages", path)).await;
            provider.send(HEAD).await;
            provider.chunk("one").await;
            client.head().await;
            assert_eq!(client.next_chunk().await, b"one");
            if is_reset {
                provider.reset();
            } else {
                drop(provider);
            }
            assert_eq!(client.rest().await, b"", "there is no last chunk");
        }
    }
}

#[tokio::test]
async fn a_connection_that_the_provider_has_closed_is_not_used_again() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    for _ in 0..3 {
        client.send(ASK).await;
        let mut provider = harness.provider().await;
        provider.message().await;
        provider.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        assert_eq!(client.message().await.text(), "ok");
        drop(provider);
    }
}

#[tokio::test]
async fn a_stopping_proxy_finishes_what_has_begun() {
    let mut harness = Harness::start().await;
    let (mut client, mut provider) = begin(&harness, ASK).await;
    provider.send(HEAD).await;
    client.head().await;
    let mut idle = harness.client().await;
    harness.stop();
    assert_eq!(idle.rest().await, b"");
    provider.chunk("late").await;
    assert_eq!(client.next_chunk().await, b"late");
    provider.send("0\r\n\r\n").await;
    assert_eq!(client.rest().await, b"0\r\n\r\n");
    harness.stopped().await;
}

#[tokio::test]
async fn a_stopping_proxy_does_not_wait_for_ever() {
    let mut harness =
        Harness::start_with(|settings| settings.drain = std::time::Duration::from_millis(10)).await;
    let (mut client, mut provider) = begin(&harness, ASK).await;
    provider.send(HEAD).await;
    client.head().await;
    harness.stop();
    harness.stopped().await;
    assert_eq!(client.rest().await, b"");
    within(provider.rest()).await;
}
