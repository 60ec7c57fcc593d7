//! Clients that want to get in, or to get past.

use secateur::Catalogue;
use secateur_engine::Engine;
use secateur_server::{AccessToken, BindError, Server, Settings, TenantToken};

use super::harness::Harness;

const WORD: &str = "a-token-of-some-length";

/// What the proxy says to these bytes: the status of its first answer.
async fn status(harness: &Harness, bytes: &str) -> u16 {
    let mut client = harness.client().await;
    client.send(bytes).await;
    client.head().await.status()
}

#[tokio::test]
async fn requests_that_could_be_read_in_two_ways_are_refused() {
    let harness = Harness::start().await;
    let smuggled = "GET /v1/smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    for request in [
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 60\r\n\r\n{}",
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: +2\r\n\r\n{}",
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 0x2\r\n\r\n{}",
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length : 2\r\n\r\n{}",
        "GET /v1/models HTTP/1.1\nhost: x\n\n",
        "GET /v1/models HTTP/1.1\r\nhost: x\nx-a: b\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nhost: x\r\nx-a: b\r\n  folded: c\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nhost: x\r\nx-a: b\0c\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nhost: x\r\nx a: b\r\n\r\n",
    ] {
        let mut client = harness.client().await;
        client.send(format!("{request}{smuggled}")).await;
        assert_eq!(client.head().await.status(), 400, "{request:?}");
        // The connection ends there, so nothing behind it is read as a request.
        client.rest().await;
    }
    let counters = harness.counters();
    assert_eq!((counters.bytes_in, counters.failures), (0, 0), "nothing went to the provider");
}

#[tokio::test]
async fn whatever_came_before_the_next_request_is_looked_at_as_closely() {
    let harness = Harness::start().await;
    for before in [
        "POST /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;a=b\r\n\n\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: x\r\nContent-Length:                    5\r\n\r\n\n\n\n\n\n",
    ] {
        for request in [
            "GET /v1/models HTTP/1.1\nhost: x\r\n\r\n",
            "POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            let mut client = harness.client().await;
            client.send(before).await;
            assert!([200, 405].contains(&client.message().await.status()), "{before:?}");
            client.send(request).await;
            assert_eq!(client.message().await.status(), 400, "{before:?} {request:?}");
            client.rest().await;
        }
        // Proper ones go on as long as they like.
        let mut client = harness.client().await;
        for _ in 0..3 {
            client.send(before).await;
            assert!([200, 405].contains(&client.message().await.status()), "{before:?}");
        }
    }
    assert_eq!(harness.counters().bytes_in, 0, "nothing went to the provider");
}

#[tokio::test]
async fn transfer_codings_that_are_not_known_are_not_implemented() {
    let harness = Harness::start().await;
    for path in ["/v1/messages", "/v1/files", "/healthz"] {
        let mut client = harness.client().await;
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n");
        client.send(format!("{head}2\r\n{{}}\r\n0\r\n\r\n")).await;
        assert_eq!(client.head().await.status(), 501, "{path}");
        client.rest().await;
    }
    assert_eq!(harness.counters().bytes_in, 0, "nothing went to the provider");
}

#[tokio::test]
async fn malformed_chunks_are_a_bad_request() {
    let harness = Harness::start().await;
    for path in ["/v1/messages", "/v1/files"] {
        for chunks in [
            "2\r\n{}\r\nZ\r\n",
            "2\r\n{}X\r\n0\r\n\r\n",
            "-1\r\n",
            "2\r\n{}\r\n1;\nx\r\n",
            "fffffffffffffffff\r\n",
        ] {
            let mut client = harness.client().await;
            let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
            client.send(format!("{head}{chunks}")).await;
            assert_eq!(client.head().await.status(), 400, "{path} {chunks:?}");
            client.rest().await;
        }
    }
}

#[tokio::test]
async fn browsers_say_which_requests_come_from_other_pages() {
    let harness = Harness::start().await;
    let ask = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    for path in ["/healthz", "/readyz", "/metrics", "/api/sessions", "/api/openapi.json"] {
        for site in ["cross-site", "same-site", "something new"] {
            // An image, or a script: such requests have no Origin.
            let headers =
                format!("sec-fetch-site: {site}\r\nsec-fetch-mode: no-cors\r\nsec-fetch-dest: image\r\n");
            assert_eq!(status(&harness, &ask(path, &headers)).await, 403, "{path} {site}");
        }
        let frame = "sec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: iframe\r\n";
        assert_eq!(status(&harness, &ask(path, frame)).await, 403, "{path}");
        let link = "sec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n";
        for headers in ["sec-fetch-site: same-origin\r\n", "sec-fetch-site: none\r\n", link, ""] {
            let mut client = harness.client().await;
            client.send(ask(path, headers)).await;
            let answer = client.message().await;
            assert_eq!(answer.status(), 200, "{path} {headers}");
            assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        }
    }
}

#[tokio::test]
async fn a_length_beside_a_transfer_coding_is_not_passed_on() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client.send("GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let mut provider = harness.provider().await;
    provider.head().await;
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n";
    provider.send(format!("{head}5\r\nwhole\r\n0\r\n\r\n")).await;
    let answer = client.message().await;
    assert_eq!((answer.header("content-length"), answer.text()), (None, "whole"));
}

