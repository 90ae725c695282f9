//! How long a service wants us to wait before the next attempt.

use std::time::{Duration, SystemTime};

/// How long a service asks us to wait: `retry-after-ms`, or else `retry-after` in seconds or as a date.
pub(in crate::model) fn asked_delay(
    retry_after_ms: Option<&str>,
    retry_after: Option<&str>,
    now: SystemTime,
) -> Option<Duration> {
    let number = |text: &str, scale: f64| {
        let seconds = text.trim().parse::<f64>().ok().filter(|number| *number >= 0.0)? / scale;
        Duration::try_from_secs_f64(seconds).ok()
    };
    retry_after_ms.and_then(|text| number(text, 1000.0)).or_else(|| {
        let text = retry_after?;
        number(text, 1.0).or_else(|| {
            let date = httpdate::parse_http_date(text.trim()).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_asked_for_in_three_ways() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let asked = |ms, after| asked_delay(ms, after, now);
        assert_eq!(asked(Some("250"), Some("9")), Some(Duration::from_millis(250)));
        assert_eq!(asked(None, Some(" 2 ")), Some(Duration::from_secs(2)));
        assert_eq!(asked(None, Some("0.5")), Some(Duration::from_millis(500)));
        assert_eq!(
            asked(None, Some("Sun, 06 Nov 1994 08:49:37 GMT")),
            Some(Duration::from_secs(7))
        );
        assert_eq!(asked(None, Some("Sun, 06 Nov 1994 08:00:00 GMT")), Some(Duration::ZERO));
        for nonsense in ["soon", "-1", "NaN", "inf", "1e400"] {
            assert_eq!(asked(Some(nonsense), Some(nonsense)), None, "{nonsense}");
        }
    }
}
