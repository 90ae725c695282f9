//! Verdicts, cases, notes, feedback.

use serde_json::json;
use skillgauge_format::evals::{Always, DifferenceVerdict, PrimaryOutcome, TestMethod};
use skillgauge_format::json::Number;
use skillgauge_format::part::EvalId;

use super::*;
use crate::benchmark::Answer;
use crate::output::Style;
use skillgauge_format::evals::Verdict;

/// Six cases with two runs each; the skill passes all, the baseline none.
fn clear_win() -> Folder {
    let folder = Folder::new();
    for case in 1..=6 {
        for run in 1..=2 {
            folder.run(&format!("eval-{case}/with_skill/run-{run}"), &[true, true]);
            folder.run(&format!("eval-{case}/without_skill/run-{run}"), &[false, true]);
        }
    }
    folder
}

#[test]
fn a_clear_win_is_better_and_a_clear_loss_is_worse() {
    let found = clear_win().aggregate();
    let [difference] = differences(&found) else { panic!("one baseline") };
    let Verdict { on_suite, beyond, .. } = &difference.verdict;
    assert_eq!(on_suite.verdict, DifferenceVerdict::Better);
    assert_eq!((difference.cases, difference.wins, difference.losses), (6, 6, 0));
    assert_eq!(on_suite.difference, Some(Number::Float(0.5)));
    // 2 / 6^6: two of four runs can be dealt in six ways.
    assert_eq!(
        (on_suite.p, on_suite.method),
        (Some(Number::Float(4.3e-5)), Some(TestMethod::Exact))
    );
    // 2 / 2^6
    assert_eq!((beyond.p, beyond.cases_needed), (Some(Number::Float(0.0312)), 0));
    assert_eq!(beyond.verdict, Some(DifferenceVerdict::Better));
    assert_eq!(found.answer(), Answer::Fine);

    let folder = Folder::new();
    for case in 1..=6 {
        folder.run(&format!("eval-{case}/with_skill/run-1"), &[false]);
        folder.run(&format!("eval-{case}/old_skill/run-1"), &[true]);
    }
    let found = folder.aggregate();
    assert_eq!(differences(&found)[0].verdict.on_suite.verdict, DifferenceVerdict::Worse);
    assert_eq!(found.answer(), Answer::Worse);
    assert_note(&found, "worse with the skill: eval 1 (-100)");
    assert_note(
        &found,
        "6 expectations held in old_skill and never with the skill: \"e0\" of eval 1",
    );
}

/// Review 02 A4: people with three cases get an answer for these, and hear what it takes to say more.
#[test]
fn three_cases_are_enough_for_these_and_not_for_others() {
    let folder = Folder::new();
    for case in 1..=3 {
        for run in 1..=3 {
            folder.run(&format!("eval-{case}/with_skill/run-{run}"), &[true]);
            folder.run(&format!("eval-{case}/without_skill/run-{run}"), &[false]);
        }
    }
    let found = folder.aggregate();
    let Verdict { on_suite, beyond, .. } = &differences(&found)[0].verdict;
    assert_eq!(on_suite.verdict, DifferenceVerdict::Better);
    // 2 / 20^3
    assert_eq!(on_suite.p, Some(Number::Float(0.00025)));
    assert_eq!((beyond.verdict, beyond.p, beyond.cases_needed), (None, None, 3));
    let sentence = &differences(&found)[0].sentence;
    assert!(
        sentence.starts_with("Better on these 3 cases: pass rate +100 points (95%: +"),
        "{sentence}"
    );
    assert!(
        sentence.ends_with("3 cases can't say how it does on other tasks; add 3 more."),
        "{sentence}"
    );
    assert_note(&found, "Better on these 3 cases");
}

