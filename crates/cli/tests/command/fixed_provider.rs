//! A provider that answers everything alike and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

/// What came: the first line, and the headers below it.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub line: String,
    pub headers: String,
}

/// How it answers.
#[derive(Clone)]
pub(crate) struct FixedResponse {
    pub status: &'static str,
    /// Further headers, each with its line end.
    pub headers: String,
    pub body: String,
}

impl Default for FixedResponse {
    fn default() -> Self {
        Self { status: "200 OK", headers: String::new(), body: String::from(r#"{"data":[]}"#) }
    }
}

/// A provider, until the test ends.
pub(crate) struct FixedProvider {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl FixedProvider {
    pub(crate) fn start(response: FixedResponse) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<ReceivedRequest>>>::default();
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, response) = (Arc::clone(&log), response.clone());
                std::thread::spawn(move || converse(stream, &log, &response));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one request after another.
pub(crate) fn converse(
    mut stream: impl Read + Write,
    log: &Mutex<Vec<ReceivedRequest>>,
    response: &FixedResponse,
) {
    let mut reader = BufReader::new(&mut stream);
    let (mut line, mut headers, mut length) = (String::new(), String::new(), 0);
    if reader.read_line(&mut line).is_err() || line.is_empty() {
        return;
    }
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).is_err() || header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        headers.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok();
    let line = line.trim_end().to_owned();
    let answer = &response.body;
    log.lock().unwrap().push(ReceivedRequest { line, headers });
    let FixedResponse { status, headers, .. } = response;
    let length = answer.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok();
    stream.write_all(answer.as_bytes()).ok();
    stream.flush().ok();
}
