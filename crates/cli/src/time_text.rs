//! Points in time as people write and read them.

use anyhow::{Result, anyhow};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Parses a date, a time or an age: `2026-01-31`, `2026-01-31T12:00:00Z`, `30d`.
pub(crate) fn parse(text: &str) -> Result<Timestamp> {
    let text = text.trim();
    let wrong = || {
        anyhow!(
            "invalid time {text:?}: expected a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an age such as 30d, 12h or 2w"
        )
    };
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    if let Ok(day) = text.parse::<Date>() {
        return Ok(day.to_zoned(TimeZone::system()).map_err(|_| wrong())?.timestamp());
    }
    let age = text.parse::<Span>().map_err(|_| wrong())?.abs();
    Ok(Zoned::now().checked_sub(age).map_err(|_| wrong())?.timestamp())
}

/// [`parse`] for the value of a flag.
pub(crate) fn parse_flag(text: &str) -> Result<Timestamp, String> {
    parse(text).map_err(|error| error.to_string())
}

/// A time to the minute, in the local time zone.
pub(crate) fn minute(milliseconds: i64) -> String {
    local(milliseconds, "%Y-%m-%d %H:%M")
}

/// A time to the second, in the local time zone.
pub(crate) fn second(milliseconds: i64) -> String {
    local(milliseconds, "%Y-%m-%d %H:%M:%S")
}

fn local(milliseconds: i64, format: &str) -> String {
    Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| "?".to_owned(),
        |time| time.to_zoned(TimeZone::system()).strftime(format).to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_ages_are_parsed() {
        assert_eq!(parse("2026-01-31T12:00:00Z").unwrap().as_millisecond(), 1_769_860_800_000);
        assert!(parse("2026-01-31").unwrap() < parse("2026-02-01").unwrap());
        let now = Timestamp::now();
        for (age, hours) in [("30d", 30 * 24), ("12h", 12), ("2w", 14 * 24), ("30 days ago", 30 * 24)] {
            let ago = now.duration_since(parse(age).unwrap()).as_hours();
            // A day on which clocks change has an hour more or less.
            assert!((hours - 2..=hours + 2).contains(&ago), "{age}: {ago}");
        }
    }

    #[test]
    fn an_error_says_what_would_be_accepted() {
        for text in ["", "yesterday", "30", "2026-13-01", "999999999y"] {
            assert!(parse(text).unwrap_err().to_string().contains("an age such as 30d"), "{text}");
        }
    }
}
