//! How long a provider asks to wait: `retry-after` and its variants.
//!
//! The header is a number of seconds or a date; some providers send milliseconds in `retry-after-ms`. A value that cannot
//! be parsed is ignored.

use std::time::{Duration, SystemTime};

use httpdate::parse_http_date;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The wait that the headers of a response ask for.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    text("retry-after-ms").and_then(|text| duration(text, 1_000.0)).or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        duration(text, 1.0)
            .or_else(|| Some(parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()))
    })
}

fn duration(text: &str, per_second: f64) -> Option<Duration> {
    let number = text.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(number / per_second).ok()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

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
    fn dates_count_leap_days() {
        let day = |date| asked(&[("retry-after", date)]).unwrap().as_secs() / 86_400;
        assert_eq!(day("Wed, 01 Mar 2000 08:49:37 GMT") - day("Mon, 28 Feb 2000 08:49:37 GMT"), 2);
        assert_eq!(day("Mon, 01 Mar 2100 08:49:37 GMT") - day("Sun, 28 Feb 2100 08:49:37 GMT"), 1);
    }

    #[test]
    fn a_date_in_the_past_means_now() {
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT")]), Some(Duration::ZERO));
    }

    #[test]
    fn nonsense_is_ignored() {
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
}
