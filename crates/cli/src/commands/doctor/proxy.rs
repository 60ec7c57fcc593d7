//! Checks whether a proxy listens on the configured address, and whether it forwards requests.

use std::net::SocketAddr;
use std::time::Duration;

use super::finding::DoctorFinding;
use crate::http_get;
use crate::listener::ListenerKind;

const CHECK: &str = "proxy";
const TRAFFIC: &str = "traffic";

/// Longer than the proxy's own timeout for a connection to a provider.
const TIMEOUT: Duration = Duration::from_secs(12);

/// Checks the configured address. `root` is its URL, which may hold a token.
pub(crate) async fn check(address: SocketAddr, root: &str, listener: &ListenerKind) -> Vec<DoctorFinding> {
    match listener {
        ListenerKind::Secateur { version } => {
            let found = format!("secateur {version} listens on http://{address}");
            vec![DoctorFinding::ok(CHECK, found), traffic(address, root).await]
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
