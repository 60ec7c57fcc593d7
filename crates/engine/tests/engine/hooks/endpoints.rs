//! Endpoints, good ones and bad ones.

use secateur_engine::hooks::{HookConfig, HookMoment, HookOutcome, HookResponse};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{ask, call, failure, settings};

/// What a server does after it has read the request.
enum Answer {
    /// Writes this and closes.
    Says(String),
    /// Writes this and keeps the connection open.
    Hangs(&'static str),
    /// Writes this, and then the same again and again.
    GoesOn(&'static str),
}

/// Serves one request and returns it.
async fn serve(answer: Answer) -> (HookConfig, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        match answer {
            Answer::Says(text) => stream.write_all(text.as_bytes()).await.unwrap(),
            Answer::Hangs(text) => {
                _ = stream.write_all(text.as_bytes()).await;
                // Until the client disconnects.
                _ = stream.read(&mut [0]).await;
            }
            Answer::GoesOn(text) => {
                stream.write_all(text.as_bytes()).await.unwrap();
                while stream.write_all(b"1000\r\n").await.is_ok() {
                    if stream.write_all(&[b' '; 0x1000]).await.and(stream.write_all(b"\r\n").await).is_err() {
                        break;
                    }
                }
            }
        }
        request
    });
    (HookConfig { url: Some(url), ..settings("endpoint") }, served)
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let count = stream.read_buf(&mut bytes).await.unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes);
        if count == 0 {
            // The client has disconnected.
            return text.into_owned();
        }
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let mut lines = head.lines().map(str::to_ascii_lowercase);
        let length = lines.find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned)).unwrap();
        if body.len() == length.parse::<usize>().unwrap() {
            return text.into_owned();
        }
    }
}

fn ok(body: &str) -> Answer {
    Answer::Says(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

async fn complaint(answer: Answer) -> String {
    let (config, _served) = serve(answer).await;
    failure(&ask(config, call(HookMoment::SessionCompacting)).await).to_owned()
}

#[tokio::test]
async fn the_call_is_posted_and_the_reply_is_read() {
    for moment in HookMoment::ALL {
        let (config, served) = serve(ok(r#"{"veto": "not now"}"#)).await;
        let verdict = ask(config, call(moment)).await;
        let expected = (moment != HookMoment::AfterCompaction).then_some("not now");
        assert_eq!(verdict.response.veto.as_deref(), expected, "{moment}");
        let request = served.await.unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
        let head = head.to_ascii_lowercase();
        assert!(head.contains("content-type: application/json") && !head.contains("authorization"), "{head}");
        assert_eq!(body, serde_json::to_string(&call(moment)).unwrap());
    }
}

#[tokio::test]
async fn the_token_is_sent_and_never_shown() {
    let (config, served) = serve(Answer::Says("HTTP/1.1 401 Unauthorized\r\n\r\n".to_owned())).await;
    // Cargo sets this variable for every test.
    let token = std::env::var("CARGO_PKG_NAME").unwrap();
    let config = HookConfig { token_env: Some("CARGO_PKG_NAME".to_owned()), ..config };
    let verdict = ask(config, call(HookMoment::BeforePrune)).await;
    assert!(served.await.unwrap().contains(&format!("authorization: Bearer {token}\r\n")));
    assert!(!failure(&verdict).contains(&token));
}

#[tokio::test]
async fn no_content_means_nothing_to_say() {
    for answer in [Answer::Says("HTTP/1.1 204 No Content\r\n\r\n".to_owned()), ok(""), ok("\n"), ok("{}")] {
        let (config, _served) = serve(answer).await;
        let verdict = ask(config, call(HookMoment::BeforePrune)).await;
        assert_eq!(verdict.asked[0].outcome, HookOutcome::Silent, "{verdict:?}");
    }
}

#[tokio::test]
async fn another_status_is_a_failure_whatever_it_says() {
    let body = r#"{"veto": "x"}"#;
    for status in [100, 301, 302, 307, 400, 404, 500, 503] {
        let text = format!(
            "HTTP/1.1 {status} X\r\nLocation: /other\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let said = complaint(Answer::Says(text)).await;
        // Status 100 is not a final response, and none follows.
        let expected = if status == 100 {
            "the endpoint ".to_owned()
        } else {
            format!("responded with status {status};")
        };
        assert!(said.contains(&expected), "{said}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (other, other_served) = serve(ok(r#"{"veto": "x"}"#)).await;
    let location = other.url.unwrap();
    let redirect = format!("HTTP/1.1 307 X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
    assert!(complaint(Answer::Says(redirect)).await.contains("status 307"));
    assert!(!other_served.is_finished());
    other_served.abort();
}

#[tokio::test]
async fn nonsense_is_skipped() {
    for body in ["hello", "[]", "null", r#"{"veto": 1}"#, r#"{"context": {}}"#, "{", "<html></html>"] {
        let said = complaint(ok(body)).await;
        assert!(said.starts_with("invalid response"), "{body}: {said}");
    }
    let said = complaint(Answer::Says("not HTTP at all\r\n\r\n".to_owned())).await;
    assert_eq!(said, "the endpoint cannot be reached: the exchange failed");
}

#[tokio::test]
async fn a_slow_endpoint_is_given_up() {
    for start in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"veto\""] {
        let (config, _served) = serve(Answer::Hangs(start)).await;
        let verdict = ask(HookConfig { timeout_ms: 80, ..config }, call(HookMoment::BeforePrune)).await;
        assert_eq!(failure(&verdict), "no response within 80 ms", "{start}");
    }
}

#[tokio::test]
async fn an_endless_answer_is_given_up() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(complaint(Answer::GoesOn(chunked)).await, "the response is longer than 65536 bytes");
    let long = format!("{{\"veto\": \"{}\"}}", "x".repeat(65_536));
    assert_eq!(complaint(ok(&long)).await, "the response is longer than 65536 bytes");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_skipped() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"veto\": \"x\"}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n{\"veto\": \"x\"}\r\n",
    ] {
        let said = complaint(Answer::Says(text.to_owned())).await;
        assert_eq!(said, "the endpoint cannot be reached: the response broke off");
    }
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_skipped() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let secret = format!("http://{}/path-with-a-secret", listener.local_addr().unwrap());
    drop(listener);
    let verdict = ask(HookConfig { url: Some(secret), ..settings("x") }, call(HookMoment::BeforePrune)).await;
    assert_eq!(failure(&verdict), "the endpoint cannot be reached: no connection");
}

#[tokio::test]
async fn a_program_and_an_endpoint_are_asked_alike() {
    let (config, _served) = serve(ok(r#"{"context": ["from afar"], "tools": ["bash"]}"#)).await;
    let near = super::shell(r#"echo '{"context": ["from here"]}'"#);
    let hooks = super::list([near.build().unwrap(), config.build().unwrap()]);
    let verdict = hooks.ask(call(HookMoment::BeforeCompaction)).await;
    let context = ["from here", "from afar"].map(str::to_owned).to_vec();
    assert_eq!(verdict.response, HookResponse { context, ..HookResponse::default() });
}