/// Where more runs would help it says so, where only cases would it doesn't.
#[test]
fn what_is_lacking_is_named() {
    let mixed = |cases: usize, runs: usize| {
        let folder = Folder::new();
        for case in 1..=cases {
            for run in 1..=runs {
                folder.run(&format!("eval-{case}/with_skill/run-{run}"), &[run % 2 == 0]);
                folder.run(&format!("eval-{case}/without_skill/run-{run}"), &[run % 3 == 0]);
            }
        }
        differences(&folder.aggregate())[0].sentence.clone()
    };
    let sentence = mixed(1, 2);
    assert!(sentence.starts_with("Undecided on this case"), "{sentence}");
    assert!(sentence.contains("Not enough runs: no result of so few could decide."), "{sentence}");
    let sentence = mixed(3, 4);
    assert!(sentence.contains("Not enough runs: these can show "), "{sentence}");
    assert!(sentence.contains("runs of each case would show "), "{sentence}");
}

/// Review 02 A1: 8 of 8 cases whose quality goes from 2 to 5 are no tie because a check passes in both arms.
#[test]
fn quality_decides_where_the_suite_scores_it() {
    let rubric = |score: u8| {
        let mut grading = grading(&[true]);
        let normalized = f64::from(score) / 5.0;
        grading["rubric_scores"] = json!({"clarity": {"score": score, "evidence": "x"}});
        grading["rubric_summary"] =
            json!({"weighted_mean": score, "max_possible": 5, "normalized": normalized});
        grading
    };
    let folder = Folder::new();
    for case in 1..=8 {
        for run in 1..=2 {
            let at = |arm: &str| format!("eval-{case}/{arm}/run-{run}/grading.json");
            folder.json(&at("with_skill"), &rubric(5)).json(&at("without_skill"), &rubric(2));
        }
    }
    let found = folder.aggregate();
    let difference = &differences(&found)[0];
    assert_eq!(difference.verdict.outcome, PrimaryOutcome::OverallEfficiency);
    assert_eq!(difference.verdict.on_suite.verdict, DifferenceVerdict::Better);
    assert_eq!(difference.verdict.on_suite.difference, Some(Number::Float(0.3)));
    assert!(
        difference.sentence.contains("overall efficiency +30 points"),
        "{}",
        difference.sentence
    );
    let secondary = &difference.secondary;
    assert_eq!(secondary["pass_rate"].difference, Number::Float(0.0));
    assert_eq!(secondary["rubric_normalized"].difference, Number::Float(0.6));
    assert_eq!(secondary["rubric.clarity"].difference, Number::Float(3.0));
    let [low, high] = secondary["rubric.clarity"].interval.unwrap().map(Number::as_f64);
    assert!(low > 0.0 && high <= 4.0, "{low} {high}");
    // Another outcome is another question.
    let settings = Settings { primary: Some(PrimaryOutcome::PassRate), ..settings() };
    let found = aggregate(&folder.iteration(), &settings).unwrap();
    assert_eq!(differences(&found)[0].verdict.outcome, PrimaryOutcome::PassRate);
    assert_ne!(differences(&found)[0].verdict.on_suite.verdict, DifferenceVerdict::Better);
}

/// The `cases` dialect is decided by its scores, which are shown as such.
#[test]
fn scores_from_1_to_5_decide_and_a_crash_scores_lowest() {
    let scored = |score: u8| {
        json!({
            "case_id": "c", "version": 0, "run": 1, "overall": "pass", "overall_score": score, "required_score": score,
            "results": [{"criterion": "a", "passed": true, "score": score, "reasoning": "x"}],
        })
    };
    let folder = Folder::new();
    for case in 1..=8 {
        let at = |arm: &str| format!("eval-{case}/{arm}/run-1/grading.json");
        folder.json(&at("with_skill"), &scored(5)).json(&at("without_skill"), &scored(3));
    }
    let found = folder.aggregate();
    let difference = &differences(&found)[0];
    assert_eq!(difference.verdict.outcome, PrimaryOutcome::OverallScore);
    assert_eq!(difference.mean, Some(Number::Float(5.0)));
    assert_eq!(difference.verdict.on_suite.difference, Some(Number::Float(2.0)));
    assert_eq!(difference.verdict.on_suite.verdict, DifferenceVerdict::Better);
    assert!(
        difference.sentence.contains("overall score +2.00 on a scale of 1 to 5"),
        "{}",
        difference.sentence
    );
    // A run that the agent crashed in has no score, and must not raise the mean by being left out.
    fs_err::remove_file(folder.iteration().join("eval-1/with_skill/run-1/grading.json")).unwrap();
    folder.outcome("eval-1/with_skill/run-1", "failed", "crashed");
    let found = folder.aggregate();
    assert_eq!(differences(&found)[0].mean, Some(Number::Float(4.5)));
}

