//! Whether the connection to a server is encrypted, and which certificates are trusted.

use std::env;

use secateur_store::{open, server_status};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use uuid::Uuid;

use secateur_testing::store_home::run;
use secateur_testing::{Backend, StoreHome};

/// The URL of the store with another host name and these TLS options.
fn address(home: &StoreHome, host: &str, options: &str) -> String {
    home.url.replace("127.0.0.1", host).replace("sslmode=disable", options)
}

/// Whether the store's connections are encrypted; the error if it cannot be opened.
async fn encrypted(home: &StoreHome, host: &str, options: &str) -> Result<bool, String> {
    let name = format!("test_{}", Uuid::now_v7().simple());
    let url = format!("{}&application_name={name}", address(home, host, options));
    let opened = open(&url).await;
    let looked = server_status(&url).await;
    assert_eq!(opened.is_ok(), looked.is_ok(), "{options}");
    // They are inspected while the store is open.
    let _store = opened.map_err(|error| error.to_string())?;
    let seen = |ssl: bool| {
        format!(
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE ssl = {ssl} AND application_name = '{name}'"
        )
    };
    let (with, without) = (home.query_number(&seen(true)).await, home.query_number(&seen(false)).await);
    assert!((with > 0) != (without > 0), "{options}: {with} with and {without} without");
    Ok(with > 0)
}

/// Runs a test with a server that supports TLS, and its root certificate.
fn with_server<T: Future<Output = ()> + Send + 'static>(
    test: impl FnOnce(StoreHome, String) -> T + Send + 'static,
) {
    run(Backend::Postgres, |home| async move {
        match env::var("SECATEUR_POSTGRES_ROOT") {
            Ok(root) => test(home, root).await,
            Err(_) => println!("skipped: the server cannot encrypt"),
        }
    });
}

#[test]
fn an_address_says_whether_the_way_is_encrypted() {
    with_server(|home, root| async move {
        for (host, options, is_encrypted) in [
            ("127.0.0.1", "sslmode=disable".to_owned(), false),
            ("127.0.0.1", "sslmode=prefer".to_owned(), true),
            ("127.0.0.1", "connect_timeout=9".to_owned(), true),
            ("127.0.0.1", "sslmode=require".to_owned(), true),
            ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={root}"), true),
            ("localhost", format!("sslmode=verify-full&sslrootcert={root}"), true),
        ] {
            assert_eq!(encrypted(&home, host, &options).await, Ok(is_encrypted), "{options}");
        }
    });
}

#[test]
fn a_server_that_is_not_vouched_for_is_not_believed() {
    with_server(|home, root| async move {
        let folder = TempDir::new().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (other, empty) = (file("other.pem", &other.cert.pem()), file("empty.pem", "nothing"));
        let missing = folder.path().join("missing.pem").display().to_string();
        for (host, options, said) in [
            ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={root}"), "not valid for name"),
            ("localhost", format!("sslmode=verify-full&sslrootcert={other}"), "UnknownIssuer"),
            ("localhost", format!("sslmode=verify-ca&sslrootcert={other}"), "UnknownIssuer"),
            ("localhost", format!("sslmode=require&sslrootcert={other}"), "UnknownIssuer"),
            ("localhost", format!("sslrootcert={other}"), "UnknownIssuer"),
            ("localhost", "sslmode=verify-full".to_owned(), ""),
            ("localhost", "sslrootcert=system".to_owned(), ""),
            ("localhost", "sslmode=verify-ca".to_owned(), "verify-ca needs sslrootcert=FILE"),
            ("localhost", format!("sslmode=require&sslrootcert={missing}"), "missing.pem"),
            ("localhost", format!("sslmode=require&sslrootcert={empty}"), "no certificate in it"),
        ] {
            let error = encrypted(&home, host, &options).await.unwrap_err();
            assert!(error.contains(said), "{options}: {error}");
        }
    });
}

/// A client that requires TLS sends nothing to a server without it, least of all a password.
#[tokio::test]
async fn a_wish_for_encryption_is_not_passed_over() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut question = [0; 8];
        socket.read_exact(&mut question).await.unwrap();
        socket.write_all(b"N").await.unwrap();
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).await.unwrap();
        (question, rest)
    });
    let opened = open(&format!("postgres://me:secret@127.0.0.1:{port}/db?sslmode=require")).await;
    let error = opened.err().unwrap().to_string();
    assert!(error.contains("server does not support TLS"), "{error}");
    let (question, rest) = server.await.unwrap();
    assert_eq!((&question[..], &rest[..]), (&[0, 0, 0, 8, 4, 210, 22, 47][..], &[][..]));
}
