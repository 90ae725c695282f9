//! Probes of the fake agent: control, early stop, budget, journal, recordings.

use std::sync::{Arc, Mutex};

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_format::Kind;
use skillgauge_format::write;
use skillgauge_run::agent::TaskSkill;
use skillgauge_run::budget::Budget;
use skillgauge_run::cassette::Mode;
use skillgauge_run::probe::{
    EarlyStop, Measured, Measurement, ProbeError, ProbeEvent, Resume, measure,
};
use skillgauge_testkit::agent::{AgentScript, Failure, FailureKind, Finish, Step};
use tokio_util::sync::CancellationToken;

use super::{CONTROL, counts, settings};
use crate::agent::stage::{Stage, block_on};

fn load() -> Vec<Step> {
    vec![
        Step::LoadSkill { name: "csv-report".into() },
        Step::Finish(Finish { text: "Done.".into(), cost_usd: Some(0.01), ..Finish::default() }),
    ]
}

fn quiet() -> Vec<Step> {
    vec![Step::Finish(Finish { text: "No.".into(), cost_usd: Some(0.01), ..Finish::default() })]
}

fn on(contains: &str, then: Vec<Step>, otherwise: Vec<Step>) -> Vec<Step> {
    vec![Step::IfPrompt { contains: contains.into(), then, otherwise }]
}

/// Counts its starts in a file, loads the skill for the control and for reports.
fn agent(stage: &Stage) -> AgentScript {
    let count =
        Step::Quietly(vec![Step::Shell(format!("echo x >> {}", stage.path("starts").display()))]);
    let mut steps = vec![count];
    steps.extend(on(CONTROL, load(), on("report", load(), quiet())));
    AgentScript::new(steps)
}

fn staged() -> Stage {
    let stage = Stage::new().with("CLAUDE_CODE_OAUTH_TOKEN", "fake-token-0123456789");
    skillgauge_testkit::agent::install(&stage.path("bin"), "claude", &agent(&stage)).unwrap();
    stage
}

fn starts(stage: &Stage) -> usize {
    fs_err::read_to_string(stage.path("starts")).unwrap_or_default().lines().count()
}

const QUERIES: [(&str, bool); 4] =
    [("a report", true), ("weather", false), ("report the weather", false), ("tables", true)];

#[test]
fn a_report_says_what_was_measured_and_fits_its_schema() {
    let stage = staged();
    let mut measurement = stage.measurement("claude", None);
    measurement.runs = 3;
    let measured = stage.measure(&measurement, &QUERIES).unwrap();
    let report = &measured.report;
    assert_eq!((report.summary.passed, report.summary.failed), (2, 2));
    assert_eq!(counts(&measured, "a report").3.trigger_rate.as_f64().to_bits(), 1.0_f64.to_bits());
    let said = report.measurement.as_ref().unwrap();
    assert_eq!((said.calls, starts(&stage)), (13, 13));
    assert_eq!(said.outcomes["completed"], 12);
    // What is stopped at the proof has no bill, and its cost is not known.
    assert_eq!(said.cost_usd, None);
    assert!((said.cost_at_least_usd.as_f64() - 0.06).abs() < 1e-9, "{said:?}");
    let text = write::to_text(report).unwrap();
    assert!(Kind::TriggerReport.check(text.as_bytes()).into_iter().next().is_none(), "{text}");
}

#[test]
fn without_a_control_that_triggers_there_is_no_rate() {
    let stage = Stage::with_fake("claude", &AgentScript::new(quiet()))
        .with("CLAUDE_CODE_OAUTH_TOKEN", "fake-token-0123456789");
    let error = stage.measure(&stage.measurement("claude", None), &QUERIES).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the positive control failed: asked for `csv-report` by name, the agent ended without loading it; nothing was measured"
    );
    let fail = Step::Fail(Failure { kind: FailureKind::Authentication, message: None });
    let stage = Stage::with_fake("claude", &AgentScript::new([fail]))
        .with("CLAUDE_CODE_OAUTH_TOKEN", "fake-token-0123456789");
    let error = stage.measure(&stage.measurement("claude", None), &QUERIES).unwrap_err();
    assert!(matches!(error, ProbeError::Control { .. }), "{error}");
    assert!(error.to_string().contains("authentication"), "{error}");
}

#[test]
fn when_no_run_completes_there_is_no_rate() {
    let fail = vec![Step::Fail(Failure { kind: FailureKind::Server, message: None })];
    let stage = Stage::with_fake("claude", &AgentScript::new(on(CONTROL, load(), fail)))
        .with("CLAUDE_CODE_OAUTH_TOKEN", "fake-token-0123456789");
    let error = stage.measure(&stage.measurement("claude", None), &QUERIES[..2]).unwrap_err();
    assert_eq!(error.to_string(), "no run completed (2 failed); there is no rate");
}

#[test]
fn an_early_stop_saves_runs_and_changes_no_verdict() {
    let stage = staged();
    let mut measurement = stage.measurement("claude", None);
    measurement.runs = 5;
    measurement.journal = None;
    let whole = stage.measure(&measurement, &QUERIES).unwrap();
    let before = starts(&stage);
    measurement.early_stop = EarlyStop::On;
    // One at a time: what is under way when a verdict is certain is not called back.
    let one = skillgauge_run::probe::ProberSettings { jobs: 1, ..settings() };
    let prober = stage.prober(Mode::Off, one, Budget::default());
    let stopped = stage.measure_with(&measurement, &QUERIES, &prober).unwrap();
    let passes = |measured: &Measured| -> Vec<bool> {
        measured.report.results.iter().map(|result| result.pass).collect()
    };
    assert_eq!(passes(&stopped), passes(&whole));
    // Three of five decide.
    assert_eq!(starts(&stage) - before, 1 + 4 * 3);
    let said = stopped.report.measurement.as_ref().unwrap();
    assert_eq!((said.runs_saved, said.calls), (Some(8), 13));
    assert!(stopped.shortfall.is_none());
}