/// Nothing differs: the margin decides whether that is shown.
#[test]
fn no_difference_is_claimed_only_within_the_margin() {
    let folder = Folder::new();
    for case in 1..=10 {
        for run in 1..=10 {
            folder.run(&format!("eval-{case}/with_skill/run-{run}"), &[run % 2 == 0]);
            folder.run(&format!("eval-{case}/without_skill/run-{run}"), &[run % 2 == 1]);
        }
    }
    let verdict = |margin: f64| {
        let settings = Settings { margin: Some(margin), ..settings() };
        let found = aggregate(&folder.iteration(), &settings).unwrap();
        differences(&found)[0].verdict.on_suite.verdict
    };
    assert_eq!(verdict(0.2), DifferenceVerdict::NoDifference);
    assert_eq!(verdict(0.05), DifferenceVerdict::Undecided);
}

#[test]
fn a_case_that_lost_an_arm_is_in_neither_rate_and_is_named() {
    let folder = Folder::new();
    for case in 1..=12 {
        for run in 1..=3 {
            let with = format!("eval-{case}/with_skill/run-{run}");
            let without = format!("eval-{case}/without_skill/run-{run}");
            if case <= 8 {
                folder.run(&with, &[true; 5]).run(&without, &[true, true, true, true, false]);
            } else {
                // The skill fails where the baseline was overloaded: over all runs the skill looks worse.
                folder.run(&with, &[true, false, false, false, false]);
                folder.run(&without, &[true; 5]).outcome(&without, "failed", "overloaded");
            }
        }
    }
    let found = folder.aggregate();
    let difference = &differences(&found)[0];
    let on_suite = &difference.verdict.on_suite;
    let rates = [difference.mean, difference.baseline_mean, on_suite.difference];
    assert_eq!(rates.map(Option::unwrap), [1.0, 0.8, 0.2].map(Number::Float));
    assert_eq!((difference.cases, on_suite.verdict), (8, DifferenceVerdict::Better));
    assert_eq!(difference.not_comparable, [9, 10, 11, 12].map(EvalId::Number));
    let with = &found.summary.statistics.configurations["with_skill"];
    assert_eq!((with.cases, with.runs, with.not_compared, with.unmeasured), (8, 24, 12, 0));
    assert_eq!((with.passed, with.pass_rate.as_ref().unwrap().mean), (24, Number::Float(1.0)));
    // The public script's own formula is over all runs.
    assert_eq!(as_json(&found)["run_summary"]["delta"]["pass_rate"], "-0.07");
    for shown in [found.summary_text(Style::Plain), found.to_markdown()] {
        assert!(shown.contains("+20 points") && !shown.contains("-7"), "{shown}");
        assert!(shown.contains("100 %") && !shown.contains("73 %"), "{shown}");
        assert!(shown.contains("4 cases are not comparable"), "{shown}");
    }
}

