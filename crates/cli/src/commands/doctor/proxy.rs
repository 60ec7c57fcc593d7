//! Whether a proxy listens where it should, and whether a request comes through it.

use std::net::SocketAddr;
use std::time::Duration;

use super::finding::DoctorFinding;
use crate::http_get;
use crate::listener::Listener;

const CHECK: &str = "proxy";
const TRAFFIC: &str = "traffic";

/// Longer than the proxy waits for a connection to a provider.
const TIMEOUT: Duration = Duration::from_secs(12);

/// Looks at the address of the configuration. The root is the same as it is asked, which may hold a token.
pub(crate) async fn check(address: SocketAddr, root: &str, listener: &Listener) -> Vec<DoctorFinding> {
    match listener {
        Listener::Secateur { version } => {
            let found = format!("secateur {version} listens on http://{address}");
            vec![DoctorFinding::ok(CHECK, found), traffic(address, root).await]
        }
        Listener::TokenRequired => vec![DoctorFinding::fault(
            CHECK,
            format!("secateur listens on http://{address} and wants a token that it was not shown"),
            "name the file with its token, with --token-file or serve.token_file",
        )],
        Listener::OtherUser { user } => vec![DoctorFinding::fault(
            CHECK,
            format!("user {user} of this machine listens on {address}, and would see what agents send there"),
            "choose another port with --listen or serve.listen, and point agents there",
        )],
        Listener::OtherProgram => vec![DoctorFinding::fault(
            CHECK,
            format!("another program listens on {address}"),
            "end it, or choose another port with --listen or serve.listen, and point agents there",
        )],
        Listener::Nothing => vec![DoctorFinding::warning(
            CHECK,
            format!("no proxy listens on {address}"),
            "start one with `secateur serve`, or run an agent with one of its own: `secateur run -- claude`",
        )],
    }
}

/// Sends a request through the proxy, without a key: whatever the provider says, it was asked.
async fn traffic(address: SocketAddr, root: &str) -> DoctorFinding {
    let headers = [("anthropic-version", String::from("2023-06-01"))];
    match http_get::get(&format!("{root}/v1/models"), &headers, TIMEOUT).await {
        Ok(response) if matches!(response.status, 502 | 504) && response.body.contains("secateur") => {
            DoctorFinding::fault(
                TRAFFIC,
                format!("a request came to http://{address} and got no answer from the provider behind it"),
                "see what is said about the upstream, and with which flags the proxy was started",
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
            format!("a request to http://{address} was not answered: {}", http_get::failure(&error)),
            "start the proxy again, with --log debug to see what it does",
        ),
    }
}
