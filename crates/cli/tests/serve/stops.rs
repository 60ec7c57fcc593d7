//! A proxy that is told to stop finishes what it streams.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use crate::process::Process;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const FIRST: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
const LAST: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// A provider that streams the first half of an answer at once, and the second when it is told to.
fn provider(go_on: mpsc::Receiver<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        write!(stream, "{HEAD}{FIRST}").unwrap();
        go_on.recv().unwrap();
        write!(stream, "{LAST}").unwrap();
    });
    url
}

#[test]
fn a_stream_is_finished_before_the_proxy_stops() {
    let folder = tempfile::tempdir().unwrap();
    let (release, go_on) = mpsc::channel();
    let mut proxy = Process::start(folder.path(), &provider(go_on), 12_000);
    let mut client = TcpStream::connect(proxy.address).unwrap();
    let body = r#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    let (address, length) = (proxy.address, body.len());
    write!(
        client,
        "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut came = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&came).contains(FIRST) {
        let read = client.read(&mut piece).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&came));
        came.extend_from_slice(&piece[..read]);
    }
    proxy.terminate();
    // New clients are not let in any more.
    for _ in 0..500 {
        if TcpStream::connect(address).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(TcpStream::connect(address).is_err() && proxy.is_alive());
    release.send(()).unwrap();
    client.read_to_end(&mut came).unwrap();
    assert!(String::from_utf8_lossy(&came).contains(LAST), "{}", String::from_utf8_lossy(&came));
    assert_eq!(proxy.wait(), Some(0));
}