#[test]
fn without_a_single_pair_the_measurement_is_broken() {
    let folder = Folder::new();
    folder.run("eval-1/with_skill/run-1", &[true]).outcome(
        "eval-1/without_skill/run-1",
        "failed",
        "authentication",
    );
    assert_eq!(folder.aggregate().answer(), Answer::Broken);
    let folder = Folder::new();
    folder.outcome("eval-1/with_skill/run-1", "failed", "authentication");
    assert_eq!(folder.aggregate().answer(), Answer::Broken);
    let folder = Folder::new();
    folder.run("eval-1/with_skill/run-1", &[false]);
    assert_eq!(folder.aggregate().answer(), Answer::Fine, "a skill alone is an answer too");
}

#[test]
fn the_runs_that_loaded_the_skill_are_shown_and_are_no_comparison() {
    let folder = clear_win();
    let end = |loaded: &[&str]| {
        let end = json!({
            "type": "end", "outcome": "completed", "reason": "completed", "skills_requested": [],
            "skills_loaded": loaded, "skills_denied": [], "skills_touched": [], "tool_calls": {},
            "permission_denials": 0, "usage": null, "cost_usd": null, "errors": [], "lines": 3,
            "final_text": "x".repeat(40_000),
        });
        format!(
            "{{\"format\": \"transcript\", \"model\": \"opus\"}}\n{{\"type\": \"text\"}}\n{end}\n"
        )
    };
    for case in 1..=6 {
        // In its second run the skill was there, not loaded, and the task failed.
        folder
            .file(
                &format!("eval-{case}/with_skill/run-1/transcript.jsonl"),
                &end(&["plugin:testing"]),
            )
            .file(&format!("eval-{case}/with_skill/run-2/transcript.jsonl"), &end(&["other"]))
            .run(&format!("eval-{case}/with_skill/run-2"), &[false, false]);
    }
    folder.file("eval-1/without_skill/run-1/transcript.jsonl", &end(&["testing"]));
    let found = folder.aggregate();
    let [difference] = differences(&found) else { panic!("one difference") };
    assert_eq!(difference.verdict.on_suite.difference, Some(Number::Float(0.0)));
    let loaded = difference.loaded.as_ref().unwrap();
    assert_eq!((loaded.runs, loaded.of, loaded.cases), (6, 12, 6));
    assert_eq!([loaded.mean, loaded.baseline_mean], [1.0, 0.5].map(|it| Some(Number::Float(it))));
    for shown in [found.summary_text(Style::Plain), found.to_markdown()] {
        assert!(shown.contains("the skill was loaded in 6 of 12 runs"), "{shown}");
        assert!(shown.contains("(no fair comparison)"), "{shown}");
    }
    assert_note(&found, "the skill was not loaded in 6 of 12 runs of with_skill");
    assert_note(
        &found,
        "the skill was loaded in 1 run of without_skill: the baseline is contaminated",
    );
    let metadata = &found.summary.metadata;
    assert_eq!(metadata.executor_model.as_deref(), Some("opus"));
}

#[test]
fn a_record_that_says_whether_the_skill_was_loaded_needs_no_transcript() {
    let folder = clear_win();
    folder.json(
        "eval-1/with_skill/run-1/run.json",
        &json!({"format": "run", "outcome": "completed", "reason": "completed", "skill_loaded": false}),
    );
    let found = folder.aggregate();
    assert_note(&found, "the skill was not loaded in 1 of 1 runs of with_skill");
}

#[test]
fn cases_that_pass_only_sometimes_are_flaky_and_have_a_chance_in_k_attempts() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true])
        .run("eval-1/with_skill/run-2", &[false])
        .run("eval-1/with_skill/run-3", &[true])
        .run("eval-2/with_skill/run-1", &[true])
        .run("eval-2/with_skill/run-2", &[true]);
    let found = folder.aggregate();
    assert_note(&found, "flaky in with_skill: eval 1 (2 of 3 passed)");
    let statistics = &found.summary.statistics;
    let attempts: Vec<[f64; 2]> = statistics.configurations["with_skill"]
        .pass_at_k
        .iter()
        .map(|found| [found.any.as_f64(), found.all.as_f64()])
        .collect();
    // k = 1: (2/3 + 1) / 2. k = 2: one of 3 pairs of case 1 passes in full. Case 2 has no third run.
    assert_eq!(attempts, [[0.8333, 0.8333], [1.0, 0.6667]]);
    assert!(statistics.cases[0].configurations["with_skill"].flaky);
    assert!(!statistics.cases[1].configurations["with_skill"].flaky);
}

