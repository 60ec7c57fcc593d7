//! Who listens at an address.

mod owner;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;

pub(crate) use owner::other_user;

use crate::http_get::{self, HttpResponse};

/// A proxy on the same machine answers at once or is not one.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);

/// Who listens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    /// A proxy of ours.
    Secateur {
        /// Its version.
        version: String,
    },
    /// A proxy of ours that wants to be shown a token, and was not shown the right one.
    TokenRequired,
    /// A program of another user of this machine. It is not asked, so that it learns no token.
    OtherUser {
        /// The user's number.
        user: u32,
    },
    /// Another program.
    OtherProgram,
    /// Nobody.
    Nothing,
}

#[derive(Deserialize)]
struct HealthResponse {
    program: String,
    #[serde(default)]
    version: String,
}

impl Listener {
    /// Who listens at an address of this machine; the root is the same as it is asked, which may hold a token.
    pub(crate) async fn local(address: SocketAddr, root: &str) -> Self {
        match other_user(address) {
            Some(user) => Self::OtherUser { user },
            None => Self::at(root).await,
        }
    }

    /// Asks whoever is there for its name.
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

/// Whether this is how a proxy of ours turns somebody away.
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
