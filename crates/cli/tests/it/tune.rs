//! `skillgauge tune` with an agent whose triggering depends on the description, and a scripted improver.

use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_format::read;
use skillgauge_format::trigger::{ImprovementHistory, LoopSummary, TriggerEstimate, TriggerReport};

use crate::command::Project;
use crate::fake::{improver, loading_agent};

const START: &str = "Makes reports of w1 things. Use when there is a table.";
const BETTER: &str = "Makes reports of w1 w2 w3 things. Use when there is a table.";
const BEST: &str = "Makes reports of w1 w2 w3 w4 w5 things. Use when there is a table.";

/// Five queries for the skill, each with a word of its own, and five others.
fn queries() -> Vec<(String, bool)> {
    let positive = (1..=5).map(|n| (format!("please w{n} number alpha{n}"), true));
    let negative = (1..=5).map(|n| (format!("other{n} thing beta{n} gamma{n}"), false));
    positive.chain(negative).collect()
}

pub(crate) fn project() -> Project {
    let project = Project::new();
    let set: Vec<Value> = (queries().into_iter())
        .map(|(query, label)| json!({"query": query, "should_trigger": label}))
        .collect();
    project
        .file(
            "table-report/SKILL.md",
            format!("---\r\nname: table-report # the name\r\ndescription: >- # why\r\n  {START}\r\nlicense: MIT\r\n---\r\n\r\n# Body\r\n\r\nMakes tables.\r\n"),
        )
        .file("table-report/evals/triggers.json", Value::from(set).to_string());
    loading_agent(&project, "agent");
    project
}

pub(crate) const TUNE: [&str; 10] = [
    "tune",
    "table-report",
    "--agent",
    "agent",
    "--improver",
    "command:./improver",
    "--runs",
    "1",
    "--output-dir",
    "out",
];

fn tune(project: &Project, more: &[&str]) -> Output {
    project.output(&[&TUNE[..], more].concat())
}

fn summary(project: &Project) -> LoopSummary {
    let read = read::<LoopSummary>(&project.read("out/loop_summary.json")).unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    read.value
}

fn asked(project: &Project) -> Vec<String> {
    let mut names: Vec<_> = fs_err::read_dir(project.path().join("asked"))
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    names.sort();
    names.iter().map(|path| fs_err::read_to_string(path).unwrap()).collect()
}

/// The held-out queries, as the page shows them.
fn held_out(project: &Project) -> Vec<String> {
    let page = String::from_utf8(project.read("out/tune.html")).unwrap();
    let rows = page.split("<tr").filter(|row| row.contains("held out"));
    let rows: Vec<&str> = rows.collect();
    let queries = queries().into_iter().map(|(query, _)| query);
    queries.filter(|query| rows.iter().any(|row| row.contains(query.as_str()))).collect()
}

#[test]
fn a_loop_finds_a_better_description_and_writes_everything_down() {
    let project = project();
    improver(&project, &[BETTER, BEST]);
    let output = tune(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains(
            "10 queries, up to 5 rounds: at most 103 calls: 95 probes (40 of them for the proof) and 8 of `command:./improver`"
        ),
        "{shown}"
    );
    assert!(shown.contains(BEST) && shown.contains("the target of 100 %"), "{shown}");
    let summary = summary(&project);
    assert_eq!(summary.skill_name, "table-report");
    assert_eq!(
        (summary.original_description.as_str(), summary.final_description.as_str()),
        (START, BEST)
    );
    assert_eq!((summary.total_rounds, summary.partial), (3, None));
    assert_eq!((summary.iterations[0].train_total, summary.iterations[0].test_total), (6, 4));
    assert_eq!(
        summary.calls,
        Some(3 * 11 + 2 + 40),
        "ten probes and a control each, the improver, and the proof"
    );
    for round in 1..=3 {
        let report =
            read::<TriggerReport>(&project.read(&format!("out/round-{round}.json"))).unwrap();
        assert_eq!(report.value.summary.total, 10);
    }
    let history = read::<ImprovementHistory>(&project.read("out/history.json")).unwrap();
    assert!(history.warnings.is_empty(), "{:?}", history.warnings);
    assert_eq!(history.value.0.len(), 2);
    let before = String::from_utf8(project.read("table-report/SKILL.md")).unwrap();
    assert!(before.contains(START), "without --apply nothing is changed");
}

