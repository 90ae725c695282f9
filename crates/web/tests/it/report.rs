//! The one-file report.

use serde_json::json;
use skillgauge_web::report;

use crate::workspace::{Fixture, HOSTILE};

#[test]
fn the_report_shows_every_page_in_one_file() {
    let fixture = Fixture::full();
    let html = report(&fixture.root()).unwrap();
    for id in ["overview", "cases", "trigger", "routing", "tuning", "versions", "review"] {
        assert!(html.contains(&format!("<section class=\"page\" id=\"{id}\"")), "no page {id}");
        assert!(html.contains(&format!("href=\"#{id}\"")), "no way to {id}");
    }
    for words in [
        "Better on these 4 cases: overall efficiency +37 points (95%: +",
        "4 cases can&#x27;t say how it does on other tasks; add 2 more.",
        "pass rate +44 points (95%: +",
        "iteration 2",
        "Since the iteration before",
        "always passed, with the skill and without it",
        "best held-out rate",
        "4 of 6 queries went where they should",
        "A tie between v0 and v1: the comparator",
        "not measured",
        "release-notes loaded",
    ] {
        assert!(html.contains(words), "the report does not say: {words}");
    }
}

#[test]
fn the_report_loads_nothing_and_allows_only_its_own_script() {
    let fixture = Fixture::full();
    let html = report(&fixture.root()).unwrap();
    assert!(html.contains("default-src &#x27;none&#x27;; style-src &#x27;sha256-"));
    for attribute in [" src=\"http", " href=\"http", "@import", "url("] {
        assert!(!html.contains(attribute), "{attribute}");
    }
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches("</script>").count(), 1);
    assert!(!html.contains(" style=\""), "the policy would block it");
}

#[test]
fn nothing_from_a_workspace_is_markup() {
    let fixture = Fixture::full();
    let html = report(&fixture.root()).unwrap();
    assert!(!html.contains(HOSTILE));
    assert!(html.contains("&lt;&#x2f;script&gt;&lt;script&gt;window.hacked"));
    assert!(!html.contains("onerror=\""));
    assert!(html.contains("{{ 7 * 7 }}"), "templates in outputs are not run");
    assert!(html.contains("Hostile &lt;script&gt;"));
}

#[test]
fn evidence_leads_to_its_event_and_every_link_leads_somewhere() {
    let fixture = Fixture::full();
    let html = report(&fixture.root()).unwrap();
    assert!(html.contains("href=\"#event-eval-1-with_skill-run-1-11\">show in transcript</a>"));
    assert!(html.contains("id=\"event-eval-1-with_skill-run-1-11\""));
    for link in html.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(html.contains(&format!("id=\"{target}\"")), "#{target} leads nowhere");
    }
}

#[test]
fn every_table_can_be_downloaded() {
    let fixture = Fixture::full();
    let html = report(&fixture.root()).unwrap();
    let tables = html.matches("<div class=\"table-box\">").count() + 1;
    assert_eq!(html.matches("href=\"data:text&#x2f;csv").count(), tables);
}

#[test]
fn an_empty_and_a_broken_workspace_are_shown_as_such() {
    let empty = Fixture::empty();
    assert!(report(&empty.root()).unwrap().contains("Nothing has been run yet"));
    let broken = Fixture::full();
    broken.write("iteration-2/eval-1/with_skill/run-1/grading.json", "[1, 2");
    broken.write("iteration-2/eval-1/with_skill/run-2/grading.json", "[]");
    broken.write("iteration-2/eval-1/with_skill/run-3/transcript.jsonl", "no json\n\u{0}\n");
    broken.write("iteration-2/suite.json", "null");
    broken.write("iteration-2/feedback.json", "7");
    broken.write("history.json", "\"x\"");
    broken.write("trigger/report.json", "");
    let html = report(&broken.root()).unwrap();
    assert!(html.contains("<code>feedback.json</code>: invalid type"));
    assert!(html.contains("<code>grading.json</code>: "));
    assert!(html.contains("not measured, unreadable"));
    assert!(html.contains("a line that is no event"));
}

#[test]
fn a_workspace_of_the_skill_creator_is_shown() {
    let fixture = Fixture::empty();
    for arm in ["with_skill", "without_skill"] {
        fixture.write(&format!("first-task/{arm}/outputs/deep/a.txt"), "text");
        fixture.json(&format!("first-task/{arm}/grading.json"), &json!({
            "assertion_results": [{"text": "It is there", "passed": arm == "with_skill", "evidence": "deep/a.txt"}],
        }));
        fixture.write(&format!("first-task/{arm}/outputs/transcript.md"), "## Step 1\nlooked");
    }
    fixture.json(
        "first-task/eval_metadata.json",
        &json!({"eval_id": 7, "eval_name": "First", "prompt": "Do it"}),
    );
    fixture.json(
        "feedback.json",
        &json!({"reviews": [{"run_id": "first-task-with_skill", "feedback": "fine"}]}),
    );
    let html = report(&fixture.root()).unwrap();
    for words in [
        "First",
        "Do it",
        "deep/a.txt",
        "## Step 1",
        "A person said: fine",
        "Undecided on this case: pass rate +100 points",
    ] {
        let escaped = words.replace('/', "&#x2f;");
        assert!(html.contains(&escaped), "{words}");
    }
}

#[test]
fn the_report_is_the_same_each_time() {
    let fixture = Fixture::full();
    assert_eq!(report(&fixture.root()).unwrap(), report(&fixture.root()).unwrap());
}