#[test]
fn expectations_that_never_discriminate_are_named() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true, false, true, false])
        .run("eval-1/with_skill/run-2", &[true, false, true, true])
        .run("eval-1/without_skill/run-1", &[true, false, false, false]);
    let found = folder.aggregate();
    let never: Vec<(&str, Always, u64)> = found
        .summary
        .statistics
        .never_discriminating
        .iter()
        .map(|found| (found.text.as_str(), found.always, found.runs))
        .collect();
    assert_eq!(never, [("e0", Always::Passes, 3), ("e1", Always::Fails, 3)]);
    assert_note(
        &found,
        "1 expectation always passed, with the skill and without it: \"e0\" of eval 1",
    );
    assert_note(
        &found,
        "1 expectation never passed, with the skill or without it: \"e1\" of eval 1",
    );
}

#[test]
fn suggestions_are_grouped_by_expectation_and_by_what_they_say() {
    let folder = Folder::new();
    let suggest = |folder: &Folder, run: &str, suggestions: Value| {
        let mut grading = grading(&[true]);
        grading["eval_feedback"] = json!({"suggestions": suggestions, "overall": "x"});
        folder.json(&format!("{run}/grading.json"), &grading);
    };
    let real = "No assertion checks whether domain services are REAL instances";
    suggest(&folder, "eval-1/with_skill/run-1", json!([{"reason": real}]));
    suggest(
        &folder,
        "eval-1/with_skill/run-2",
        json!([
            {"assertion": "S7: Uses fixture factory", "reason": "Checks the pattern name only. Consider checking the overrides."},
            {"assertion": "S7: Uses fixture factory", "reason": "Checks the pattern name only. Consider checking overrides."},
            {"reason": "Nothing asserts that domain services are real instances"}
        ]),
    );
    suggest(
        &folder,
        "eval-1/with_skill/run-3",
        json!([
            {"assertion": "S7", "reason": "It checks only the pattern's name; check the overrides too"},
            {"assertion": "S2: Exists", "reason": "Checks the pattern name only."},
            {"reason": real}
        ]),
    );
    let feedback = folder.aggregate().feedback();
    assert_eq!(
        (feedback.skill_name.as_str(), feedback.iteration, feedback.total_runs),
        ("testing", 2, 3)
    );
    let found: Vec<(u64, Option<&str>, &str)> = feedback
        .suggestions
        .iter()
        .map(|found| (found.frequency, found.assertion.as_deref(), found.action.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            // Without an action, the reason says what to do, in the judge's words.
            (3, None, real),
            // Two suggestions of one run count once.
            (2, Some("S7"), "Consider checking the overrides."),
            (1, Some("S2"), "Checks the pattern name only."),
        ]
    );
    assert_eq!(feedback.suggestions[0].reason, real, "the words that were used most");
}

