//! What the proxy does not cut reaches the provider as it was, and what the provider says reaches the client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secateur::Catalogue;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::setup::{Proxy, engine};
use secateur_testing::connection::{Connection, HttpMessage};

/// A request as a client sends it.
#[derive(Debug)]
struct Sample {
    name: String,
    path: String,
    /// With their line ends.
    headers: String,
    body: String,
}

/// Headers that belong to a connection, to its length included.
const HOP: [&str; 7] =
    ["host", "connection", "keep-alive", "te", "transfer-encoding", "upgrade", "content-length"];

const ANSWER: &str = "{ \"odd\" : 1.50, \"usage\":{} ,\"content\": [ ] }\n";

/// What is compared of a head: the values of each header in the order in which they came.
fn headers(head: &str) -> BTreeMap<String, Vec<String>> {
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in head.lines().skip(1).filter_map(|line| line.split_once(':')) {
        let name = name.to_lowercase();
        if !HOP.contains(&name.as_str()) && !name.starts_with("x-secateur-") {
            headers.entry(name).or_default().push(value.trim().to_owned());
        }
    }
    headers
}

/// Sends samples through one proxy, one after the other over one connection, and compares both sides. Says how many were
/// left as they were.
async fn compare(samples: &[Sample]) -> usize {
    let provider = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = format!("http://{}/prefix", provider.local_addr().unwrap());
    let proxy = Proxy::start(&upstream, engine("sqlite::memory:").await, Catalogue::builtin(), |_| {}).await;
    let mut client = Connection::new(tokio::net::TcpStream::connect(proxy.address).await.unwrap());
    let mut upstream: Option<Connection> = None;
    let mut untouched = 0;
    for sample in samples {
        let Sample { name, path, headers: sent, body } = sample;
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{sent}content-length: {}\r\n", body.len());
        client.send(format!("{head}\r\n{body}")).await;
        let line = match &mut upstream {
            Some(line) => line,
            none => none.insert(Connection::new(provider.accept().await.unwrap().0)),
        };
        let arrived = line.message().await;
        let answer = format!(
            "HTTP/1.1 200 Fine\r\ncontent-type: application/json\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\n\
             request-id: r\r\nX-Odd:\r\ncontent-length: {}\r\n",
            ANSWER.len()
        );
        line.send(format!("{answer}\r\n{ANSWER}")).await;
        let got: HttpMessage = client.message().await;
        assert_eq!(headers(&got.head), headers(&answer), "{name}");
        assert!(got.head.starts_with("HTTP/1.1 200 Fine\r\n"), "{name}: {}", got.head);
        assert_eq!(got.text(), ANSWER, "{name}");
        assert_eq!(got.header("content-length"), Some(ANSWER.len().to_string().as_str()));

        assert!(arrived.head.starts_with(&format!("POST /prefix{path} HTTP/1.1\r\n")), "{name}");
        assert_eq!(headers(&arrived.head), headers(&head), "{name}");
        let is_cut = !matches!(got.header("x-secateur-outcome"), Some("unchanged" | "passed-through"));
        if is_cut {
            println!("{name}: {}", got.head);
            continue;
        }
        assert_eq!(got.header("x-secateur-cuts"), Some("0"), "{name}");
        assert!(arrived.text() == body, "{name}: the body is another one");
        assert_eq!(arrived.header("content-length"), Some(body.len().to_string().as_str()), "{name}");
        untouched += 1;
    }
    untouched
}

fn sample(path: &str, headers: &str, body: &str) -> Sample {
    let (path, headers, body) = (path.to_owned(), headers.to_owned(), body.to_owned());
    Sample { name: body.clone(), path, headers, body }
}

#[tokio::test]
async fn odd_requests_pass_as_they_are() {
    const JSON: &str = "Content-Type: application/json; charset=utf-8\r\n";
    const TWICE: &str =
        "X-Twice: 1\r\ncontent-type: application/json\r\nx-other: a, b\r\nx-twice: 2\r\nX-TWICE:\r\n";
    let paths = [
        "/v1/messages?beta=true&x=%20+%C3%A9",
        "/v1/chat/completions",
        "/v1/responses?",
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=%41b",
        "/v1/messages/count_tokens",
    ];
    let lists = ["messages", "messages", "input", "contents", "messages"];
    let mut samples = Vec::new();
    for (path, list) in paths.into_iter().zip(lists) {
        for body in [
            // Spaces of all kinds, and a line end behind.
            " {\n\t\"model\" : \"m\" ,\r\n  \"LIST\" : [ {\"role\" : \"user\" , \"content\":\"hi\"} ,\n ] }\n",
            " {\n\t\"model\" : \"m\" ,\r\n  \"LIST\" : [ {\"role\" : \"user\" , \"content\":\"hi\"}\n ] }\n\n",
            // Unknown fields, numbers and escapes in unusual spellings.
            r#"{"x":1.50,"y":-0.0,"z":1E+2,"LIST":[{"role":"user","content":"\u00e9\ud83d\ude00\/é😀","k":null}],"model":"m"}"#,
            r#"{"a\u0062":{"LIST":[1]},"LIST":[{"parts":[{"text":"\u0000\\"}],"role":"user","role":"user"}]}"#,
            // Names twice, and nothing where something should be.
            r#"{"model":"a","model":"b","LIST":[{"role":"user","content":[]}]}"#,
            r#"{"LIST":[{"role":"user","content":"a"}],"LIST":[{"role":"user","content":"b"}]}"#,
            r#"{"LIST":[]}"#,
            r#"{"LIST":"hi"}"#,
            r#"{"LIST":null}"#,
            "{}",
            "null",
            "",
            "\u{feff}{\"LIST\":[]}",
            // No JSON at all, and a surrogate without its other half.
            r#"{"LIST":[{"role":"user""#,
            r#"{"LIST":[{"role":"user","content":"\ud83d"}]}"#,
            "model=m&LIST=hi",
        ] {
            let body = body.replace("LIST", list);
            samples.extend([JSON, TWICE].map(|headers| sample(path, headers, &body)));
        }
    }
    // As deep as anything may be.
    let deep =
        format!(r#"{{"messages":[{{"role":"user","content":{}{}}}]}}"#, "[".repeat(999), "]".repeat(999));
    samples.push(sample("/v1/messages", JSON, &deep));
    assert_eq!(compare(&samples).await, samples.len());
}

/// Requests that real clients sent, if a folder of them is at hand.
#[tokio::test]
async fn recorded_requests_pass_as_they_are() {
    let Ok(folder) = std::env::var("SECATEUR_CAPTURES") else { return };
    let mut count = 0;
    for client in entries(Path::new(&folder)).into_iter().filter(|path| path.is_dir()) {
        let samples: Vec<Sample> = entries(&client).iter().map(|file| recorded(file)).collect();
        count += compare(&samples).await;
    }
    println!("{count} requests passed as they are");
    assert!(count > 0);
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn recorded(file: &Path) -> Sample {
    let recorded: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let pairs: Vec<(String, String)> = match &recorded["headers"] {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        list => list.as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect(),
    };
    let of_message = pairs.into_iter().filter(|(name, _)| !HOP.contains(&name.to_lowercase().as_str()));
    let headers = of_message.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    Sample {
        name: file.display().to_string(),
        path: text(&recorded["path"]),
        headers,
        body: text(&recorded["body"]),
    }
}
