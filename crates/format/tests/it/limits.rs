//! Hostile and broken files: an error, quickly, and no panic.

use std::time::{Duration, Instant};

use skillgauge_format::{Dialect, Kind, LIMITS, Suite};

use crate::fixture;

/// Far more than any of these takes, even in a debug build on a busy machine.
const LONG: Duration = Duration::from_mins(1);

fn only_problem(kind: Kind, bytes: &[u8]) -> String {
    let start = Instant::now();
    let problems = kind.check(bytes);
    assert!(start.elapsed() < LONG, "took {:?}", start.elapsed());
    assert_eq!(
        (problems.list().len(), problems.omitted(), problems.errors()),
        (1, 0, 1),
        "{problems}"
    );
    problems.to_string()
}

#[test]
fn every_prefix_of_every_fixture_is_an_error() {
    for fixture in fixture::good() {
        let whole = fixture.bytes.trim_ascii_end().len();
        for length in 0..whole {
            let prefix = &fixture.bytes[..length];
            let problems = fixture.kind.check(prefix);
            assert!(problems.errors() > 0, "{} cut at {length}", fixture.name);
            assert!(Suite::read(prefix).is_err());
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let text = open.repeat(100_000);
        let problem = only_problem(Kind::TriggerSet, text.as_bytes());
        assert!(problem.ends_with("nested deeper than 128 levels, the limit"), "{problem}");
        assert!(Dialect::detect(text.as_bytes()).is_err());
    }
    let deepest = format!("{}{}", "[".repeat(LIMITS.depth), "]".repeat(LIMITS.depth));
    assert!(!Kind::TriggerSet.check(deepest.as_bytes()).to_string().contains("nested"));
}

#[test]
fn a_file_of_100_mb_is_refused_before_it_is_looked_at() {
    let text = vec![b' '; 100 * 1000 * 1000];
    assert_eq!(
        only_problem(Kind::Benchmark, &text),
        "1:1: $: the file has 100000000 bytes (96 MiB), the limit is 64 MiB"
    );
    assert!(LIMITS.check_size(LIMITS.bytes as u64).is_ok());
    assert!(LIMITS.check_size(LIMITS.bytes as u64 + 1).is_err());
    assert!(LIMITS.check_size(u64::MAX).is_err());
}

#[test]
fn a_file_of_too_many_values_is_refused() {
    let text = format!("[{}1]", "1,".repeat(LIMITS.values));
    let problem = only_problem(Kind::TriggerSet, text.as_bytes());
    assert!(problem.ends_with("more than 4000000 values, the limit"), "{problem}");
}

#[test]
fn thousands_of_problems_are_counted_and_not_all_kept() {
    let text = format!("[{}1]", "1,".repeat(50_000));
    let problems = Kind::TriggerSet.check(text.as_bytes());
    assert_eq!((problems.list().len(), problems.omitted()), (200, 49_801));
    assert!(problems.to_string().ends_with("\nand 49801 more"));
}

#[test]
fn wide_objects_and_long_keys_take_linear_time() {
    let start = Instant::now();
    let members: Vec<_> = (0..200_000).map(|number| format!("\"evalz{number}\": 1")).collect();
    let text =
        format!("{{\"evals\": [], {}, \"{}\": 1}}", members.join(","), "k".repeat(1_000_000));
    assert!(Suite::read(text.as_bytes()).is_ok());
    let same = format!("{{{}\"evals\": []}}", "\"a\": 1,".repeat(100_000));
    let problems = Kind::EvalsSuite.check(same.as_bytes());
    assert_eq!(problems.errors(), 99_999);
    let line = format!("[{}]", "{\"query\": 1}, ".repeat(30_000).trim_end_matches(", "));
    assert_eq!(Kind::TriggerSet.check(line.as_bytes()).list().len(), 200);
    assert!(start.elapsed() < LONG, "took {:?}", start.elapsed());
}

#[test]
fn text_of_any_sort_is_an_error_and_no_panic() {
    for text in [
        "\0",
        "\u{feff}",
        "\u{feff}\u{feff}{}",
        "{\"\\ud800",
        "\"",
        "\\",
        "{\"a\":\u{a0}1}",
        "[1 2]",
        "]",
        "-",
    ] {
        for kind in Kind::all() {
            assert!(kind.check(text.as_bytes()).errors() > 0, "{kind} {text:?}");
        }
    }
}