#[test]
fn the_same_id_in_two_evals_is_two_expectations() {
    let folder = Folder::new();
    for (eval, reason, action) in [
        (1, "An empty report.md passes", "Add file_contains for the total"),
        (2, "An empty report.md passes", "Add file_contains for the title"),
    ] {
        for run in 1..=3 {
            let mut grading = grading(&[true]);
            grading["eval_feedback"] = json!({"suggestions": [
                {"assertion": "S1: exists", "reason": reason, "action": action},
                {"reason": "Nothing looks at the date", "action": "Add a check of the date"},
            ]});
            folder.json(&format!("eval-{eval}/with_skill/run-{run}/grading.json"), &grading);
        }
    }
    let feedback = folder.aggregate().feedback();
    let found: Vec<_> = feedback
        .suggestions
        .iter()
        .map(|found| {
            let evals = found.evals.as_ref().unwrap().join(" ");
            (found.frequency, found.assertion.as_deref(), evals, found.action.as_str())
        })
        .collect();
    assert_eq!(
        found,
        [
            (6, None, "1 2".to_owned(), "Add a check of the date"),
            (3, Some("S1"), "1".to_owned(), "Add file_contains for the total"),
            (3, Some("S1"), "2".to_owned(), "Add file_contains for the title"),
        ]
    );
}

#[test]
fn the_table_has_intervals_and_the_verdict() {
    let found = clear_win().aggregate();
    insta::assert_snapshot!(found.summary_text(Style::Plain));
    assert!(found.summary_text(Style::Coloured).contains("\u{1b}[1;32mBetter"));
}

#[test]
fn the_page_for_people_is_complete_and_nothing_in_it_is_html() {
    let folder = clear_win();
    folder
        .json(
            "eval-2/eval_metadata.json",
            &json!({"eval_id": 2, "eval_name": "<b>a|b</b>\n# x", "prompt": "p"}),
        )
        .outcome("eval-6/without_skill/run-2", "rate_limited", "rate_limit");
    insta::assert_snapshot!(folder.aggregate().to_markdown());
}

#[test]
fn what_the_skill_costs_or_saves_is_claimed_only_when_it_is_more_than_noise() {
    let timed = |cases: u64, seconds: fn(u64) -> (u64, u64)| {
        let folder = Folder::new();
        for case in 1..=cases {
            let (with, without) = seconds(case);
            for (configuration, seconds) in [("with_skill", with), ("without_skill", without)] {
                let run = format!("eval-{case}/{configuration}/run-1");
                folder.run(&run, &[true]);
                let timing = json!({"total_duration_seconds": seconds, "total_tokens": 100});
                folder.json(&format!("{run}/timing.json"), &timing);
            }
        }
        folder.aggregate()
    };
    assert_note(
        &timed(6, |case| (10 + case, 20 + 2 * case)),
        "the skill saves 50 % of the time (permutation test p = 0.0312)",
    );
    assert_note(
        &timed(6, |_| (20, 10)),
        "the skill costs 2.0 times the time (permutation test p = ",
    );
    // One slow case makes the mean.
    assert_note(
        &timed(6, |case| if case == 1 { (200, 10) } else { (10, 11) }),
        "runs with the skill took 3.8 times the time, which is within the noise (permutation test p = ",
    );
    assert_note(
        &timed(3, |_| (10, 20)),
        "runs with the skill took 0.5 times the time, which may be chance: 3 cases, and it takes 6 to tell",
    );
    let notes = timed(6, |case| (10, 11 + case % 2)).summary.notes;
    assert!(notes.iter().all(|note| !note.contains("the time")), "{notes:#?}");
}

/// Six cases with 100 tokens with the skill and 110 without it, of which one arm knows nothing in two more.
fn tokens_known_in_part() -> Folder {
    let folder = Folder::new();
    let timing = |folder: &Folder, run: &str, tokens: u64, seconds: f64| {
        let timing = json!({"total_tokens": tokens, "total_duration_seconds": seconds});
        folder.run(run, &[true]).json(&format!("{run}/timing.json"), &timing);
    };
    for case in 1..=6 {
        timing(&folder, &format!("eval-{case}/with_skill/run-1"), 100, 1.0);
        timing(&folder, &format!("eval-{case}/without_skill/run-1"), 110, 4.0);
    }
    for case in 7..=8 {
        folder.run(&format!("eval-{case}/with_skill/run-1"), &[true]);
        timing(&folder, &format!("eval-{case}/without_skill/run-1"), 90_000, 900.0);
    }
    folder
}

