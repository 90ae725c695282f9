//! The statistics against reference values of scipy, and what must hold for all inputs.

use proptest::prelude::*;
use serde_json::Value;
use skillgauge_format::evals::DifferenceVerdict;

use super::special::{student_cdf, student_quantile};
use super::*;

const GOLDEN: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/statistics.json"));

/// The entries of one list of the reference file; an empty list would test nothing.
fn golden(list: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(GOLDEN).unwrap();
    let entries = all[list].as_array().unwrap().clone();
    assert!(!entries.is_empty(), "{list}");
    entries
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(float).collect()
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64, what: &Value) {
    let scale = expected.abs().max(1.0);
    assert!((found - expected).abs() <= tolerance * scale, "{found} is not {expected}: {what}");
}

#[track_caller]
fn assert_interval(found: Option<Interval>, expected: &Value, what: &Value) {
    match found {
        None => assert!(expected.is_null(), "{what}"),
        Some(found) => {
            assert_near(found.low, float(&expected[0]), 1e-9, what);
            assert_near(found.high, float(&expected[1]), 1e-9, what);
        }
    }
}

#[test]
fn wilson_intervals_are_those_of_scipy() {
    for entry in golden("wilson") {
        let found = wilson(count(&entry["successes"]), count(&entry["trials"]));
        assert_interval(found, &entry["interval"], &entry);
    }
    assert_eq!(wilson(0, 0), None);
    assert_eq!(wilson(2, 1), None);
}

#[test]
fn means_deviations_and_their_intervals_are_those_of_scipy() {
    for entry in golden("spread") {
        let values = floats(&entry["values"]);
        let spread = Spread::of(&values).unwrap();
        assert_near(spread.mean, float(&entry["mean"]), 1e-12, &entry);
        assert_near(spread.deviation, float(&entry["deviation"]), 1e-12, &entry);
        assert_interval(mean_interval(&values), &entry["interval"], &entry);
    }
    assert_eq!(Spread::of(&[]), None);
    assert_eq!(Spread::of(&[1.0, f64::NAN]), None);
}

#[test]
fn student_t_is_that_of_scipy() {
    for entry in golden("student") {
        let freedom = float(&entry["freedom"]);
        assert_near(student_cdf(float(&entry["t"]), freedom), float(&entry["cdf"]), 1e-11, &entry);
        let quantile = student_quantile(0.975, freedom);
        assert_near(quantile, float(&entry["quantile_975"]), 1e-10, &entry);
    }
}

#[test]
fn sign_and_mcnemar_tests_are_the_exact_binomial_test_of_scipy() {
    for entry in golden("sign_tests") {
        let (first, second) = (count(&entry["first"]), count(&entry["second"]));
        assert_near(sign_test(first, second), float(&entry["p_value"]), 1e-10, &entry);
        assert_near(mcnemar(second, first), float(&entry["p_value"]), 1e-10, &entry);
    }
}

#[test]
fn permutation_tests_are_those_of_scipy_exactly_for_few_cases_and_nearly_for_many() {
    for entry in golden("permutation") {
        let differences = floats(&entry["differences"]);
        let (p_value, method) = sign_flip(&differences, DEFAULT_SEED);
        // Its own p-values of many cases are samples.
        let tolerance = if differences.len() <= 16 { 1e-12 } else { 0.02 };
        assert_near(p_value, float(&entry["p_value"]), tolerance, &entry);
        assert_eq!(method, Method::Exact, "{entry}");
        // The same with numbers that have no common part.
        let odd: Vec<f64> =
            differences.iter().map(|value| value * 1.000_000_1_f64.sqrt()).collect();
        let (sampled, _) = sign_flip(&odd, DEFAULT_SEED);
        assert_near(sampled, p_value, 0.005, &entry);
    }
    assert_eq!(sign_flip(&[1.0], 1), (1.0, Method::Exact), "either sign is as far from zero");
    assert_eq!(PairedDifference::of(&[], 1), None);
}

#[test]
fn pass_at_k_and_pass_all_k_are_the_unbiased_estimates() {
    for entry in golden("attempts") {
        let [attempts, passed, k] = ["attempts", "passed", "k"].map(|key| count(&entry[key]));
        let any = pass_at_k(attempts, passed, k).unwrap();
        let all = pass_all_k(attempts, passed, k).unwrap();
        assert_near(any, float(&entry["any"]), 1e-12, &entry);
        assert_near(all, float(&entry["all"]), 1e-12, &entry);
    }
    assert_eq!(pass_at_k(2, 1, 3), None, "three attempts cannot be judged from two");
    assert_eq!(pass_all_k(2, 1, 0), None);
}

