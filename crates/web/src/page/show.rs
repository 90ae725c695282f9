//! Numbers as people read them. What is not known is a dash, never a zero.

use skillgauge_core::iteration::Problem;
use skillgauge_core::text;

/// What stands for an unknown number.
pub(crate) const UNKNOWN: &str = "–";

/// `0.873` as `87 %`.
pub(crate) fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(unknown, text::percent)
}

/// Two rates as `80 to 93 %`.
pub(crate) fn percent_range(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(unknown, |(low, high)| {
        let (low, high) = (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0));
        format!("{:.0} to {:.0} %", low * 100.0, high * 100.0)
    })
}

/// A difference of rates as `+12 points`.
pub(crate) fn points(difference: f64) -> String {
    match signed(difference).as_str() {
        "+0" => "0 points".to_owned(),
        one @ ("+1" | "\u{2212}1") => format!("{one} point"),
        points => format!("{points} points"),
    }
}

/// A difference of rates in hundredths, with a true minus sign, which a hyphen is not.
pub(crate) fn signed(difference: f64) -> String {
    // The two decimals that a terminal shows: a half must not become another number here.
    let shown = format!("{difference:.2}").parse().unwrap_or(difference);
    // Not `-0`.
    let points = (shown * 100.0).round() + 0.0;
    format!("{points:+.0}").replacen('-', "\u{2212}", 1)
}

pub(crate) fn seconds(seconds: Option<f64>) -> String {
    seconds.map_or_else(unknown, |seconds| match seconds {
        _ if seconds < 0.0 => unknown(),
        _ if seconds < 1.0 => format!("{:.0} ms", seconds * 1000.0),
        _ if seconds < 120.0 => format!("{seconds:.1} s"),
        _ => format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), (seconds % 60.0).floor()),
    })
}

/// A number without decimals.
pub(crate) fn whole(number: Option<f64>) -> String {
    number.map_or_else(unknown, |number| {
        let digits = format!("{number:.0}");
        digits.parse().map_or(digits, text::grouped)
    })
}

/// The same of a count.
pub(crate) fn count(number: u64) -> String {
    text::grouped(usize::try_from(number).unwrap_or(usize::MAX))
}

/// US dollars.
pub(crate) fn dollars(cost: Option<f64>) -> String {
    cost.map_or_else(unknown, |cost| {
        if cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") }
    })
}

/// A score with one decimal.
pub(crate) fn score(score: Option<f64>) -> String {
    score.map_or_else(unknown, |score| format!("{score:.1}"))
}

/// A size in bytes.
pub(crate) fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "sizes are shown to three digits")]
    let bytes = bytes as f64;
    match bytes {
        _ if bytes < 1024.0 => format!("{bytes:.0} B"),
        _ if bytes < 1_048_576.0 => format!("{:.1} KB", bytes / 1024.0),
        _ => format!("{:.1} MB", bytes / 1_048_576.0),
    }
}

/// `with_skill` as `with skill`.
pub(crate) fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn unknown() -> String {
    UNKNOWN.to_owned()
}

/// A file that could not be used, and why.
pub(crate) fn problem(problem: &Problem) -> (String, String) {
    (problem.file.clone(), problem.message.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_a_dash_and_never_a_zero() {
        for text in [percent(None), seconds(None), whole(None), dollars(None), score(None)] {
            assert_eq!(text, UNKNOWN);
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(percent(Some(0.873)), "87 %");
        assert_eq!(points(-0.126), "\u{2212}13 points");
        assert_eq!((points(0.001), points(-0.001)), ("0 points".into(), "0 points".into()));
        assert_eq!(points(0.01), "+1 point");
        for tie in [0.125, -0.125, 0.375, 0.625] {
            let terminal = format!("{tie:+.2}").replace("0.", "").replace('-', "\u{2212}");
            assert_eq!(signed(tie), terminal);
        }
        assert_eq!((whole(Some(1_234_567.4)), count(999)), ("1,234,567".into(), "999".into()));
        assert_eq!(seconds(Some(0.25)), "250 ms");
        assert_eq!(seconds(Some(125.0)), "2 min 05 s");
        assert_eq!(dollars(Some(0.0123)), "$0.0123");
        assert_eq!(size(1536), "1.5 KB");
    }
}
