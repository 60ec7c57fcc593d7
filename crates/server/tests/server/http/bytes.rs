//! What goes in comes out, byte by byte.

use super::harness::Harness;

const PATHS: [&str; 4] = [
    "/v1/messages?beta=true",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1beta/models/gemini-3%2Fpro:streamGenerateContent?alt=sse&key=%41b+c",
];

const HEADERS: &str = "X-API-Key: sk-secret\r\naccept-encoding: gzip, br\r\nX-Twice: 1\r\nX-Twice: 2\r\nOther: a, b\r\n\
                       User-Agent: agent/1.0 (weird;  spaces)\r\nContent-Type: application/json\r\nX-Empty:\r\n";

#[tokio::test]
async fn requests_and_answers_of_all_wires_pass_unchanged() {
    let harness = Harness::start().await;
    for path in PATHS {
        let mut client = harness.client().await;
        let body = r#"{ "model" : "m", "messages": [], "n": 1.50, "é": "\u00e9" }"#;
        let length = body.len();
        let asked = format!("POST {path} HTTP/1.1\r\nHost: proxy\r\n{HEADERS}Content-Length: {length}\r\n");
        client.send(format!("{asked}\r\n{body}")).await;

        let mut provider = harness.provider().await;
        let request = provider.message().await;
        assert_eq!(request.head, asked.replace("Host: proxy", &format!("Host: {}", harness.host())));
        assert_eq!(request.text(), body);

        let head = "HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: application/json\r\n\
                    Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nRequest-Id: req_1\r\nContent-Length: 15\r\n";
        provider.send(format!("{head}\r\n{{ \"x\" : 1.50 }}\n")).await;
        let answer = client.message().await;
        assert_eq!(answer.head, head);
        assert_eq!(answer.text(), "{ \"x\" : 1.50 }\n");
    }
}

#[tokio::test]
async fn what_is_no_conversation_passes_unread() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client.send("GET /v1/models?limit=%32 HTTP/1.1\r\nHost: proxy\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nA: b\r\n\r\n").await;
    let mut provider = harness.provider().await;
    let host = harness.host();
    let request = provider.message().await;
    assert_eq!(request.head, format!("GET /v1/models?limit=%32 HTTP/1.1\r\nHost: {host}\r\nA: b\r\n"));
    provider.send("HTTP/1.1 404 Nothing Here\r\nX: y\r\ncontent-length: 0\r\n\r\n").await;
    let answer = client.rest().await;
    let expected = "HTTP/1.1 404 Nothing Here\r\nX: y\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(String::from_utf8(answer).unwrap(), expected);
}