#[test]
fn kappa_is_that_of_scikit_learn_and_undefined_for_a_constant() {
    for entry in golden("kappa") {
        let ratings: Vec<(usize, usize)> = entry["first"]
            .as_array()
            .unwrap()
            .iter()
            .zip(entry["second"].as_array().unwrap())
            .map(|(first, second)| (count(first), count(second)))
            .collect();
        assert_near(cohens_kappa(&ratings).unwrap(), float(&entry["kappa"]), 1e-12, &entry);
    }
    assert_eq!(cohens_kappa(&[(1, 1), (1, 1)]), None);
    assert_eq!(cohens_kappa::<u8>(&[]), None);
}

#[test]
fn the_area_under_the_curve_is_that_of_scipy() {
    for entry in golden("area_under_curve") {
        let area = area_under_curve(&floats(&entry["positive"]), &floats(&entry["negative"]));
        assert_near(area.unwrap(), float(&entry["area"]), 1e-12, &entry);
    }
    assert_eq!(area_under_curve(&[], &[1.0]), None);
    assert_eq!(area_under_curve(&[f64::NAN], &[1.0]), None);
}

#[test]
fn classification_is_that_of_scikit_learn_and_never_perfect_by_default() {
    for entry in golden("classification") {
        let counts = &entry["counts"];
        let confusion = Confusion {
            true_positive: count(&counts[0]),
            false_positive: count(&counts[1]),
            false_negative: count(&counts[2]),
            true_negative: count(&counts[3]),
        };
        for (found, key) in [
            (confusion.precision(), "precision"),
            (confusion.recall(), "recall"),
            (confusion.f1(), "f1"),
            (confusion.accuracy(), "accuracy"),
        ] {
            assert_near(found.unwrap(), float(&entry[key]), 1e-12, &entry);
        }
    }
    let nothing = Confusion { true_negative: 3, ..Confusion::default() };
    assert_eq!((nothing.precision(), nothing.recall(), nothing.f1()), (None, None, None));
    assert_eq!(Confusion::default().accuracy(), None);
}

#[test]
fn runs_of_a_case_are_averaged_before_cases_are_compared() {
    assert_eq!(case_difference(&[1.0, 0.0], &[0.0, 0.0, 0.0]), Some(0.5));
    let thirds = [1.0 / 3.0, 1.0, 2.0 / 3.0];
    let same = [2.0 / 3.0, 1.0 / 3.0, 1.0];
    assert_eq!(case_difference(&thirds, &same), Some(0.0), "the order of runs is no difference");
    assert_eq!(case_difference(&[], &[1.0]), None);
}

fn verdict(differences: &[f64]) -> DifferenceVerdict {
    judge(PairedDifference::of(differences, DEFAULT_SEED).as_ref())
}

#[test]
fn the_verdict_needs_a_proof_in_each_direction() {
    assert_eq!(verdict(&[]), DifferenceVerdict::Undecided);
    assert_eq!(verdict(&[1.0; 5]), DifferenceVerdict::Undecided, "2 / 32 is not below 0.05");
    assert_eq!(verdict(&[1.0; 6]), DifferenceVerdict::Better);
    assert_eq!(verdict(&[-0.3, -0.5, -0.1, -0.9, -0.2, -0.4, 0.05]), DifferenceVerdict::Worse);
    // Six cases without a difference leave room for 46 % of tasks with one.
    assert_eq!(verdict(&[0.0; 6]), DifferenceVerdict::Undecided);
    assert_eq!(verdict(&[0.0; 40]), DifferenceVerdict::NoDifference);
    assert_eq!(verdict(&[0.05, -0.05, 0.02, -0.02, 0.0, 0.01]), DifferenceVerdict::NoDifference);
    // Not significant, but a large difference is not ruled out either.
    assert_eq!(verdict(&[1.0, -1.0, 0.5, 0.0, -0.5, 1.0]), DifferenceVerdict::Undecided);
}

#[test]
fn one_in_twenty_exactly_is_enough() {
    let runs = |passed: usize| (0..3).map(|run| number(usize::from(run < passed))).collect();
    let cases = [[3, 0], [2, 1], [3, 2]]
        .map(|[with, without]| CaseRuns { with: runs(with), without: runs(without) });
    // 400 of 8,000 deals.
    let found = WithinCases::of(&cases, 1).unwrap();
    assert_near(found.p_value, 0.05, 1e-12, &Value::Null);
    let verdict = |mean| conclude(found.p_value, mean, found.interval, EQUIVALENCE_MARGIN);
    assert_eq!(verdict(found.difference), DifferenceVerdict::Better);
    assert_eq!(verdict(-found.difference), DifferenceVerdict::Worse);
    assert!(found.interval.unwrap().low >= 0.0);
}

#[test]
fn the_seed_decides_a_sample_and_nothing_else() {
    let differences: Vec<f64> = (0..30).map(|index| f64::from(index % 7).sqrt() - 1.3).collect();
    assert_eq!(sign_flip(&differences, 1), sign_flip(&differences, 1));
    assert_ne!(sign_flip(&differences, 1).0.to_bits(), sign_flip(&differences, 2).0.to_bits());
    assert_eq!(bootstrap_interval(&differences, 3), bootstrap_interval(&differences, 3));
    assert_eq!(bootstrap_interval(&[1.0], 3), None);
}

