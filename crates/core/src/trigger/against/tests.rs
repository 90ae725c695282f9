use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use skillgauge_format::trigger::TriggerMeasurement;
use skillgauge_format::write::to_text;

use super::*;

/// A query with so many triggers, errors and runs.
fn result(query: &str, should_trigger: bool, counts: [u64; 3]) -> QueryResult {
    let [triggers, errors, runs] = counts;
    QueryResult {
        query: query.into(),
        should_trigger,
        triggers,
        errors,
        runs,
        ..QueryResult::default()
    }
}

fn report(results: Vec<QueryResult>) -> TriggerReport {
    TriggerReport { skill_name: "x".into(), results, ..TriggerReport::default() }
}

fn earlier(results: Vec<QueryResult>) -> Earlier {
    Earlier { file: "old.json".into(), report: report(results) }
}

/// So many queries, half of each label, all with as many right runs of 3.
fn equal(queries: usize, right: u64) -> Vec<QueryResult> {
    let query = |number: usize| {
        let label = number.is_multiple_of(2);
        let triggers = if label { right } else { 3 - right };
        result(&number.to_string(), label, [triggers, 0, 3])
    };
    (0..queries).map(query).collect()
}

#[test]
fn a_planted_change_is_found_in_both_directions() {
    let (good, bad) = (equal(10, 3), equal(10, 1));
    let better = earlier(bad.clone()).compare(&report(good.clone()));
    assert_eq!(better.verdict, DifferenceVerdict::Better);
    assert_eq!(better.difference, Some(Number::Float(0.6667)));
    assert_eq!(
        (better.rate, better.earlier_rate),
        (Some(Number::Float(1.0)), Some(Number::Float(0.3333)))
    );
    let worse = earlier(good.clone()).compare(&report(bad));
    assert_eq!(worse.verdict, DifferenceVerdict::Worse);
    let text = sentence(&worse);
    assert!(
        text.starts_with("worse than old.json on these 10 queries: -67 points (95%: -"),
        "{text}"
    );
    assert!(text.ends_with("100 % -> 33 % of runs right"), "{text}");
    let same = earlier(equal(20, 3)).compare(&report(equal(20, 3)));
    assert_eq!(same.verdict, DifferenceVerdict::NoDifference, "{}", sentence(&same));
    let few = earlier(equal(2, 3)).compare(&report(equal(2, 3)));
    assert_eq!(few.verdict, DifferenceVerdict::Undecided);
}

#[test]
fn the_example_of_the_documentation_is_what_comes_out() {
    // 34 and then 51 of 60 runs are right.
    let side = |right: fn(usize) -> u64| -> Vec<QueryResult> {
        (0..20).map(|n| result(&n.to_string(), true, [right(n), 0, 3])).collect()
    };
    let then = Earlier { file: "before.json".into(), ..earlier(side(|n| 1 + u64::from(n < 14))) };
    let found = then.compare(&report(side(|n| 2 + u64::from(n < 11))));
    let text = sentence(&found);
    let page = include_str!("../../../../../docs/trigger.md");
    assert!(page.contains(&text), "docs/trigger.md doesn't say: {text}");
}

#[test]
fn right_means_quiet_for_a_query_that_should_not_trigger() {
    let quiet: Vec<_> = (0..9).map(|n| result(&n.to_string(), false, [0, 0, 3])).collect();
    let loud: Vec<_> = (0..9).map(|n| result(&n.to_string(), false, [3, 0, 3])).collect();
    let found = earlier(quiet).compare(&report(loud));
    assert_eq!(
        (found.verdict, found.difference),
        (DifferenceVerdict::Worse, Some(Number::Float(-1.0)))
    );
}

#[test]
fn a_query_that_only_one_report_measured_is_listed_and_not_compared() {
    let then = vec![
        result("both", true, [3, 0, 3]),
        result("old", true, [3, 0, 3]),
        result("turned", false, [0, 0, 3]),
        result("limited", true, [0, 3, 3]),
        result("half", true, [1, 2, 3]),
    ];
    let now = vec![
        result("both", true, [0, 0, 3]),
        result("new", true, [3, 0, 3]),
        result("turned", true, [3, 0, 3]),
        result("limited", true, [3, 0, 3]),
        result("half", true, [3, 0, 3]),
    ];
    let found = earlier(then).compare(&report(now));
    assert_eq!(found.queries, 2, "the completed run of an undecided query counts");
    let left: Vec<_> = found.left_out.iter().map(|it| (it.query.as_str(), it.reason)).collect();
    assert_eq!(
        left,
        [
            ("new", LeftOutReason::OnlyNow),
            ("turned", LeftOutReason::OtherLabel),
            ("limited", LeftOutReason::UnmeasuredEarlier),
            ("old", LeftOutReason::OnlyEarlier),
        ]
    );
    assert_eq!(left_out(&found)[0], "not compared, not in the earlier report: new");
    let nothing = earlier(vec![]).compare(&report(vec![]));
    assert_eq!(sentence(&nothing), "undecided against old.json: no query can be compared");
}