#[test]
fn the_factor_of_a_cost_is_over_the_cases_of_its_test() {
    let found = tokens_known_in_part().aggregate();
    let notes = &found.summary.notes;
    assert!(!notes.iter().any(|note| note.contains("of the tokens (")), "{notes:#?}");
    assert!(!notes.iter().any(|note| note.contains("times the tokens")), "{notes:#?}");
    // 1 second against 4, and not against 228.
    assert_note(&found, "the skill saves 75 % of the time (permutation test p = 0.0312)");
}

#[test]
fn the_means_beside_a_difference_are_over_its_cases() {
    let found = tokens_known_in_part().aggregate();
    let text = found.to_markdown();
    assert!(text.contains("| Tokens | 100 ± 0 | 110 ± 0 | -10 |"), "{text}");
    assert!(text.contains("| Time | 1.0 s ± 0.0 s | 4.0 s ± 0.0 s | -3.0 s |"), "{text}");
    // A number that the other arm never has is shown all the same.
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true])
        .json("eval-1/with_skill/run-1/timing.json", &json!({"total_tokens": 7}))
        .run("eval-1/without_skill/run-1", &[true]);
    let text = folder.aggregate().to_markdown();
    assert!(text.contains("| Tokens | 7 ± 0 | – |  |"), "{text}");
}

#[test]
fn a_cost_that_is_known_in_part_is_claimed_nowhere() {
    let folder = Folder::new();
    let costs = |run: &str, cost: Option<f64>| {
        let record = json!({
            "format": "run", "outcome": "completed", "reason": "completed", "cost_usd": cost,
        });
        folder.run(run, &[true]).json(&format!("{run}/run.json"), &record);
    };
    for case in 1..=7 {
        costs(&format!("eval-{case}/with_skill/run-1"), Some(0.1));
        costs(&format!("eval-{case}/without_skill/run-1"), (case < 7).then_some(0.9));
    }
    let found = folder.aggregate();
    let notes = &found.summary.notes;
    assert!(!notes.iter().any(|note| note.contains("money")), "{notes:#?}");
    assert!(!differences(&found)[0].secondary.contains_key("cost_usd"));
    costs("eval-7/without_skill/run-1", Some(0.9));
    let found = folder.aggregate();
    assert_note(&found, "the skill saves 89 % of the money");
    let cost = &differences(&found)[0].secondary["cost_usd"];
    assert_eq!((cost.mean, cost.ratio), (Number::Float(0.1), Some(Number::Float(0.1111))));
    assert_eq!(as_json(&found)["runs"][0]["result"]["cost_usd"], 0.1);
}

#[test]
fn annotations_tell_every_comparison_the_worst_first() {
    let folder = Folder::new();
    for case in 1..=6 {
        folder
            .run(&format!("eval-{case}/with_skill/run-1"), &[true, false])
            .run(&format!("eval-{case}/without_skill/run-1"), &[false, false])
            .run(&format!("eval-{case}/old_skill/run-1"), &[true, true]);
    }
    let found = folder.aggregate();
    let text = found.to_github();
    let notices: Vec<&str> = text.lines().filter(|line| line.contains(" against ")).collect();
    let [first, second] = notices[..] else { panic!("{text}") };
    assert!(first.starts_with("::error ") && first.contains("with_skill against old_skill: Worse"));
    assert!(second.starts_with("::notice "), "{text}");
    assert!(second.contains("with_skill against without_skill: Better"), "{text}");
    // What fails by its exit code fails in JUnit, too.
    let junit = found.to_junit();
    assert!(junit.contains("tests=\"7\" failures=\"7\""), "{junit}");
    assert!(junit.contains(
        "name=\"verdict\" time=\"0.000\"><failure message=\"with_skill against old_skill: Worse"
    ));
}