#[test]
fn a_bootstrap_interval_is_near_students_for_values_that_are_nearly_normal() {
    for entry in golden("spread") {
        let values = floats(&entry["values"]);
        if values.len() < 100 {
            continue;
        }
        let (student, bootstrap) =
            (mean_interval(&values).unwrap(), bootstrap_interval(&values, 1).unwrap());
        let width = student.high - student.low;
        assert!((student.low - bootstrap.low).abs() < 0.1 * width, "{student:?} {bootstrap:?}");
        assert!((student.high - bootstrap.high).abs() < 0.1 * width, "{student:?} {bootstrap:?}");
    }
}

proptest! {
    #[test]
    fn a_rate_lies_in_its_interval((successes, trials) in (1_usize..500).prop_flat_map(|n| (0..=n, Just(n)))) {
        let interval = wilson(successes, trials).unwrap();
        let rate = number(successes) / number(trials);
        prop_assert!(0.0 <= interval.low && interval.low <= rate);
        prop_assert!(rate <= interval.high && interval.high <= 1.0);
    }

    #[test]
    fn a_probability_is_one_and_the_sign_does_not_matter(differences in prop::collection::vec(-1.0_f64..1.0, 1..12)) {
        let (p_value, _) = sign_flip(&differences, 1);
        let turned: Vec<f64> = differences.iter().map(|value| -value).collect();
        prop_assert!(p_value > 0.0 && p_value <= 1.0);
        prop_assert_eq!(p_value.to_bits(), sign_flip(&turned, 1).0.to_bits());
    }

    #[test]
    fn all_of_k_is_never_likelier_than_one_of_k((n, c, k) in (1_usize..40).prop_flat_map(|n| (Just(n), 0..=n, 1..=n))) {
        let (any, all) = (pass_at_k(n, c, k).unwrap(), pass_all_k(n, c, k).unwrap());
        prop_assert!((0.0..=1.0).contains(&any) && (0.0..=1.0).contains(&all));
        prop_assert!(all <= any + 1e-12);
    }

    #[test]
    fn the_order_of_values_changes_no_mean(mut values in prop::collection::vec(-1e6_f64..1e6, 1..50)) {
        let forward = Spread::of(&values).unwrap().mean;
        values.reverse();
        let backward = Spread::of(&values).unwrap().mean;
        prop_assert!((forward - backward).abs() <= 1e-10 * forward.abs().max(1.0));
    }
}

#[test]
fn dealing_runs_within_cases_is_as_enumerated() {
    for entry in golden("within") {
        let cases: Vec<CaseRuns> = entry["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| CaseRuns { with: floats(&case[0]), without: floats(&case[1]) })
            .collect();
        let found = WithinCases::of(&cases, 1).unwrap();
        let (upper, _) = permutation_test(&cases, Tail::Upper, 1);
        // A sample of 200,000 is good to a third of a point.
        let tolerance = if found.method == Method::Exact { 1e-9 } else { 0.004 };
        assert_near(found.difference, float(&entry["difference"]), 1e-9, &entry);
        assert_near(found.p_value, float(&entry["two_sided"]), tolerance, &entry);
        assert_near(upper, float(&entry["upper"]), tolerance, &entry);
    }
}

#[test]
fn the_smallest_p_value_is_that_of_runs_that_all_agree() {
    let all = vec![CaseRuns { with: vec![1.0; 3], without: vec![0.0; 3] }; 3];
    let found = WithinCases::of(&all, 0).unwrap();
    assert_eq!(found.method, Method::Exact);
    assert!((found.p_value - smallest_p_value(&[[3, 3]; 3], Tail::Both)).abs() < 1e-12);
    assert!((found.p_value - 2.0 / 8000.0).abs() < 1e-12);
    assert!(smallest_p_value(&[[1, 1]; 5], Tail::Both) > SIGNIFICANCE);
    assert!(smallest_p_value(&[[1, 1]; 6], Tail::Both) <= SIGNIFICANCE);
}

/// Review 02 A16: case means with a deviation of 0.12 have an interval of about 20 points, not of 52.
#[test]
fn the_interval_of_an_arm_follows_the_spread_of_its_cases() {
    let cases = [0.60, 0.64, 0.68, 0.72, 0.76, 0.80, 0.84, 0.88];
    let found = cluster_interval(&cases).unwrap();
    let student = mean_interval(&cases).unwrap();
    assert!((found.low - student.low).abs() < 0.05 && (found.high - student.high).abs() < 0.05);
    // All cases alike is no proof of certainty.
    let alike = cluster_interval(&[1.0; 3]).unwrap();
    assert!(alike.low < 0.6 && alike.high >= 1.0, "{alike:?}");
}
