//! What listens on an address: a proxy of Secateur, another program, or nothing.

mod owner;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;

pub(crate) use owner::other_user;

use crate::http_get::{self, HttpResponse};

/// A proxy on the same machine responds at once.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);

/// What listens on an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    Secateur {
        version: String,
    },
    /// A proxy of Secateur that needs another token.
    TokenRequired,
    /// A program of another user of this machine. No request is sent to it, because that could reveal a token.
    OtherUser {
        /// The user's numeric id.
        user: u32,
    },
    OtherProgram,
    Nothing,
}

#[derive(Deserialize)]
struct HealthResponse {
    program: String,
    #[serde(default)]
    version: String,
}

impl ListenerKind {
    /// What listens on an address of this machine. `root` is the URL of the same address, which may hold a token.
    pub(crate) async fn local(address: SocketAddr, root: &str) -> Self {
        match other_user(address) {
            Some(user) => Self::OtherUser { user },
            None => Self::at(root).await,
        }
    }

    /// Asks the program at this URL for its name.
    pub(crate) async fn at(root: &str) -> Self {
        let url = format!("{}/healthz", root.trim_end_matches('/'));
        match http_get::get(&url, &[], TIMEOUT).await {
            Ok(response) if is_token_required(&response) => Self::TokenRequired,
            Ok(response) => match serde_json::from_str::<HealthResponse>(&response.body) {
                Ok(health) if response.status == 200 && health.program == "secateur" => {
                    Self::Secateur { version: health.version }
                }
                _ => Self::OtherProgram,
            },
            Err(error) if error.is_connect() => Self::Nothing,
            Err(_) => Self::OtherProgram,
        }
    }
}

/// Whether a proxy of Secateur responded that the token is missing or wrong.
fn is_token_required(response: &HttpResponse) -> bool {
    response.status == 401 && response.body.contains("this proxy") && response.body.contains("token")
}

/// The address by which a client on the same machine reaches a listener.
pub(crate) fn client_address(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
