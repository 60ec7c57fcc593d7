//! What the proxy shows on its own paths.

use std::net::SocketAddr;

use secateur_testing::client::{ClientResponse, exchange};

/// Looks at a path of the proxy's own.
pub(crate) async fn get(to: SocketAddr, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let ClientResponse { head, body, .. } = exchange(to, request).await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}{body}");
    body
}

/// The value of a counter, by its name and labels as they are written.
pub(crate) fn counter(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} is not in\n{metrics}"))
}