#[test]
fn a_limit_on_calls_keeps_what_was_measured_and_says_what_is_missing() {
    let stage = staged();
    let measurement = Measurement { runs: 3, ..stage.measurement("claude", None) };
    let prober = stage.prober(Mode::Off, settings(), Budget::new(Some(6), None));
    let measured = stage.measure_with(&measurement, &QUERIES, &prober).unwrap();
    assert_eq!(starts(&stage), 6);
    let shortfall = measured.shortfall.as_ref().unwrap();
    assert_eq!((shortfall.missing, shortfall.reason.as_str()), (7, "--max-calls 6 is used up"));
    assert_eq!(measured.report.measurement.as_ref().unwrap().partial, Some(true));
    // The next call pays for the rest only.
    let measured = stage.measure(&measurement, &QUERIES).unwrap();
    assert!(measured.shortfall.is_none());
    assert_eq!(starts(&stage), 13);
}

#[test]
fn what_was_measured_is_not_paid_for_again_unless_somebody_wants_that() {
    let stage = staged();
    let mut measurement = stage.measurement("claude", None);
    let first = stage.measure(&measurement, &QUERIES).unwrap();
    let again = stage.measure(&measurement, &QUERIES).unwrap();
    assert_eq!((starts(&stage), again.report), (5, first.report));
    measurement.kept = Resume::Nothing;
    stage.measure(&measurement, &QUERIES).unwrap();
    assert_eq!(starts(&stage), 10);
    // Another description is another measurement.
    measurement.kept = Resume::Earlier;
    measurement.skill = stage.skill().with_description("Something else");
    stage.measure(&measurement, &QUERIES).unwrap();
    assert_eq!(starts(&stage), 15);
}

#[test]
fn a_measurement_that_is_cancelled_goes_on_later() {
    let stage = staged();
    let measurement = Measurement { runs: 3, ..stage.measurement("claude", None) };
    let queries: Vec<LabelledQuery> =
        QUERIES.iter().map(|(text, label)| LabelledQuery::new(*text, *label)).collect();
    let cancel = CancellationToken::new();
    let prober = stage.prober(Mode::Off, settings(), Budget::default());
    let ended = Arc::new(Mutex::new(0));
    let cut = block_on(measure(&prober, &measurement, &queries, &cancel, &mut |event| {
        if let ProbeEvent::Ended { .. } = event {
            let mut ended = ended.lock().unwrap();
            *ended += 1;
            if *ended == 5 {
                cancel.cancel();
            }
        }
    }))
    .unwrap();
    let shortfall = cut.shortfall.unwrap();
    let measured = 12 - shortfall.missing;
    assert!((5..12).contains(&measured), "{measured}");
    assert_eq!(shortfall.reason, format!("interrupted after {measured} of 12 probes"));
    let results = &cut.report.results;
    let missing: u64 = results.iter().filter_map(|result| result.runs_missing).sum();
    assert_eq!(missing, shortfall.missing as u64);
    let mut resumed = 0;
    let prober = stage.prober(Mode::Off, settings(), Budget::default());
    let done = block_on(measure(
        &prober,
        &measurement,
        &queries,
        &CancellationToken::new(),
        &mut |event| {
            if let ProbeEvent::Started { resumed: known, .. } = event {
                resumed = known;
            }
        },
    ))
    .unwrap();
    assert_eq!(resumed, measured);
    assert_eq!(done.report.results.iter().map(|result| result.runs).sum::<u64>(), 12);
}

#[test]
fn a_recorded_measurement_is_told_again_without_the_agent() {
    let stage = staged();
    let measurement = Measurement { journal: None, ..stage.measurement("claude", None) };
    let tape = stage.path("tape");
    let record = stage.prober(Mode::Record(tape.clone()), settings(), Budget::default());
    let recorded = stage.measure_with(&measurement, &QUERIES, &record).unwrap();
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    let replay = stage.prober(Mode::Replay(tape), settings(), Budget::default());
    let told = stage.measure_with(&measurement, &QUERIES, &replay).unwrap();
    assert_eq!(told.report, recorded.report);
}

#[test]
fn the_description_under_test_is_written_into_a_copy_and_nothing_of_the_user_changes() {
    let stage = Stage::new().with("CLAUDE_CODE_OAUTH_TOKEN", "fake-token-0123456789");
    let seen = stage.path("seen.md");
    let look = format!("cp .claude/skills/csv-report/SKILL.md {}", seen.display());
    let mut steps = vec![Step::Quietly(vec![Step::Shell(look)])];
    steps.extend(load());
    skillgauge_testkit::agent::install(&stage.path("bin"), "claude", &AgentScript::new(steps))
        .unwrap();
    let files = || {
        let read = |path: &str| fs_err::read(stage.path(path)).unwrap();
        (
            TaskSkill::read(&stage.skill_folder()).unwrap().digest,
            read("project/csv-report/evals/evals.json"),
        )
    };
    let before = files();
    let mut measurement = stage.measurement("claude", None);
    measurement.skill = stage.skill().with_description("Use when: \"tables\" are wanted");
    stage.measure(&measurement, &QUERIES[..2]).unwrap();
    assert_eq!(files(), before);
    let installed = fs_err::read_to_string(seen).unwrap();
    assert!(installed.contains("tables"), "{installed}");
}
