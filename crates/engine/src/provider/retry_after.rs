//! How long a provider wants to be left alone: `retry-after` and its relatives.
//!
//! The header is a number of seconds or a date; some providers give milliseconds in `retry-after-ms`. What cannot be
//! read is no wish. Of dates only the one form is read that servers may still send.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// What the headers of an answer ask for.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    text("retry-after-ms").and_then(|text| duration(text, 1_000.0)).or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        duration(text, 1.0).or_else(|| Some(date(text)?.duration_since(now).unwrap_or_default()))
    })
}

fn duration(text: &str, per_second: f64) -> Option<Duration> {
    let number = text.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(number / per_second).ok()
}

/// A point in time as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<SystemTime> {
    let (_, text) = text.split_once(", ")?;
    let mut words = text.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let year: u64 = words.next()?.parse().ok()?;
    let time = words.next()?;
    let zone = words.next()?;
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = (1u64..).zip(MONTHS).find_map(|(number, name)| (name == month).then_some(number))?;
    let mut parts = time.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let is_date = (1..=31).contains(&day) && (1970..10_000).contains(&year);
    let is_time = hour < 24 && minute < 60 && second <= 60 && parts.next().is_none();
    if !is_date || !is_time || zone != "GMT" || words.next().is_some() {
        return None;
    }
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Days of the Gregorian calendar. The year is taken to start in March, so that the leap day is its last.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leaps = year / 4 - year / 100 + year / 400;
    // From the first of March of the year zero to the first of January 1970 there are 719,468 days.
    year * 365 + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn asked(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        let pair = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        retry_after(&headers.iter().map(pair).collect(), now)
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_understood() {
        assert_eq!(asked(&[("retry-after", "20")]), Some(Duration::from_secs(20)));
        assert_eq!(asked(&[("retry-after", " 1.5 ")]), Some(Duration::from_millis(1_500)));
        assert_eq!(asked(&[("retry-after-ms", "250")]), Some(Duration::from_millis(250)));
        assert_eq!(
            asked(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]),
            Some(Duration::from_secs(30)),
            "the moment of the test is thirty seconds before"
        );
    }

    #[test]
    fn milliseconds_go_before_seconds() {
        let headers = [("retry-after", "1"), ("retry-after-ms", "250")];
        assert_eq!(asked(&headers), Some(Duration::from_millis(250)));
        let headers = [("retry-after", "1"), ("retry-after-ms", "soon")];
        assert_eq!(asked(&headers), Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_date_in_the_past_means_now() {
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT")]), Some(Duration::ZERO));
    }

    #[test]
    fn nonsense_is_no_wish() {
        for value in [
            "",
            "soon",
            "-1",
            "NaN",
            "inf",
            "1e300",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 46 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 0001 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
        ] {
            assert_eq!(asked(&[("retry-after", value)]), None, "{value}");
        }
        assert_eq!(asked(&[]), None);
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        assert_eq!(days_since_1970(2000, 2, 29), 11_016);
        assert_eq!(days_since_1970(2000, 3, 1), 11_017);
        assert_eq!(days_since_1970(2100, 3, 1), 47_541);
    }
}
