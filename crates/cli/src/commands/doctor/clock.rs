//! Whether this machine's clock agrees with that of a provider, or of a store's server.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use super::finding::DoctorFinding;

const CHECK: &str = "clock";

/// Differences from which on signatures, logins and certificates are refused, or at least prices are off.
const FAULT: u64 = 300;
const WARNING: u64 = 60;

/// Compares the moment at which a provider answered with ours.
pub(crate) fn check(provider: &str, date: &str, now: SystemTime) -> Option<DoctorFinding> {
    let theirs = rfc2822::parse(date).ok()?.timestamp();
    let ours = Timestamp::try_from(now).ok()?;
    Some(compare(provider, ours.as_second() - theirs.as_second()))
}

/// Judges by how many seconds this machine's clock is ahead of somebody's.
pub(crate) fn compare(whose: &str, seconds: i64) -> DoctorFinding {
    let (apart, side) = (seconds.unsigned_abs(), if seconds < 0 { "behind" } else { "ahead of" });
    let found = format!("this machine's clock is {apart} seconds {side} that of {whose}");
    let fix =
        "set the clock by the network (timedatectl set-ntp true, or the system's settings for date and time)";
    match apart {
        FAULT.. => DoctorFinding::fault(CHECK, found, fix),
        WARNING.. => DoctorFinding::warning(CHECK, found, fix),
        _ => DoctorFinding::ok(CHECK, format!("this machine's clock agrees with that of {whose}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::commands::doctor::finding::Level;

    #[test]
    fn the_difference_decides() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let level = |date: &str| check("x", date, now).map(|finding| finding.level);
        assert_eq!(level("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Level::Ok));
        assert_eq!(level("Sun, 06 Nov 1994 08:51:37 GMT"), Some(Level::Warning));
        assert_eq!(level("Sun, 06 Nov 1994 07:49:37 GMT"), Some(Level::Fault));
        assert_eq!(level("yesterday"), None);
    }
}
