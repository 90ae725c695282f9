//! Times as files have them: RFC 3339 in UTC, to the millisecond. Reading the clock is left to the callers.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp as Instant;
use skillgauge_format::part::Timestamp;

/// A time for a file.
pub fn timestamp(time: SystemTime) -> Timestamp {
    let millis = i64::try_from(unix_millis(time)).unwrap_or(i64::MAX);
    Timestamp::new(rfc3339(millis).unwrap_or_default())
}

/// The same to the second, for what people read: versions, rounds, benchmarks.
pub fn timestamp_to_the_second(time: SystemTime) -> Timestamp {
    let seconds = i64::try_from(unix_millis(time) / 1000).unwrap_or(i64::MAX);
    let instant = Instant::from_second(seconds).unwrap_or_default();
    Timestamp::new(format!("{instant:.0}"))
}

/// Milliseconds since 1970 in words; `None` after the year 9999.
pub fn rfc3339(unix_millis: i64) -> Option<String> {
    Instant::from_millisecond(unix_millis).ok().map(|time| format!("{time:.3}"))
}

/// Milliseconds since 1970; a clock before that is at 0.
pub fn unix_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Seconds since 1970 of a time with an offset; `None` for what is none.
pub fn unix_seconds(text: &str) -> Option<f64> {
    text.parse::<Instant>().ok().map(|time| time.as_duration().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_to_the_millisecond() {
        let at = |millis| timestamp(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0).as_str(), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400_123).as_str(), "2000-02-29T00:00:00.123Z");
        assert_eq!(rfc3339(i64::MAX), None);
        let noon = UNIX_EPOCH + Duration::from_millis(951_782_400_999);
        assert_eq!(timestamp_to_the_second(noon).as_str(), "2000-02-29T00:00:00Z");
    }

    #[test]
    fn times_are_read_with_any_offset() {
        assert_eq!(unix_seconds("2026-01-02T03:04:05.5Z"), Some(1_767_323_045.5));
        assert_eq!(unix_seconds("2026-01-02T04:04:05.5+01:00"), Some(1_767_323_045.5));
        assert_eq!(unix_seconds("yesterday"), None);
    }
}
