//! HTTP/1.1 by hand: as little as a client needs that only wants to know when.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::conversation::Request;

/// How an answer ends.
enum End {
    At(usize),
    Chunked,
}

/// Looks at the head of an answer: where its end is, once the head is there.
fn end(seen: &[u8]) -> Option<End> {
    let head = memmem::find(seen, b"\r\n\r\n")? + 4;
    assert!(seen.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(seen));
    let text = String::from_utf8_lossy(&seen[..head]).to_ascii_lowercase();
    match text.split("content-length:").nth(1) {
        Some(rest) => {
            let length: usize = rest.split('\r').next().unwrap_or("").trim().parse().expect("a length");
            Some(End::At(head + length))
        }
        None => Some(End::Chunked),
    }
}

/// Whether this is a whole answer.
pub(crate) fn is_whole(seen: &[u8]) -> bool {
    match end(seen) {
        None => false,
        Some(End::At(end)) => seen.len() >= end,
        Some(End::Chunked) => seen.ends_with(b"\r\n0\r\n\r\n"),
    }
}

/// Whether the first event of an answer is there.
pub(crate) fn has_begun(seen: &[u8]) -> bool {
    memmem::find(seen, b"message_start").is_some()
}

/// How long an answer took.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub first: Duration,
    pub whole: Duration,
}

/// A connection that asks one thing at a time.
pub(crate) struct Line {
    address: SocketAddr,
    stream: TcpStream,
    seen: Vec<u8>,
}

impl Line {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, stream: connect(address), seen: Vec::with_capacity(64 << 10) }
    }

    /// Sends a request and waits for all of its answer.
    pub(crate) fn ask(&mut self, request: &Request<'_>) -> Times {
        if let Ok(times) = self.try_ask(request) {
            return times;
        }
        // Idle connections may be closed by the other side.
        self.stream = connect(self.address);
        self.try_ask(request).expect("an answer")
    }

    fn try_ask(&mut self, request: &Request<'_>) -> io::Result<Times> {
        let start = Instant::now();
        self.send(request)?;
        let mut first = None;
        loop {
            self.read()?;
            if first.is_none() && has_begun(&self.seen) {
                first = Some(start.elapsed());
            }
            if is_whole(&self.seen) {
                let whole = start.elapsed();
                return Ok(Times { first: first.unwrap_or(whole), whole });
            }
        }
    }

    /// Sends a request and waits for the first event of its answer. Says whether it came.
    pub(crate) fn open(&mut self, request: &Request<'_>, patience: Duration) -> bool {
        self.stream.set_read_timeout(Some(patience)).expect("a timeout");
        if self.send(request).is_err() {
            return false;
        }
        while !has_begun(&self.seen) {
            if self.read().is_err() {
                return false;
            }
        }
        true
    }

    fn send(&mut self, request: &Request<'_>) -> io::Result<()> {
        self.seen.clear();
        let mut sent = 0;
        while sent < request.len() {
            sent += self.stream.write_vectored(&request.slices(sent))?;
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        let read = self.stream.read(&mut buffer)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.seen.extend_from_slice(&buffer[..read]);
        Ok(())
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    stream
}
