//! Points in time as people write and read them.

use anyhow::{Result, anyhow};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// Reads a day, a moment or an age: `2026-01-31`, `2026-01-31T12:00:00Z`, `30d`.
pub(crate) fn parse(text: &str) -> Result<Timestamp> {
    let text = text.trim();
    let wrong = || {
        anyhow!(
            "{text:?} is neither a day such as 2026-01-31, nor a moment such as 2026-01-31T12:00:00Z, nor an age such as 30d, 12h or 2w"
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

/// For the value of an option.
pub(crate) fn value(text: &str) -> Result<Timestamp, String> {
    parse(text).map_err(|error| error.to_string())
}

/// A moment to the minute, where the user is.
pub(crate) fn minute(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| "?".to_owned(),
        |moment| moment.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// A moment to the second, where the user is.
pub(crate) fn second(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| "?".to_owned(),
        |moment| moment.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_moments_and_ages_are_understood() {
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
    fn anything_else_is_refused_with_what_would_be_accepted() {
        for text in ["", "yesterday", "30", "2026-13-01", "999999999y"] {
            assert!(parse(text).unwrap_err().to_string().contains("an age such as 30d"), "{text}");
        }
    }
}
