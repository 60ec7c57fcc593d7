//! Providers that are spoken to over TLS, as all of the real ones are.
//!
//! Whom the proxy trusts it is told by the environment, and that cannot be changed for one test among others. So the
//! test starts itself again, with a certificate of its own in `SSL_CERT_FILE`.

use std::convert::Infallible;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::harness::Harness;
use secateur_testing::connection::within;

/// Names the folder with the certificate.
const FOLDER: &str = "SECATEUR_TEST_CERTIFICATE";

/// A request as it came.
type Came = (http::request::Parts, Bytes);

/// A provider that speaks this protocol inside of TLS, and no other. Its port, and what comes to it.
async fn provider(folder: &Path, protocol: &str) -> (u16, mpsc::UnboundedReceiver<Came>) {
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let certificate = CertificateDer::from(read("certificate.der"));
    let key = PrivateKeyDer::try_from(read("key.der")).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, reported) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let tell = tell.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let tell = tell.clone();
                async move {
                    let (parts, body) = request.into_parts();
                    let _ = tell.send((parts, body.collect().await.unwrap().to_bytes()));
                    let answer = Response::builder().header("x-answer", "a, b").status(203);
                    Ok::<_, Infallible>(answer.body(Full::new(Bytes::from("answered"))).unwrap())
                }
            });
            tokio::spawn(async move {
                let builder = auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    (port, reported)
}

/// Starts this test again, in a process that trusts a certificate made for it.
fn again(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([String::from("localhost")]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let trusted = folder.path().join("certificate.pem");
    std::fs::write(&trusted, certificate.pem()).unwrap();
    std::fs::write(folder.path().join("certificate.der"), certificate.der()).unwrap();
    std::fs::write(folder.path().join("key.der"), key.serialize_der()).unwrap();
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FOLDER, folder.path())
        .env("SSL_CERT_FILE", &trusted)
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn an_encrypted_provider_gets_the_same_over_both_versions() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return again("http::encrypted::an_encrypted_provider_gets_the_same_over_both_versions");
    };
    for (protocol, version) in [("http/1.1", Version::HTTP_11), ("h2", Version::HTTP_2)] {
        let (port, mut came) = provider(Path::new(&folder), protocol).await;
        let harness = Harness::start_with(|settings| {
            settings.anthropic = format!("https://localhost:{port}/prefix").parse().unwrap();
        })
        .await;
        let long = "é".repeat(300_000);
        let body =
            format!("{{\"model\":\"m\" , \"messages\":[{{\"role\":\"user\",\"content\":\"{long}\"}}]}}");
        let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        let length = format!("content-length: {}", body.len());
        for (path, framing, sent) in [
            ("/v1/messages?x=%20", length.as_str(), &body),
            ("/v1/messages/batches?x=%20", length.as_str(), &body),
            ("/v1/messages/batches?x=%20", "transfer-encoding: chunked", &chunks),
        ] {
            let mut client = harness.client().await;
            let headers = "X-Api-Key: k\r\nAnthropic-Version: 1\r\nX-Two: a\r\nX-Two: b, c";
            client
                .send(format!(
                    "POST {path} HTTP/1.1\r\nhost: x\r\nte: trailers\r\n{headers}\r\n{framing}\r\n\r\n"
                ))
                .await;
            client.send(sent).await;
            let answer = client.message().await;
            assert_eq!((answer.status(), answer.text()), (203, "answered"), "{protocol} {path}");
            assert_eq!(answer.header("x-answer"), Some("a, b"));
            let (mut parts, received) = within(came.recv()).await.unwrap();
            assert!(received == body.as_bytes(), "{protocol} {path}: {} bytes", received.len());
            assert_eq!((parts.version, parts.method.as_str()), (version, "POST"));
            assert_eq!(parts.uri.path_and_query().unwrap().as_str(), format!("/prefix{path}"));
            let host = match version {
                Version::HTTP_2 => parts.uri.authority().unwrap().to_string(),
                _ => parts.headers.remove("host").unwrap().to_str().unwrap().to_owned(),
            };
            assert_eq!(host, format!("localhost:{port}"));
            let mut headers: Vec<_> =
                parts.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
            headers.retain(|(name, _)| !["content-length", "transfer-encoding"].contains(name));
            headers.sort_unstable();
            let wanted = [
                ("anthropic-version", "1"),
                ("te", "trailers"),
                ("x-api-key", "k"),
                ("x-two", "a"),
                ("x-two", "b, c"),
            ];
            assert_eq!(headers, wanted, "{protocol} {path}");
        }
    }
}

#[tokio::test]
async fn a_provider_with_an_untrusted_certificate_gets_nothing() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return again("http::encrypted::a_provider_with_an_untrusted_certificate_gets_nothing");
    };
    let (port, mut came) = provider(Path::new(&folder), "http/1.1").await;
    let harness = Harness::start_with(|settings| {
        // The certificate is for another name.
        settings.anthropic = format!("https://127.0.0.1:{port}").parse().unwrap();
    })
    .await;
    let mut client = harness.client().await;
    client.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\ncontent-length: 2\r\n\r\n{}").await;
    let answer = client.message().await;
    assert_eq!(answer.status(), 502);
    assert!(answer.text().contains("certificate"), "{}", answer.text());
    assert!(came.try_recv().is_err());
}
