//! Points in time, as logs write them: RFC 3339, and a little laxer.
//!
//! Logs are written by many programs: with or without a fraction of a second, in UTC or with an offset, with a space
//! where the standard has a `T`. A time without an offset is taken as UTC, which it nearly always is.

use crate::json::{OptionalRaw, Raw};

/// The time that a member holds as a text.
pub(crate) fn of(member: Option<Raw<'_>>) -> Option<i64> {
    millis(&member.string()?)
}

/// Milliseconds since 1970; `None` if the text is not a point in time.
pub(crate) fn millis(text: &str) -> Option<i64> {
    let mut rest = TimeText(text.trim().as_bytes());
    let year = rest.number(4)?;
    rest.expect(b"-")?;
    let month = rest.number(2)?;
    rest.expect(b"-")?;
    let day = rest.number(2)?;
    let is_day = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    let start = is_day.then(|| days_since_1970(year, month, day) * 86_400_000)?;
    if rest.0.is_empty() {
        return Some(start);
    }
    rest.expect(b"Tt ")?;
    let (hour, minute) = rest.hour_and_minute()?;
    let mut second = 0;
    let mut fraction = 0;
    if rest.expect(b":").is_some() {
        second = rest.number(2)?;
        if rest.expect(b".,").is_some() {
            fraction = rest.fraction()?;
        }
    }
    // A leap second counts as the first of the next minute.
    let is_time = hour < 24 && minute < 60 && second <= 60;
    let offset = rest.offset()?;
    let time = ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
    (is_time && rest.0.is_empty()).then_some(start + time - offset)
}

/// The rest of a text that is being parsed.
struct TimeText<'a>(&'a [u8]);

impl TimeText<'_> {
    /// Parses one of these characters.
    fn expect(&mut self, any: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first().filter(|(first, _)| any.contains(first))?;
        self.0 = rest;
        Some(first)
    }

    /// Parses a number with this many digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        let value = number.iter().try_fold(0, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0'))
        })?;
        self.0 = rest;
        Some(value)
    }

    fn hour_and_minute(&mut self) -> Option<(i64, i64)> {
        let hour = self.number(2)?;
        self.expect(b":")?;
        Some((hour, self.number(2)?))
    }

    /// Parses the digits of a fraction: its milliseconds, rounded down.
    fn fraction(&mut self) -> Option<i64> {
        let count = self.0.iter().take_while(|digit| digit.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count).filter(|_| count > 0)?;
        self.0 = rest;
        let padded = digits.iter().chain(b"00").take(3);
        Some(padded.fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
    }

    /// Parses the offset from UTC, in milliseconds; zero if there is none.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.expect(b"Zz+-") {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Some(0),
        };
        let hours = self.number(2)?;
        let is_more = self.expect(b":").is_some() || !self.0.is_empty();
        let minutes = if is_more { self.number(2)? } else { 0 };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60_000)
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_since_1970(next_year, next, 1) - days_since_1970(year, month, 1)
}

/// The days of whole years, then of whole months. With years that begin in March, the leap day is the last day, and the
/// number of days before a month has a closed form.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let months = (month * 153 + 2) / 5;
    // 719 468 days lie between the first of March of year 0 and the first of January 1970.
    years + months + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_fraction_and_offset() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.001Z", 1),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("2026-03-01T00:00:00Z", 1_772_323_200_000),
            ("2026-01-31T23:59:59.5Z", 1_769_903_999_500),
            ("2026-01-31T23:59:59.123456789Z", 1_769_903_999_123),
            ("2026-02-01T01:59:59+02:00", 1_769_903_999_000),
            ("2026-01-31T18:29:59-0530", 1_769_903_999_000),
            ("2026-02-01T01:59:59+02", 1_769_903_999_000),
            ("2026-01-31 23:59:59", 1_769_903_999_000),
            ("2026-01-31T23:59", 1_769_903_940_000),
            ("2026-01-31", 1_769_817_600_000),
            ("0000-03-01", -62_162_035_200_000),
        ] {
            assert_eq!(millis(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_gives_nothing() {
        for text in [
            "",
            "now",
            "2026",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29",
            "2026-01-00",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1",
            "2026-01-01T00:00:00Zulu",
            "2026-01-01T00:00:00+02:0x",
            "２０２６-01-01",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}
