//! The user that owns a listening socket. Any user can listen where a proxy is expected, and would receive keys and
//! conversations.
//!
//! Known on Linux only; elsewhere no other user is assumed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The kernel's code for a listening socket.
const LISTENS: &str = "0A";

/// The users that systemd allocates for services (`DynamicUser`), as the unit in `packaging` does.
const DYNAMIC_USERS: std::ops::RangeInclusive<u32> = 61_184..=65_519;

/// The first id of a person. Lower ones are services that root has set up.
const FIRST_PERSON: u32 = 1_000;

/// Another user that listens on an address, if there is one.
#[cfg(target_os = "linux")]
pub(crate) fn other_user(address: SocketAddr) -> Option<u32> {
    let own = rustix::process::getuid().as_raw();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let mut owners = tables.iter().flat_map(|table| owners(table, address));
    owners.find(|user| is_other_user(*user, own))
}

/// Another user that listens on an address, if there is one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn other_user(_: SocketAddr) -> Option<u32> {
    None
}

/// Whether a user is neither ourselves nor a service of the machine.
fn is_other_user(user: u32, own: u32) -> bool {
    user != own && user >= FIRST_PERSON && !DYNAMIC_USERS.contains(&user)
}

/// The users that listen on an address, from a table of the kernel (`/proc/net/tcp`).
fn owners(table: &str, address: SocketAddr) -> Vec<u32> {
    let rows = table.lines().skip(1).filter_map(|row| {
        let mut columns = row.split_whitespace().skip(1);
        let (ip, port) = columns.next()?.split_once(':')?;
        let listens = columns.nth(1)? == LISTENS && u16::from_str_radix(port, 16).ok()? == address.port();
        let user = columns.nth(3)?.parse().ok()?;
        let ip = parse_address(ip)?.to_canonical();
        (listens && (ip == address.ip().to_canonical() || ip.is_unspecified())).then_some(user)
    });
    rows.collect()
}

/// Parses an address as the kernel writes it: words of four bytes in the processor's byte order.
fn parse_address(text: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(text.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    match text.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(word(0)?))),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?].concat();
            Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(words).ok()?)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn the_owner_of_a_listener_is_in_the_kernels_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1EC6 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 1 1 0\n\
            1: 0100007F:1EC6 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1002        0 1 1 0\n\
            2: 00000000:1EC7 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003        0 1 1 0\n\
            3: 0200007F:1EC6 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1004        0 1 1 0\n";
        let six = "sl\n0: 00000000000000000000000001000000:1EC6 0:0 0A 0:0 00:0 0 1005 0 1 1 0\n";
        assert_eq!(owners(table, "127.0.0.1:7878".parse().unwrap()), [1001]);
        assert_eq!(owners(table, "127.0.0.1:7879".parse().unwrap()), [1003]);
        assert!(owners(table, "127.0.0.1:7880".parse().unwrap()).is_empty());
        assert_eq!(owners(six, "[::1]:7878".parse().unwrap()), [1005]);
    }

    #[test]
    fn a_listener_of_our_own_is_not_another_users() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(other_user(listener.local_addr().unwrap()), None);
        assert!(is_other_user(1001, 1000) && is_other_user(1000, 0));
        assert!(!is_other_user(1000, 1000) && !is_other_user(0, 1000) && !is_other_user(110, 1000));
        assert!(!is_other_user(61_184, 1000));
    }
}
