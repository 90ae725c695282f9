//! Times, as far as agents give them, in RFC 3339.

const DAY: i64 = 86_400;

/// Milliseconds since 1970 as RFC 3339 in UTC; `None` outside the years 1970 to 9999.
pub(crate) fn rfc3339(millis: i64) -> Option<String> {
    let (seconds, millis) = (millis.div_euclid(1000), millis.rem_euclid(1000));
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    if !(0..2_932_897).contains(&days) {
        return None;
    }
    // Days are counted from 0000-03-01, so that the leap day is the last of its year (Hinnant's civil_from_days).
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"))
}

/// A time as an agent wrote it, if it looks like RFC 3339.
pub(super) fn given(text: &str) -> Option<String> {
    let plausible = (20..=40).contains(&text.len())
        && text.as_bytes().first().is_some_and(u8::is_ascii_digit)
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"-:.TZ+".contains(&byte));
    plausible.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{given, rfc3339};

    #[test]
    fn milliseconds_become_a_date() {
        assert_eq!(rfc3339(0).unwrap(), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_123).unwrap(), "2000-02-29T00:00:00.123Z");
        assert_eq!(rfc3339(1_794_770_746_876).unwrap(), "2026-11-15T19:25:46.876Z");
        assert_eq!(rfc3339(253_402_300_799_999).unwrap(), "9999-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(-1), None);
        assert_eq!(rfc3339(i64::MAX), None);
    }

    #[test]
    fn only_what_looks_like_a_time_is_kept() {
        assert!(given("2026-11-15T19:06:27.653Z").is_some());
        assert!(given("2026-11-15T19:06:27+01:00").is_some());
        assert!(given("yesterday").is_none());
        assert!(given("2026-11-15T19:06:27.653Z; drop table").is_none());
    }
}