#[test]
fn the_improver_is_sent_no_test_query_and_no_test_score() {
    let project = project();
    improver(&project, &["Worse.", BETTER, "Worse still."]);
    let output = tune(&project, &["--rounds", "4"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let (asked, held_out) = (asked(&project), held_out(&project));
    assert_eq!((asked.len(), held_out.len()), (3, 4), "{held_out:?}");
    let train: Vec<String> = queries()
        .into_iter()
        .map(|(query, _)| query)
        .filter(|query| !held_out.contains(query))
        .collect();
    for prompt in &asked {
        for query in &held_out {
            assert!(!prompt.contains(query.as_str()), "{query}: {prompt}");
        }
        for score in ["test", "held", "holdout", "of 10", "of 4 ", "/10", "/4", "pass_rate"] {
            assert!(!prompt.contains(score), "{score}: {prompt}");
        }
    }
    assert!(train.iter().any(|query| asked[0].contains(query.as_str())), "{}", asked[0]);
    assert!(asked[1].contains("Worse. (3 of 6 training requests right)"), "{}", asked[1]);
}

#[test]
fn apply_changes_the_description_and_not_one_other_byte() {
    let project = project();
    improver(&project, &[BEST]);
    let before = String::from_utf8(project.read("table-report/SKILL.md")).unwrap();
    let output = tune(&project, &["--rounds", "2", "--apply"]);
    let shown = project.shown(&output);
    assert!(shown.contains("SKILL.md has the proven description now"), "{shown}");
    let after = String::from_utf8(project.read("table-report/SKILL.md")).unwrap();
    assert_eq!(after, before.replace(START, BEST));
    assert_eq!(project.exit_code(&["validate", "table-report"]), Some(0));
    let again = tune(&project, &["--rounds", "2", "--apply"]);
    assert!(project.shown(&again).contains("SKILL.md stays as it is"), "{}", project.shown(&again));
}

#[test]
fn the_original_stays_when_nothing_is_better() {
    let project = project();
    improver(&project, &["Worse.", "Bad."]);
    let before = project.read("table-report/SKILL.md");
    let output = tune(&project, &["--rounds", "3", "--apply"]);
    let shown = project.shown(&output);
    assert!(
        shown.contains("no description did better on the training queries than the original ("),
        "{shown}"
    );
    assert!(shown.contains("warning: plateau"), "{shown}");
    assert_eq!(project.read("table-report/SKILL.md"), before);
    assert_eq!(summary(&project).best_iteration.round, 1);
}

#[test]
fn a_limit_on_calls_keeps_what_was_measured_and_marks_it() {
    let project = project();
    improver(&project, &[BETTER, BEST]);
    let output = tune(&project, &["--max-calls", "20", "--apply"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("stops at 20 calls") && shown.contains("(partial)"), "{shown}");
    assert!(shown.contains("SKILL.md is not changed"), "{shown}");
    let summary = summary(&project);
    assert_eq!((summary.partial, summary.iterations.len()), (Some(true), 1));
    // Without the limit it goes on: what was measured and proposed is known.
    let output = tune(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("10 of 10 probes are known"), "{shown}");
    assert_eq!(asked(&project).len(), 2, "the first proposal is not asked for again");
}

#[test]
fn an_interrupted_loop_keeps_its_rounds_and_goes_on() {
    let project = project();
    improver(&project, &[BETTER, BEST]);
    // The agent waits from the second description on, until the file is gone.
    project.file("wait", "");
    let mut command = project.command(&TUNE);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let file = project.path().join("waiting");
    for _ in 0..600 {
        if file.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(file.exists(), "the second round never began");
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(130), "{shown}");
    assert_eq!(summary(&project).iterations.len(), 1, "{shown}");
    assert_eq!(summary(&project).partial, Some(true));
    fs_err::remove_file(project.path().join("wait")).unwrap();
    let output = tune(&project, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(summary(&project).final_description, BEST);
    assert_eq!(asked(&project).len(), 2);
}

#[test]
fn an_estimate_is_labelled_wherever_it_appears() {
    let project = project();
    improver(
        &project,
        &["Makes reports of tables. Use when alpha1 alpha2 alpha3 alpha4 alpha5 come up."],
    );
    let output = tune(&project, &["--rounds", "2", "--via", "estimate"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("an estimate from words alone; nothing was measured"), "{shown}");
    assert_eq!(summary(&project).basis.as_deref(), Some("estimate"));
    read::<TriggerEstimate>(&project.read("out/round-2.json")).unwrap();
    let page = String::from_utf8(project.read("out/tune.html")).unwrap();
    assert!(page.contains("an estimate from words alone"), "the page says so, too");
}

#[test]
fn an_improver_that_does_not_answer_is_no_result() {
    let project = project();
    improver(&project, &[]);
    let output = tune(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("the improver did not answer"), "{shown}");
    assert_eq!(summary(&project).iterations.len(), 1);
}

#[test]
fn bad_input_is_told_before_anything_is_spent() {
    let project = project();
    improver(&project, &[BEST]);
    for (args, message) in [
        (vec!["tune", "nowhere"], "skill directory does not exist: nowhere"),
        (vec!["tune", "table-report", "--evals", "none.json"], "there is no trigger set"),
        (vec!["tune", "table-report", "--holdout", "1"], "something must be left to learn from"),
        (vec!["tune", "table-report", "--rounds", "0"], "0 is not in 1..=100"),
        (vec!["tune", "table-report", "--candidates", "0"], "0 is not in 1..=20"),
        (vec!["tune", "table-report", "--proof-runs", "0"], "0 is not in 1..=1000"),
        (vec!["tune", "table-report", "--apply=now"], "invalid value 'now'"),
        (vec!["tune", "table-report", "--apply", "--via", "estimate"], "which can't be applied"),
        (
            vec!["tune", "table-report", "--apply=anyway", "--via", "estimate"],
            "which can't be applied",
        ),
        (vec!["tune", "table-report", "--improver", "nobody"], "a model is written as"),
    ] {
        let output = project.output(&args);
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains(message), "{message}: {shown}");
    }
    assert!(asked(&project).is_empty());
}

#[test]
fn calls_and_cost_are_shown_before_and_an_unknown_price_says_how_to_set_it() {
    let project = project();
    improver(&project, &[BEST]);
    let shown = |more: &[&str]| {
        let output = tune(&project, &[&["--fresh"][..], more].concat());
        project.shown(&output)
    };
    let text = shown(&["--rounds", "2"]);
    assert!(
        text.contains(
            "at most 64 calls: 62 probes (40 of them for the proof) and 2 of `command:./improver`"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "the probes: cost unknown, because the agent chooses its model; name one with `--model`"
        ),
        "{text}"
    );
    assert!(
        text.contains("the improver: cost unknown, because no price of `command:./improver` is known; set one under [prices] in skillgauge.toml"),
        "{text}"
    );
    assert!(text.contains("no limit is set (--max-calls, --max-cost)"), "{text}");
    let text = shown(&["--rounds", "2", "--max-cost", "2", "--max-calls", "5"]);
    assert!(text.contains("stops at 5 calls or $2.00, as far as the cost gets known"), "{text}");
    assert!(text.contains("--max-calls 5 is used up"), "{text}");

    let settings = String::from_utf8(project.read("skillgauge.toml")).unwrap();
    let prices = "[prices]\n\"command:./improver\" = { input = 2.0, output = 1000 }\n\"claude-sonnet-4-5\" = { input = 0, output = 0 }\n";
    project.file("skillgauge.toml", format!("{prices}{settings}"));
    let text = shown(&["--rounds", "2", "--model", "claude-sonnet-4-5", "--max-calls", "5"]);
    assert!(text.contains("the probes: at least $0.00, if a request has 24080 tokens"), "{text}");
    assert!(text.contains("the improver: about $0.6"), "two answers of 300 tokens: {text}");
    assert!(text.contains("about $0.6") && text.contains(" in all; stops at 5 calls"), "{text}");
}

/// Words of all training queries and of no held-out one, but for what the original has.
fn only_train(project: &Project) -> String {
    improver(project, &[]);
    let output = tune(project, &["--rounds", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let held_out = held_out(project);
    let is_held_out = |n: u32| held_out.iter().any(|query| query.contains(&format!("w{n} ")));
    let words = (1..=5).filter(|n| *n == 1 || !is_held_out(*n)).map(|n| format!("w{n}"));
    let words: Vec<String> = words.collect();
    format!("Makes reports of {} things. Use when there is a table.", words.join(" "))
}

#[test]
fn what_is_better_on_the_training_queries_only_is_not_adopted_and_written_only_anyway() {
    let project = project();
    let candidate = only_train(&project);
    improver(&project, &[&candidate]);
    let before = String::from_utf8(project.read("table-report/SKILL.md")).unwrap();
    let output = tune(&project, &["--rounds", "2", "--apply"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("/6 -> 6/6; on 4 held-out queries "), "{shown}");
    assert!(shown.contains(": not shown to be better; "), "{shown}");
    assert!(shown.contains(" held-out queries x 5 runs would show +25 points"), "{shown}");
    assert!(shown.contains("`--apply=anyway` writes it"), "{shown}");
    assert_eq!(project.read("table-report/SKILL.md"), before.as_bytes());
    let summary = summary(&project);
    assert_eq!(summary.final_description, START);
    let proof = summary.proof.unwrap();
    assert_eq!(
        (proof.proven, proof.candidate.as_str(), proof.runs),
        (false, candidate.as_str(), 5)
    );
    assert!(proof.p.unwrap().as_f64() > 0.05);
    let page = String::from_utf8(project.read("out/tune.html")).unwrap();
    for words in ["not shown to be better", "Proof: 5 fresh runs", "so that rate is optimistic"] {
        assert!(page.contains(words), "{words}");
    }
    // The same again, and written because the user says so.
    let calls = calls(&project);
    let output = tune(&project, &["--rounds", "2", "--apply=anyway"]);
    let shown = project.shown(&output);
    assert!(
        shown.contains("SKILL.md has the candidate now, which isn't shown to be better"),
        "{shown}"
    );
    let after = String::from_utf8(project.read("table-report/SKILL.md")).unwrap();
    assert_eq!(after, before.replace(START, &candidate));
    assert_eq!(self::calls(&project), calls, "nothing is paid for twice");
}

/// How often the agent was started.
fn calls(project: &Project) -> usize {
    String::from_utf8(project.read("calls")).unwrap().lines().count()
}

#[test]
fn a_proof_that_was_stopped_is_resumed_and_nothing_is_paid_for_twice() {
    let whole = project();
    improver(&whole, &[BEST]);
    assert_eq!(tune(&whole, &["--rounds", "2"]).status.code(), Some(0));
    let needed = calls(&whole);
    assert_eq!(needed, 62, "what was announced");
    let project = project();
    improver(&project, &[BEST]);
    // 22 for the rounds, 1 for the improver, and a part of the 40 for the proof.
    let output = tune(&project, &["--rounds", "2", "--max-calls", "41", "--apply"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("the loop was stopped before anything was proven"), "{shown}");
    assert_eq!(
        (summary(&project).proof, summary(&project).final_description),
        (None, START.to_owned())
    );
    let output = tune(&project, &["--rounds", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(calls(&project), needed);
    let (one, other) = (summary(&project), summary(&whole));
    assert_eq!((one.final_description.as_str(), one.proof), (BEST, other.proof));
    assert_eq!(one.calls, other.calls);
}

#[test]
fn a_recorded_loop_replays_with_its_proof_and_nobody_is_asked() {
    let project = project();
    improver(&project, &[BEST]);
    let output = tune(&project, &["--rounds", "2", "--record", "tape"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let recorded = summary(&project);
    assert!(recorded.proof.as_ref().unwrap().proven);
    let count = calls(&project);
    fs_err::remove_dir_all(project.path().join("out")).unwrap();
    let output = tune(&project, &["--rounds", "2", "--replay", "tape"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let replayed = summary(&project);
    assert_eq!(
        (replayed.proof, replayed.final_description),
        (recorded.proof, recorded.final_description)
    );
    assert_eq!(calls(&project), count);
}

#[test]
fn a_description_that_cannot_be_replaced_is_refused_before_the_first_probe() {
    let project = project();
    improver(&project, &[BEST]);
    project.file(
        "table-report/SKILL.md",
        format!("---\nname: table-report\ndescription: &d {START}\nmetadata:\n  short: *d\n---\n\n# Body\n"),
    );
    for more in [&["--apply"][..], &["--apply=anyway"], &[]] {
        let output = tune(&project, more);
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains("the description can't be replaced"), "{shown}");
        assert!(shown.contains("a YAML anchor (`&name`) or alias (`*name`) ties it"), "{shown}");
    }
    assert!(!project.path().join("calls").exists() && asked(&project).is_empty());
    // Words can still be estimated: that needs no edit.
    let output = tune(&project, &["--rounds", "1", "--via", "estimate"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("so `--apply` will be refused"), "{shown}");
}

#[test]
fn what_the_design_can_show_is_said_before_the_first_probe() {
    let project = project();
    improver(&project, &["Worse.", "Worse.", "Worse.", "Worse."]);
    for (more, words) in [
        (
            &[][..],
            "the proof asks 4 held-out queries 5 times with each description; that finds a gain of +",
        ),
        (
            &["--proof-runs", "1"],
            "4 held-out queries x 1 runs can't prove any gain, so the original description stays; ",
        ),
        (
            &["--holdout", "0"],
            "no queries are held out, so nothing can be proven and the original description stays; ",
        ),
    ] {
        let output = tune(&project, &[&["--rounds", "1", "--fresh"], more].concat());
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(0), "{shown}");
        let at = |words: &str| shown.find(words).unwrap_or_else(|| panic!("{words}: {shown}"));
        assert!(at(words) < at("asking the positive control"), "{shown}");
        at(" held-out queries x 5 runs would show +25 points");
    }
}

/// docs/tune.md shows these lines for a trigger set of 20 queries.
#[test]
fn the_documents_say_what_the_program_says() {
    let project = project();
    let query = |n: usize| serde_json::json!({"query": format!("query {n}"), "should_trigger": n.is_multiple_of(2)});
    let set: Vec<_> = (0..20).map(query).collect();
    improver(&project, &["Worse."]);
    project.file("twenty.json", serde_json::json!(set).to_string());
    let output = tune(&project, &["--evals", "twenty.json", "--fresh", "--max-calls", "1"]);
    let shown = project.shown(&output);
    let line = shown.lines().find(|line| line.starts_with("the proof asks 8 held-out queries"));
    let line = line.unwrap_or_else(|| panic!("{shown}"));
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(include_str!("../../../../docs/tune.md")).contains(&flat(line)), "{line}");
}

#[test]
fn many_candidates_need_few_probes_and_the_best_of_them_is_taken() {
    let project = project();
    let others = ["A w9", "B w8", "C w7", "D w6", "E w9", "F w8", "G w7"];
    improver(&project, &[&others[..], &[BEST]].concat());
    let mut args = TUNE.map(|arg| if arg == "1" { "3" } else { arg }).to_vec();
    args.extend(["--rounds", "2", "--candidates", "8"]);
    let output = project.output(&args);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let summary = summary(&project);
    assert_eq!(summary.final_description, BEST, "{shown}");
    assert_eq!(summary.iterations[1].train_total, 6);
    // The first description, then 8 that are asked 18 probes each, with controls; the held-out queries and the proof.
    let plain = 31 + 8 * 19 + 12 + 40;
    let count = calls(&project);
    assert!(count < plain - 60, "{count} of {plain}");
    assert_eq!(summary.calls.unwrap(), count as u64 + 8, "and the eight questions");
}
