//! Probes of the real Codex: it has no tool for skills, so reading the body of SKILL.md is the proof.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use skillgauge_core::trigger::Answer;
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, ToolResult};

use super::{CONTROL, counts};
use crate::real_bench::RealBench;

const MODEL: Option<&str> = Some("gpt-5.5");

fn shell(command: &str) -> Reply {
    Reply::tool("exec_command", json!({"cmd": command}))
}

fn read(skill: &str) -> Reply {
    shell(&format!("cat .agents/skills/{skill}/SKILL.md"))
}

fn at(prompt: &str, results: usize, reply: Reply) -> Rule {
    let state = if results == 0 { ToolResult::Absent } else { ToolResult::Count(results) };
    Rule::reply(reply).prompt(prompt).tool_result(state)
}

fn model() -> Script {
    Script::new()
        .rule(at(CONTROL, 0, read("csv-report")).named("control"))
        .rule(at("at once", 0, read("csv-report")).named("at once"))
        .rule(at("later", 0, shell("ls")).named("later"))
        .rule(at("later", 1, shell("pwd")).named("later"))
        .rule(at("later", 2, shell("date")).named("later"))
        .rule(at("later", 3, read("csv-report")).named("later"))
        .rule(at("other skill", 0, read("slides")).named("other"))
        .rule(at("missing", 0, shell("cat .agents/skills/csv-report/NOTHING.md")).named("missing"))
        .rule(
            at("touch", 0, shell("cat .agents/skills/csv-report/scripts/count.sh")).named("touch"),
        )
        .rule(Rule::reply(Reply::text("Done.")).named("end"))
}

#[test]
fn codex_triggers_at_once_and_later_and_not_by_a_touch_or_another_skill() {
    let Some(real) = RealBench::codex(model()) else { return };
    let mut measurement = real.bench.measurement("codex", MODEL);
    measurement.neighbours = vec![real.bench.neighbour()];
    let measured = real
        .bench
        .measure(
            &measurement,
            &[
                ("a report at once", true),
                ("a report later", true),
                ("the other skill", false),
                ("touch its files", false),
                ("never", false),
            ],
        )
        .unwrap();
    for (query, triggers) in
        [("at once", 1), ("later", 1), ("other skill", 0), ("touch", 0), ("never", 0)]
    {
        let (found, errors, runs, result) = counts(&measured, query);
        assert_eq!(
            (found, errors, runs, result.pass),
            (triggers, 0, 1, true),
            "{query}: {result:#?}"
        );
    }
    assert_eq!(counts(&measured, "touch").3.soft_touches, Some(1));
    assert_eq!(counts(&measured, "other").3.other_skills.as_ref().unwrap()["slides"], 1);
    let said = measured.report.measurement.as_ref().unwrap();
    assert_eq!(
        (said.agent.as_deref(), said.agent_version.as_deref()),
        (Some("codex"), Some("0.166.0"))
    );
    assert!(said.cost_usd.is_none(), "Codex tells no price");
    real.check_clean();
}

/// Kills every Codex that works below a folder of this test, until the test says that it is enough. Its own commands
/// cannot do that: they live in a sandbox.
fn kill_below(folder: &Path, enough: &AtomicBool) {
    let folder = folder.display().to_string();
    while !enough.load(Ordering::SeqCst) {
        for entry in fs_err::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
            let line = fs_err::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            let is_codex = line.split('\0').next().is_some_and(|first| first.ends_with("/codex"));
            if is_codex && line.contains(&folder) {
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_codex_that_dies_measures_nothing_and_is_tried_again() {
    let silent = Rule::reply(Reply::text("It never ends."))
        .and_fault(Fault::Silence { after_chunks: 5, ms: 600_000 });
    let Some(real) = RealBench::codex(Script::new().rule(silent.named("silent"))) else { return };
    let enough = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let scratch = real.bench.path("scratch");
        let enough = &enough;
        scope.spawn(move || kill_below(&scratch, enough));
        let result = real.bench.probe("codex", MODEL, "die");
        enough.store(true, Ordering::SeqCst);
        result
    });
    assert_eq!(result.observation.reason, Reason::Crashed, "{result:#?}");
    assert_eq!(result.observation.answer("csv-report"), Answer::Unmeasured(Outcome::Failed));
    assert_eq!(result.spending.calls, 3);
    real.check_clean();
}

#[test]
fn a_rate_limit_of_codex_that_passes_costs_an_attempt_and_not_the_answer() {
    let limit = Fault::status(429).message("Slow down");
    let script = Script::new()
        .rule(Rule::fault(limit).times(1).named("limit"))
        .rule(at("at once", 0, read("csv-report")).named("at once"))
        .rule(Rule::reply(Reply::text("Done.")));
    let Some(real) = RealBench::codex(script) else { return };
    let result = real.bench.probe("codex", MODEL, "at once");
    assert!(matches!(result.observation.answer("csv-report"), Answer::Triggered(_)), "{result:#?}");
    assert_eq!(result.spending.calls, 2);
    real.check_clean();
}
