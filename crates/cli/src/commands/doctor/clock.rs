//! Compares this machine's clock with that of a provider or of the store's server.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use super::finding::DoctorFinding;

const CHECK: &str = "clock";

/// Differences in seconds. From the first on, signatures, logins and certificates are rejected.
const FAULT: u64 = 300;
const WARNING: u64 = 60;

/// Compares the `date` header of a provider's response with our clock.
pub(crate) fn check(provider: &str, date: &str, now: SystemTime) -> Option<DoctorFinding> {
    let theirs = rfc2822::parse(date).ok()?.timestamp();
    let ours = Timestamp::try_from(now).ok()?;
    Some(compare(provider, ours.as_second() - theirs.as_second()))
}

/// The finding for a clock that is this many seconds ahead of another one.
pub(crate) fn compare(other: &str, seconds: i64) -> DoctorFinding {
    let (apart, side) = (seconds.unsigned_abs(), if seconds < 0 { "behind" } else { "ahead of" });
    let found = format!("this machine's clock is {apart} seconds {side} that of {other}");
    let fix = "synchronise the clock with the network (timedatectl set-ntp true, or the system's date and time settings)";
    match apart {
        FAULT.. => DoctorFinding::fault(CHECK, found, fix),
        WARNING.. => DoctorFinding::warning(CHECK, found, fix),
        _ => DoctorFinding::ok(CHECK, format!("this machine's clock agrees with that of {other}")),
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