#[test]
fn what_is_no_folder_is_an_error_that_says_what_to_name() {
    let error = report(std::path::Path::new("no-such-folder")).unwrap_err();
    assert!(error.to_string().contains("no-such-folder is not a folder"), "{error}");
}

/// Whoever makes a workspace must not get files of its reader into a report that is given away.
#[cfg(unix)]
#[test]
fn no_file_of_a_run_is_read_through_a_link() {
    let fixture = Fixture::full();
    fixture.json(
        "outside/grading.json",
        &json!({
            "expectations": [{"text": "SECRET", "passed": true, "evidence": "SECRET"}],
        }),
    );
    fixture.write("outside/transcript.jsonl", "SECRET");
    fixture.write("outside/files/key", "SECRET");
    let run = fixture.path("iteration-2/eval-1/with_skill/run-1");
    for (name, target) in [
        ("grading.json", "grading.json"),
        ("transcript.jsonl", "transcript.jsonl"),
        ("outputs", "files"),
    ] {
        let place = run.join(name);
        if place.is_dir() {
            fs_err::remove_dir_all(&place).unwrap();
        } else {
            fs_err::remove_file(&place).unwrap();
        }
        std::os::unix::fs::symlink(fixture.path("outside").join(target), place).unwrap();
    }
    let html = report(&fixture.root()).unwrap();
    assert!(!html.contains("SECRET"));
    assert!(html.contains("links are not followed"));
}

#[test]
fn the_history_of_the_skill_creator_is_shown() {
    let fixture = Fixture::empty();
    fixture.json("history.json", &json!({"skill_name": "s", "current_best": "v1", "iterations": [
        {"version": "v0", "parent": null, "expectation_pass_rate": 0.65, "grading_result": "baseline"},
        {"version": "v1", "parent": "v0", "expectation_pass_rate": 0.85, "grading_result": "won"},
    ]}));
    let html = report(&fixture.root()).unwrap();
    for words in ["v1 (current)", "85 %", "65 %", "baseline"] {
        assert!(html.contains(words), "{words}");
    }
}

/// One run with these verdicts and a score for the dimension `clarity`.
fn graded(fixture: &Fixture, case: usize, arm: &str, passes: bool, score: u8) {
    let folder = format!("iteration-1/eval-{case}/{arm}/run-1");
    fixture.write(&format!("{folder}/outputs/a.txt"), "text");
    fixture.json(
        &format!("{folder}/grading.json"),
        &json!({
            "expectations": [{"text": "It is there", "passed": passes, "evidence": "a.txt"}],
            "rubric_scores": {"clarity": {"score": score, "evidence": "short"}},
            "rubric_summary": {"weighted_mean": score, "max_possible": 5, "normalized": f64::from(score) / 5.0},
        }),
    );
}

#[test]
fn a_comparison_that_is_worse_is_the_headline_and_all_are_listed() {
    let fixture = Fixture::empty();
    for case in 1..=8 {
        // As without the skill, and worse than with the old one in all cases but one.
        graded(&fixture, case, "with_skill", case == 1, 4);
        graded(&fixture, case, "without_skill", case == 1, 4);
        graded(&fixture, case, "old_skill", true, 4);
    }
    let html = report(&fixture.root()).unwrap();
    let head = html.split("<section class=\"verdict verdict-").nth(1).unwrap();
    let head = head.split("</section>").next().unwrap();
    assert!(head.starts_with("bad\""), "{head}");
    assert!(head.contains("</span> Worse <span class=\"verdict-points\">"), "{head}");
    let listed: Vec<&str> = head.split("<li ").skip(1).collect();
    assert_eq!(listed.len(), 2, "{head}");
    for (item, baseline, words) in [
        (listed[0], "old", "Worse -44 points</strong> with skill against old skill"),
        (listed[1], "without", "0 points</strong> with skill against without skill"),
    ] {
        assert!(item.contains(&format!("data-baseline=\"{baseline}_skill\"")), "{item}");
        assert!(item.contains("data-verdict=\"") && item.contains("data-difference=\""), "{item}");
        assert!(item.contains(words), "{item}");
    }
}

#[test]
fn dimensions_are_over_the_cases_that_can_be_compared() {
    let fixture = Fixture::empty();
    for case in 1..=2 {
        graded(&fixture, case, "with_skill", true, 5);
        graded(&fixture, case, "without_skill", true, 3);
    }
    // It lost its other arm.
    graded(&fixture, 3, "with_skill", true, 1);
    let html = report(&fixture.root()).unwrap();
    assert!(html.contains("5.0 of 5, from 5 to 5"));
    assert!(html.contains("3.0 of 5, from 3 to 3"));
    assert!(!html.contains("from 1 to 5"));
}

#[test]
fn a_case_whose_runs_all_failed_comes_first_whatever_its_rate() {
    let fixture = Fixture::empty();
    for case in 1..=2 {
        graded(&fixture, case, "with_skill", true, 5);
    }
    // The rate of this case is lower, but one of its runs passed.
    fixture.json(
        "iteration-1/eval-1/with_skill/run-2/grading.json",
        &json!({"expectations": [{"text": "It is there", "passed": false, "evidence": "no"}]}),
    );
    fixture.json(
        "iteration-1/eval-2/with_skill/run-1/run.json",
        &json!({"format": "run", "outcome": "timed_out", "reason": "timed_out"}),
    );
    let html = report(&fixture.root()).unwrap();
    let place = |case: &str| html.find(&format!("data-case=\"{case}\"")).unwrap();
    assert!(html.contains("data-standing=\"failed\""));
    assert!(place("2") < place("1"));
}
