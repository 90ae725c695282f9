//! Whether a text is a time as RFC 3339 writes it.

/// Whether `text` has the shape `2026-02-22T20:00:00Z`, with a fraction or an offset if one likes, and names a day
/// that exists.
pub fn is_time(text: &str) -> bool {
    parts(text).is_some()
}

fn parts(text: &str) -> Option<()> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.split_at_checked(9)?;
    let [year, month, day] = numbers(date, [4, 2, 2], '-')?;
    let [hour, minute, second] = numbers(time.strip_prefix(['T', 't'])?, [2, 2, 2], ':')?;
    // 60 is a leap second.
    let is_sound = (1..=12).contains(&month)
        && (1..=days(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest.len() < fraction.len()).then_some(rest)?
        }
        None => rest,
    };
    let is_zoned = match rest.strip_prefix(['+', '-']) {
        Some(offset) => {
            let [hour, minute] = numbers(offset, [2, 2], ':')?;
            hour < 24 && minute < 60
        }
        None => matches!(rest, "Z" | "z"),
    };
    (is_sound && is_zoned).then_some(())
}

/// Numbers of the given widths with a separator between them, and nothing else.
fn numbers<const N: usize>(text: &str, widths: [usize; N], separator: char) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(separator);
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        let is_plain = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = is_plain.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::is_time;

    #[test]
    fn times_of_the_seeds_and_of_other_tools_are_known() {
        for text in [
            "2026-02-22T20:00:00Z",
            "2025-01-15T10:30:00+00:00",
            "2025-01-15t10:30:00.123456-05:30",
            "2024-02-29T23:59:60z",
        ] {
            assert!(is_time(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in [
            "",
            "2026-02-22",
            "2026-02-22 20:00:00Z",
            "2026-02-22T20:00:00",
            "2026-02-30T20:00:00Z",
            "2023-02-29T20:00:00Z",
            "2026-13-01T20:00:00Z",
            "2026-02-22T24:00:00Z",
            "2026-02-22T20:00:00.Z",
            "2026-02-22T20:00:00+0000",
            "2026-02-22T20:00:00ZZ",
            "2026-2-22T20:00:00Z9",
            "é026-02-22T20:00:00Z",
            "2026-02-22T20:00:00Zé",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }
}