#[test]
fn a_failed_test_says_what_no_expectation_says() {
    let folder = Folder::new();
    let rubric = json!({
        "expectations": [], "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": 0.0},
        "rubric_scores": {"a": {"score": 2, "evidence": "x"}},
        "rubric_summary": {"weighted_mean": 2.0, "max_possible": 5.0, "normalized": 0.4},
    });
    folder
        .run("eval-1/with_skill/run-1", &[true])
        .outcome("eval-1/with_skill/run-1", "timed_out", "timeout")
        .json("eval-2/with_skill/run-1/grading.json", &rubric)
        .run("eval-3/with_skill/run-1", &[false])
        .outcome("eval-4/with_skill/run-1", "rate_limited", "rate_limit");
    let found = folder.aggregate();
    for text in [found.to_junit(), found.to_github()] {
        assert!(text.contains("run 1: timed out"), "{text}");
        assert!(text.contains("run 1: a score of 2.0 of 5"), "{text}");
        assert!(text.contains("run 1: e0: seen"), "{text}");
    }
    let text = found.to_github();
    assert_eq!(text.matches("with_skill run 1: rate_limited").count(), 1, "{text}");
}

#[test]
fn the_rows_of_two_arms_are_the_two_sides_of_their_difference() {
    let folder = Folder::new();
    let rubric = |score: u8| {
        let normalized = f64::from(score) / 5.0;
        json!({
            "expectations": [{"text": "e0", "passed": true, "evidence": "x"}],
            "summary": {"passed": 1, "failed": 0, "total": 1, "pass_rate": 1.0},
            "rubric_scores": {"clarity": {"score": score, "evidence": "x"}},
            "rubric_summary": {"weighted_mean": f64::from(score), "max_possible": 5.0, "normalized": normalized},
        })
    };
    for case in 1..=2 {
        for (arm, score) in [("with_skill", 5), ("without_skill", 2)] {
            for run in 1..=2 {
                folder.json(&format!("eval-{case}/{arm}/run-{run}/grading.json"), &rubric(score));
            }
        }
    }
    // One run with the skill crashed: it has no score, and counts as the lowest.
    folder.outcome("eval-1/with_skill/run-2", "failed", "crashed");
    fs_err::remove_file(folder.iteration().join("eval-1/with_skill/run-2/grading.json")).unwrap();
    let found = folder.aggregate();
    let json = as_json(&found);
    let arm =
        |arm: &str| json["statistics"]["configurations"][arm]["rubric_normalized"]["mean"].clone();
    assert_eq!([arm("with_skill"), arm("without_skill")], [json!(0.75), json!(0.4)]);
    let secondary = &json["statistics"]["differences"][0]["secondary"];
    assert_eq!(secondary["rubric_normalized"]["difference"], 0.35);
    // 5, 5, 5 and the lowest: (3 + 5) / 2 beside 2.
    assert_eq!(secondary["rubric.clarity"]["difference"], 2.0);
    assert!(found.to_markdown().contains("| Rubric | 75 %"), "{}", found.to_markdown());
}

#[test]
fn a_ratio_is_that_of_the_means_and_not_of_what_is_shown_of_them() {
    let folder = Folder::new();
    for (arm, cost) in [("with_skill", 0.00014), ("without_skill", 0.00005)] {
        let run = format!("eval-1/{arm}/run-1");
        let record =
            json!({"format": "run", "outcome": "completed", "reason": "none", "cost_usd": cost});
        folder.run(&run, &[true]).json(&format!("{run}/run.json"), &record);
    }
    let found = folder.aggregate();
    let json = as_json(&found);
    let cost = &json["statistics"]["differences"][0]["secondary"]["cost_usd"];
    assert_eq!((&cost["mean"], &cost["ratio"]), (&json!(0.00014), &json!(2.8)), "{cost:#}");
    assert!(found.summary_text(Style::Plain).contains("cost +$0.000090, 2.8 times"));
}
