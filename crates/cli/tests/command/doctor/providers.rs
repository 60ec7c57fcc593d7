//! Faults of those behind the proxy: dead, another key, another time, a bad certificate.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::report::{Serving, doctor, examine, examine_unchanged};
use crate::fixed_provider::{FixedProvider, FixedResponse, converse};
use crate::machine::{Machine, free_address};

#[test]
fn a_dead_upstream_is_found() {
    let machine = Machine::new();
    let url = format!("http://{}", free_address());
    let report = examine(doctor(&machine).args(["--anthropic", &url]));
    let (found, fix) = report.find("upstream", "fault", "cannot be reached");
    assert!(found.contains("Anthropic") && found.contains(&url), "{found}");
    assert!(fix.contains("--anthropic or serve.anthropic"), "{fix}");
    report.find("upstream", "ok", "OpenAI");
}

/// Agents send their requests where the running proxy sends them, whatever is configured now.
#[test]
fn the_upstreams_of_the_running_proxy_are_examined() {
    let machine = Machine::new();
    let dead = format!("http://{}", free_address());
    let serving = Serving::start_with(&machine, &machine.upstream.url(), &["--window", "known=5000"]);
    let asked = |command: &mut std::process::Command| {
        examine_unchanged(command.args(["--listen", &serving.address, "--anthropic", &dead]))
    };
    let report = asked(&mut doctor(&machine));
    let (found, _) = report.find("upstream", "ok", "Anthropic");
    assert!(found.contains(&machine.upstream.url()), "{found}");
    let model = |name: &str| {
        format!(r#"{{"model":"{name}","max_tokens":9,"messages":[{{"role":"user","content":"hi"}}]}}"#)
    };
    for name in ["known", "new"] {
        ask(&serving.address, &model(name));
    }
    let report = asked(&mut doctor(&machine));
    let (found, fix) = report.find("window", "warning", "\"new\"");
    assert!(found.contains("200,000 tokens are assumed"), "{found}");
    assert!(fix.contains("windows.\"new\" = 200000") && fix.contains("--window new=200000"), "{fix}");
    assert!(!report.text.contains("\\\"known\\\""), "{}", report.text);
}

/// Sends a request and waits for the end of the response.
fn ask(address: &str, body: &str) {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.contains("x-secateur-session"), "{response}");
}

#[test]
fn a_wrong_key_is_found_and_not_shown() {
    let machine = Machine::new();
    let refusing =
        FixedProvider::start(FixedResponse { status: "401 Unauthorized", ..FixedResponse::default() });
    let mut command = doctor(&machine);
    command.args(["--anthropic", &refusing.url()]).env("ANTHROPIC_API_KEY", "sk-planted");
    command.env("OPENAI_API_KEY", "sk-good");
    let report = examine(&mut command);
    let (_, fix) = report.find("key", "fault", "Anthropic rejects the key in ANTHROPIC_API_KEY");
    assert!(fix.contains("set ANTHROPIC_API_KEY to a valid key of Anthropic"), "{fix}");
    report.find("key", "ok", "OpenAI accepts the key in OPENAI_API_KEY");
    assert!(!report.text.contains("sk-"), "{}", report.text);
    let asked = refusing.requests();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].line, "GET /v1/models HTTP/1.1");
    assert!(asked[0].headers.contains("x-api-key: sk-planted"), "{asked:?}");
}

#[test]
fn a_wrong_key_of_google_is_found_although_it_says_bad_request() {
    let machine = Machine::new();
    let body = String::from(r#"{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}"#);
    let refusing =
        FixedProvider::start(FixedResponse { status: "400 Bad Request", body, ..FixedResponse::default() });
    let mut command = doctor(&machine);
    command.args(["--gemini", &refusing.url()]).env("GEMINI_API_KEY", "planted");
    examine(&mut command).find("key", "fault", "Gemini rejects the key in GEMINI_API_KEY");
}

#[test]
fn a_clock_that_is_wrong_is_found() {
    let machine = Machine::new();
    let headers = String::from("date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    let old = FixedProvider::start(FixedResponse { headers, ..FixedResponse::default() });
    let report = examine(doctor(&machine).args(["--openai", &old.url()]));
    let (found, fix) = report.find("clock", "fault", "ahead of that of OpenAI");
    assert!(fix.contains("synchronise the clock with the network"), "{found} {fix}");
}

/// A provider whose certificate was made by this authority and is valid between two years. Its address, and the certificate as a file.
fn encrypted(by: &str, years: (i32, i32)) -> (SocketAddr, String) {
    let mut params = CertificateParams::new([String::from("localhost")]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(years.0, 1, 1), date_time_ymd(years.1, 1, 1));
    params.distinguished_name.push(DnType::CommonName, by);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], secret);
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            converse(StreamOwned::new(connection, stream), &Mutex::default(), &FixedResponse::default());
        }
    });
    (address, certificate.pem())
}

#[test]
fn a_bad_certificate_is_found() {
    let cases = [
        ((2001, 2002), "has expired", "has to renew the certificate"),
        ((3001, 3002), "is not valid yet", "this machine's clock"),
        ((2001, 3001), "has an unknown issuer", "SSL_CERT_FILE"),
    ];
    // Some certificate has to be trusted, or the system's certificates are what is wrong.
    let (_, trusted) = encrypted("somebody", (2001, 3001));
    for (years, what, remedy) in cases {
        let machine = Machine::new();
        let (address, _) = encrypted("nobody", years);
        std::fs::write(machine.path("trusted.pem"), &trusted).unwrap();
        let url = format!("https://localhost:{}", address.port());
        let mut command = doctor(&machine);
        command.args(["--anthropic", &url]).env("SSL_CERT_FILE", machine.path("trusted.pem"));
        let (found, fix) = examine(&mut command).find("certificate", "fault", what);
        assert!(found.contains(&url) && fix.contains(remedy), "{found} {fix}");
    }
}
