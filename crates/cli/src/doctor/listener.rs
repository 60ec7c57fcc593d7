//! Whether a proxy listens where it should, and whether a request comes through it.

use std::net::SocketAddr;
use std::time::Duration;

use super::finding::Finding;
use crate::ask;
use crate::neighbour::Neighbour;

const CHECK: &str = "proxy";
const TRAFFIC: &str = "traffic";

/// Longer than the proxy waits for a connection to a provider.
const PATIENCE: Duration = Duration::from_secs(12);

/// Looks at the address of the configuration. The root is the same as it is asked, which may hold a token.
pub(crate) async fn check(address: SocketAddr, root: &str, neighbour: &Neighbour) -> Vec<Finding> {
    match neighbour {
        Neighbour::Secateur { version } => {
            let found = format!("secateur {version} listens on http://{address}");
            vec![Finding::ok(CHECK, found), traffic(address, root).await]
        }
        Neighbour::Guarded => vec![Finding::fault(
            CHECK,
            format!("secateur listens on http://{address} and wants a token that it was not shown"),
            "name the file with its token, with --token-file or serve.token_file",
        )],
        Neighbour::Foreign { user } => vec![Finding::fault(
            CHECK,
            format!("user {user} of this machine listens on {address}, and would see what agents send there"),
            "choose another port with --listen or serve.listen, and point agents there",
        )],
        Neighbour::Stranger => vec![Finding::fault(
            CHECK,
            format!("another program listens on {address}"),
            "end it, or choose another port with --listen or serve.listen, and point agents there",
        )],
        Neighbour::Nobody => vec![Finding::warning(
            CHECK,
            format!("no proxy listens on {address}"),
            "start one with `secateur serve`, or run an agent with one of its own: `secateur run -- claude`",
        )],
    }
}

/// Sends a request through the proxy, without a key: whatever the provider says, it was asked.
async fn traffic(address: SocketAddr, root: &str) -> Finding {
    let headers = [("anthropic-version", String::from("2023-06-01"))];
    match ask::get(&format!("{root}/v1/models"), &headers, PATIENCE).await {
        Ok(reply) if matches!(reply.status, 502 | 504) && reply.body.contains("secateur") => Finding::fault(
            TRAFFIC,
            format!("a request came to http://{address} and got no answer from the provider behind it"),
            "see what is said about the upstream, and with which flags the proxy was started",
        ),
        Ok(reply) => {
            let status = reply.status;
            Finding::ok(
                TRAFFIC,
                format!("a request went through http://{address} to Anthropic (status {status})"),
            )
        }
        Err(error) => Finding::fault(
            TRAFFIC,
            format!("a request to http://{address} was not answered: {}", ask::cause(&error)),
            "start the proxy again, with --log debug to see what it does",
        ),
    }
}
