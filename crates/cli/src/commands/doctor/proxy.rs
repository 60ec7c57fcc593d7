//! Checks whether a proxy listens on the configured address, and whether it forwards requests.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use super::finding::DoctorFinding;
use crate::http_get;
use crate::listener::ListenerKind;

const CHECK: &str = "proxy";
const READINESS: &str = "readiness";
const TRAFFIC: &str = "traffic";

/// Longer than the proxy's own timeout for a connection to a provider.
const TIMEOUT: Duration = Duration::from_secs(12);

/// Checks the configured address. `root` is its URL, which may hold a token.
pub(crate) async fn check(address: SocketAddr, root: &str, listener: &ListenerKind) -> Vec<DoctorFinding> {
    match listener {
        ListenerKind::Secateur { version } => {
            let found = format!("secateur {version} listens on http://{address}");
            let mut findings = vec![DoctorFinding::ok(CHECK, found)];
            findings.extend(readiness(root).await);
            findings.push(traffic(address, root).await);
            findings
        }
        ListenerKind::TokenRequired => vec![DoctorFinding::fault(
            CHECK,
            format!("secateur listens on http://{address} and needs a token"),
            "name the token's file with --token-file or serve.token_file",
        )],
        ListenerKind::OtherUser { user } => vec![DoctorFinding::fault(
            CHECK,
            format!(
                "another user of this machine (id {user}) listens on {address} and would see what agents send"
            ),
            "choose another port with --listen or serve.listen, and point agents there",
        )],
        ListenerKind::OtherProgram => vec![DoctorFinding::fault(
            CHECK,
            format!("another program listens on {address}"),
            "stop it, or choose another port with --listen or serve.listen, and point agents there",
        )],
        ListenerKind::Nothing => vec![DoctorFinding::warning(
            CHECK,
            format!("no proxy listens on {address}"),
            "start one with `secateur serve`, or start an agent together with one: `secateur run -- claude`",
        )],
    }
}

/// A fault if the proxy cannot use its store.
async fn readiness(root: &str) -> Option<DoctorFinding> {
    let response = http_get::get(&format!("{root}/readyz"), &[], TIMEOUT).await.ok()?;
    let said: Value = serde_json::from_str(&response.body).ok().filter(|_| response.status == 503)?;
    let why = said.get("why").and_then(Value::as_str).unwrap_or("it does not say why");
    Some(DoctorFinding::fault(
        READINESS,
        format!("the proxy cannot use its store: {why}"),
        "see the findings on the store; the proxy keeps conversations in memory and uses the store as soon as it can",
    ))
}

/// Sends a request without a key through the proxy. Any response of the provider shows that it was reached.
async fn traffic(address: SocketAddr, root: &str) -> DoctorFinding {
    let headers = [("anthropic-version", String::from("2023-06-01"))];
    match http_get::get(&format!("{root}/v1/models"), &headers, TIMEOUT).await {
        Ok(response) if matches!(response.status, 502 | 504) && response.body.contains("secateur") => {
            DoctorFinding::fault(
                TRAFFIC,
                format!("a request to http://{address} got no response from the provider"),
                "see the findings on the upstream, and check the flags that the proxy was started with",
            )
        }
        Ok(response) => {
            let status = response.status;
            DoctorFinding::ok(
                TRAFFIC,
                format!("a request went through http://{address} to Anthropic (status {status})"),
            )
        }
        Err(error) => DoctorFinding::fault(
            TRAFFIC,
            format!("a request to http://{address} got no response: {}", http_get::failure(&error)),
            "restart the proxy, with --log debug to see what it does",
        ),
    }
}
