//! Summaries by a model: a server on this machine that says one sentence.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::{TestFolder, secateur_with};

const SUMMARY: &str = "## Done\\nThe ferns were watered.";

/// A server that answers so many questions; gives its address and, at the end, what it was asked.
fn serve(
    count: usize,
    status: &'static str,
    answer: &'static str,
) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let work = std::thread::spawn(move || {
        let mut asked = String::new();
        for _ in 0..count {
            let (mut stream, _) = listener.accept().unwrap();
            asked.push_str(&read(&mut stream));
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
            stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
        }
        asked
    });
    (url, work)
}

/// Reads a request to the end of its body.
fn read(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 16]);
    loop {
        let count = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_ascii_lowercase();
        let length =
            lower.split_once("content-length: ").map_or("0", |(_, rest)| rest.lines().next().unwrap());
        if body.len() >= length.parse().unwrap() {
            return text;
        }
    }
}

#[test]
fn a_model_writes_the_summary_and_hears_the_focus() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let answer: String = [
        format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{SUMMARY}"}},"finish_reason":null}}]}}"#),
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#.to_owned(),
        "[DONE]".to_owned(),
    ]
    .iter()
    .map(|event| format!("data: {event}\n\n"))
    .collect();
    let (url, server) = serve(1, "200 OK", answer.leak());
    let arguments = [
        "compact",
        &file,
        "--focus",
        "the ferns",
        "--summary",
        "--summariser-url",
        &url,
        "--summariser-model",
        "fern-1",
    ];
    let variables = [("SECATEUR_SUMMARISER_KEY_ENV", "FERN_KEY"), ("FERN_KEY", "sesame")];
    let run = secateur_with(&arguments, &variables);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("The ferns were watered."), "{}", run.out);
    assert!(run.err.contains("asked a model for a summary of "), "{}", run.err);
    assert!(run.err.contains(" into a summary: "), "{}", run.err);
    assert!(!run.err.contains("sesame") && !run.out.contains("sesame"));
    let asked = server.join().unwrap();
    assert!(
        asked.contains("the ferns") && asked.contains("Bearer sesame"),
        "{}",
        &asked[..600.min(asked.len())]
    );
}

#[test]
fn without_an_answer_a_digest_takes_its_place() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let (url, server) = serve(2, "401 Unauthorized", r#"{"error":{"message":"who are you"}}"#);
    let run = secateur_with(
        &["compact", &file],
        &[("SECATEUR_SUMMARISER_URL", url.as_str()), ("SECATEUR_SUMMARISER_MODEL", "fern-1")],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("attempt 2: the model wrote no usable summary: "), "{}", run.err);
    assert!(run.err.contains(" into a digest: "), "{}", run.err);
    server.join().unwrap();
}

#[test]
fn half_a_summariser_is_refused() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let run = secateur_with(&["compact", &file, "--summariser-url", "http://127.0.0.1:1"], &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--summariser-url: key `summariser.model`: missing field"), "{}", run.err);
    let arguments = ["compact", &file, "--summariser-url", "http://127.0.0.1:1", "--summariser-model", "m"];
    let run = secateur_with(&[&arguments[..], &["--summariser-key-env", "NO_SUCH_KEY"]].concat(), &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("environment variable NO_SUCH_KEY contains no key"), "{}", run.err);
}