#[test]
fn a_report_that_can_not_be_compared_is_refused_with_the_reason() {
    let queries = [LabelledQuery::new("a", true)];
    let read = |report: &TriggerReport| {
        let text = to_text(report).unwrap();
        Earlier::read("old.json", text.as_bytes(), "x", &queries).map_err(|e| e.to_string())
    };
    let good = report(vec![result("a", true, [3, 0, 3])]);
    assert!(read(&good).is_ok());
    let other = TriggerReport { skill_name: "y".into(), ..good.clone() };
    assert_eq!(read(&other).unwrap_err(), "it is about the skill `y`, not about `x`");
    for results in [
        vec![],
        vec![result("b", true, [3, 0, 3])],
        vec![result("a", false, [3, 0, 3])],
        vec![result("a", true, [0, 3, 3])],
    ] {
        let error = read(&report(results)).unwrap_err();
        assert!(error.starts_with("it has no measured query"), "{error}");
    }
    let mut saved = good.clone();
    saved.results[0].runs_saved = Some(1);
    assert!(read(&saved).unwrap_err().contains("--early-stop"));
    let many = report(vec![result("a", true, [1_001, 0, 1_001])]);
    assert!(read(&many).unwrap_err().contains("at most 1000 can be compared"));
    let error = Earlier::read("r.json", b"{\"format\": 1}", "x", &queries).unwrap_err();
    assert!(error.to_string().starts_with("it can't be read as a trigger report"), "{error}");
}

#[test]
fn one_query_that_lost_its_runs_does_not_hide_what_the_others_can_show() {
    let mut results = equal(20, 3);
    results[0] = result("0", true, [1, 2, 3]);
    let queries: Vec<LabelledQuery> =
        results.iter().map(|it| LabelledQuery::new(&it.query, it.should_trigger)).collect();
    let design = earlier(results).design(&queries, 3);
    assert_eq!((design.cases, design.runs), (20, 2), "58 runs of 20 queries");
    assert_eq!(earlier(equal(20, 3)).design(&queries, 5), Design::new(20, 3));
}

#[test]
fn another_agent_or_model_is_told() {
    let by = |model: &str| TriggerReport {
        measurement: Some(TriggerMeasurement {
            model: Some(model.into()),
            ..TriggerMeasurement::default()
        }),
        ..report(vec![])
    };
    let then = Earlier { file: "old.json".into(), report: by("small") };
    assert_eq!(then.confounders(&by("small")), Vec::<String>::new());
    let said = then.confounders(&by("large"));
    assert!(said[0].contains("another model (small, now large)"), "{said:?}");
}

/// Runs of a query: each errors with the first chance, and is right with the second.
fn drawn(number: usize, chances: [f64; 2], runs: u64, random: &mut ChaCha8Rng) -> QueryResult {
    let mut is = |chance: f64| f64::from(random.next_u32()) < chance * f64::from(u32::MAX);
    let label = number.is_multiple_of(2);
    let (mut triggers, mut errors) = (0, 0);
    for _ in 0..runs {
        if is(chances[0]) {
            errors += 1;
        } else {
            triggers += u64::from(is(chances[1]) == label);
        }
    }
    result(&number.to_string(), label, [triggers, errors, runs])
}

/// How often 20 queries x 3 runs claim a difference in either direction, and how often they say that it is better.
fn claims(then: [f64; 2], now: [f64; 2], seed: u64) -> [usize; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut found = [0, 0];
    for _ in 0..500 {
        let mut side = |chances| (0..20).map(|n| drawn(n, chances, 3, &mut random)).collect();
        let (then, now): (Vec<_>, Vec<_>) = (side(then), side(now));
        // What `compare` does, without the power of the design, which takes a while.
        let (cases, _) = matched(&now, &then);
        let verdict = judged(WithinCases::of(&cases, DEFAULT_SEED).as_ref());
        found[0] +=
            usize::from(matches!(verdict, DifferenceVerdict::Better | DifferenceVerdict::Worse));
        found[1] += usize::from(verdict == DifferenceVerdict::Better);
    }
    found
}

#[test]
fn equal_reports_claim_a_difference_in_at_most_one_of_twenty() {
    // Of 500: 25 are 5 %; 37 is where chance alone gets in one of a hundred tests.
    for (seed, (then, now)) in [
        ([0.0, 0.7], [0.0, 0.7]),
        ([0.0, 0.9], [0.0, 0.9]),
        ([0.0, 0.7], [0.3, 0.7]),
        ([0.5, 0.8], [0.1, 0.8]),
    ]
    .into_iter()
    .enumerate()
    {
        let [claimed, _] = claims(then, now, seed as u64);
        assert!(claimed <= 37, "{claimed} of 500 with {then:?} and {now:?}");
    }
}

#[test]
fn what_the_design_line_promises_is_found() {
    let design = Design::new(20, 3);
    let least = design.resolvable().unwrap();
    let line = can_show(design, "20 queries");
    let points = 100.0 * least;
    assert_eq!(
        line,
        format!("20 queries x 3 runs: `--against` can show a change of {points:.0} points or more")
    );
    let page = include_str!("../../../../../docs/trigger.md");
    assert!(page.contains(&line), "docs/trigger.md doesn't say: {line}");
    let [_, better] = claims([0.0, 0.5 - least / 2.0], [0.0, 0.5 + least / 2.0], 7);
    assert!(better >= 375, "{better} of 500 at {points} points");
    assert!(can_show(Design::new(2, 1), "2 queries").contains("too few for `--against`"));
}
