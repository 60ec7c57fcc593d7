//! A provider that answers everything alike and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

/// What came: the first line, and the headers below it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub line: String,
    pub headers: String,
}

/// How it answers.
#[derive(Clone)]
pub(crate) struct Manner {
    pub status: &'static str,
    /// Further headers, each with its line end.
    pub headers: String,
    pub body: String,
}

impl Default for Manner {
    fn default() -> Self {
        Self { status: "200 OK", headers: String::new(), body: String::from(r#"{"data":[]}"#) }
    }
}

/// A provider, until the test ends.
pub(crate) struct Upstream {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Upstream {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let book = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (book, manner) = (Arc::clone(&book), manner.clone());
                std::thread::spawn(move || converse(stream, &book, &manner));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one request after another.
pub(crate) fn converse(mut stream: impl Read + Write, book: &Mutex<Vec<Asked>>, manner: &Manner) {
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
    let answer = &manner.body;
    book.lock().unwrap().push(Asked { line, headers });
    let Manner { status, headers, .. } = manner;
    let length = answer.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok();
    stream.write_all(answer.as_bytes()).ok();
    stream.flush().ok();
}