#[tokio::test]
async fn a_page_that_makes_its_name_point_here_is_refused() {
    let harness = Harness::start().await;
    for path in ["/v1/models", "/healthz", "/metrics", "/api/sessions"] {
        let asked = format!("GET {path} HTTP/1.1\r\nhost: evil.example:7878\r\n\r\n");
        assert_eq!(status(&harness, &asked).await, 403, "{path}");
    }
    let asked = "GET /v1/models HTTP/1.1\r\nhost: x\r\nhost: evil.example\r\n\r\n";
    assert!([400, 403].contains(&status(&harness, asked).await));
    let asked = "GET /metrics HTTP/1.1\r\nhost: x\r\norigin: https://evil.example\r\n\r\n";
    assert_eq!(status(&harness, asked).await, 403);
}

#[tokio::test]
async fn without_the_token_nothing_is_answered() {
    let harness = Harness::start_with(|settings| {
        settings.tokens = vec![TenantToken::of_owner(AccessToken::new(WORD).unwrap())];
    })
    .await;
    let ask = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: anything\r\n{headers}\r\n");
    for path in
        ["/v1/models", "/v1/messages", "/healthz", "/readyz", "/metrics", "/api/sessions", "/", "//api"]
    {
        assert_eq!(status(&harness, &ask(path, "")).await, 401, "{path}");
        let wrong = "x-secateur-token: a-token-of-some-lengtH\r\nauthorization: Bearer sk\r\n";
        assert_eq!(status(&harness, &ask(path, wrong)).await, 401, "{path}");
        let wrong = format!("/token:{}{path}", WORD.get(1..).unwrap());
        assert_eq!(status(&harness, &ask(&wrong, "")).await, 401, "{path}");
    }
    assert_eq!(harness.counters().bytes_in, 0);
    for (path, headers) in [
        ("/healthz".to_owned(), format!("authorization: Bearer {WORD}\r\n")),
        ("/metrics".to_owned(), format!("x-secateur-token: {WORD}\r\n")),
        (format!("/token:{WORD}/readyz"), String::new()),
    ] {
        assert_eq!(status(&harness, &ask(&path, &headers)).await, 200, "{path}");
    }
}

#[tokio::test]
async fn the_token_is_not_passed_on() {
    let harness = Harness::start_with(|settings| {
        settings.tokens = vec![TenantToken::of_owner(AccessToken::new(WORD).unwrap())];
    })
    .await;
    let headers = format!("x-secateur-token: {WORD}\r\nauthorization: Bearer sk-provider\r\n");
    for (path, headers) in [
        ("/v1/models".to_owned(), headers),
        (format!("/token:{WORD}/v1/models"), "authorization: Bearer sk-provider\r\n".to_owned()),
        (format!("/run:r/token:{WORD}/v1/models"), "authorization: Bearer sk-provider\r\n".to_owned()),
    ] {
        let mut client = harness.client().await;
        client.send(format!("GET {path} HTTP/1.1\r\nhost: h\r\n{headers}\r\n")).await;
        let request = harness.provider().await.head().await;
        let wanted = format!(
            "GET /v1/models HTTP/1.1\r\nHost: {}\r\nauthorization: Bearer sk-provider\r\n",
            harness.host()
        );
        assert!(request.head.eq_ignore_ascii_case(&wanted), "{}", request.head);
    }
}

#[tokio::test]
async fn other_machines_get_in_only_with_a_token() {
    for everywhere in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let mut settings = Settings { listen: everywhere.parse().unwrap(), ..Settings::default() };
        let engine = async || Engine::new(secateur_store::open("sqlite::memory:").await.unwrap());
        let refused = Server::bind(settings.clone(), engine().await, Catalogue::builtin()).await.err();
        assert!(matches!(refused, Some(BindError::Exposed { .. })), "{everywhere}: {refused:?}");
        assert!(refused.unwrap().to_string().contains("--token-file"));
        settings.tokens = vec![TenantToken::of_owner(AccessToken::new(WORD).unwrap())];
        // Whether the machine has such an address is another matter.
        let refused = Server::bind(settings, engine().await, Catalogue::builtin()).await.err();
        assert!(matches!(refused, None | Some(BindError::Listen { .. })), "{everywhere}: {refused:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_nothing_but_brackets_is_refused() {
    let harness = Harness::start_with(|settings| settings.headers = true).await;
    let (open, close) = ("[".repeat(500_000), "]".repeat(500_000));
    for (path, body) in [
        ("/v1/messages", format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{open}{close}}}]}}")),
        ("/v1/chat/completions", format!("{{\"tools\":{open}{close},\"messages\":[]}}")),
        ("/v1/responses", format!("{{\"input\":[{{\"a\":{open}")),
    ] {
        let mut client = harness.client().await;
        let length = body.len();
        client
            .send(format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}"))
            .await;
        let answer = client.message().await;
        assert_eq!((answer.status(), answer.header("x-secateur-outcome")), (400, Some("refused")), "{path}");
        assert!(answer.text().contains("1000 levels"), "{}", answer.text());
        assert!(!answer.text().contains("[["), "what was sent is not said again");
    }
    let metrics = harness.metrics().await;
    assert!(metrics.contains("secateur_denied_total{reason=\"too-deep\"} 3"), "{metrics}");
    assert_eq!(harness.counters().bytes_in, 0, "nothing went to the provider");
}

#[tokio::test]
async fn paths_that_only_look_like_ours_are_the_providers() {
    let harness = Harness::start().await;
    for path in [
        "//api/sessions",
        "/%61pi/sessions",
        "/v1/../api/sessions",
        "/API/sessions",
        "/api;/sessions",
        "/apis",
    ] {
        let mut client = harness.client().await;
        client.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
        let mut provider = harness.provider().await;
        assert!(provider.head().await.head.starts_with(&format!("GET {path} HTTP/1.1\r\n")), "{path}");
        provider.send("HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno").await;
        assert_eq!(client.message().await.text(), "no");
    }
}
