//! Who listens at an address.

mod owner;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;

pub(crate) use owner::foreign;

use crate::ask::{self, Reply};

/// A proxy on the same machine answers at once or is not one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Who listens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Neighbour {
    /// A proxy of ours.
    Secateur {
        /// Its version.
        version: String,
    },
    /// A proxy of ours that wants to be shown a token, and was not shown the right one.
    Guarded,
    /// A program of another user of this machine. It is not asked, so that it learns no token.
    Foreign {
        /// The user's number.
        user: u32,
    },
    /// Another program.
    Stranger,
    /// Nobody.
    Nobody,
}

#[derive(Deserialize)]
struct Health {
    program: String,
    #[serde(default)]
    version: String,
}

impl Neighbour {
    /// Who listens at an address of this machine; the root is the same as it is asked, which may hold a token.
    pub(crate) async fn near(address: SocketAddr, root: &str) -> Self {
        match foreign(address) {
            Some(user) => Self::Foreign { user },
            None => Self::at(root).await,
        }
    }

    /// Asks whoever is there for its name.
    pub(crate) async fn at(root: &str) -> Self {
        let url = format!("{}/healthz", root.trim_end_matches('/'));
        match ask::get(&url, &[], PATIENCE).await {
            Ok(reply) if is_guarded(&reply) => Self::Guarded,
            Ok(reply) => match serde_json::from_str::<Health>(&reply.body) {
                Ok(health) if reply.status == 200 && health.program == "secateur" => {
                    Self::Secateur { version: health.version }
                }
                _ => Self::Stranger,
            },
            Err(error) if error.is_connect() => Self::Nobody,
            Err(_) => Self::Stranger,
        }
    }
}

/// Whether this is how a proxy of ours turns somebody away.
fn is_guarded(reply: &Reply) -> bool {
    reply.status == 401 && reply.body.contains("this proxy") && reply.body.contains("token")
}

/// The address by which a client on the same machine reaches a listener.
pub(crate) fn near(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
