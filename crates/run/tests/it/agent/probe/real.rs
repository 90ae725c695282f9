//! Probes of the real Claude Code and Codex: every way in which a skill can be loaded, or not. Codex has no tool for
//! skills, so reading the body of SKILL.md is its proof.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use skillgauge_core::skill::Document;
use skillgauge_core::trigger::Answer;
use skillgauge_core::trigger::listing::{ListedSkill, Listing, ListingRule};
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_format::trigger::ListedDescription;
use skillgauge_run::probe::{Crowd, Measured, ProbeError};
use skillgauge_testkit::real::RealAgent::{self, Claude, Codex};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, ToolResult};

use super::{CONTROL, counts};
use crate::agent::real_stage::RealStage;

/// What a model says to a prompt after so many results of tools.
fn at(prompt: &str, results: usize, reply: Reply) -> Rule {
    let state = if results == 0 { ToolResult::Absent } else { ToolResult::Count(results) };
    Rule::reply(reply).prompt(prompt).tool_result(state)
}

/// A model that does something else for each query.
fn model(agent: RealAgent) -> Script {
    let touch = format!("cat {}/csv-report/scripts/count.sh", agent.skills_folder());
    let delegate = json!({
        "description": "make it", "prompt": "inner: make a report", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    Script::new()
        .rule(at(CONTROL, 0, agent.load("csv-report")).named("control"))
        .rule(at("at once", 0, agent.load("csv-report")).named("at once"))
        .rule(at("later", 0, agent.shell("ls")).named("later"))
        .rule(at("later", 1, agent.shell("pwd")).named("later"))
        .rule(at("later", 2, agent.shell("date")).named("later"))
        .rule(at("later", 3, agent.load("csv-report")).named("later"))
        .rule(at("inner:", 0, agent.load("csv-report")).named("inner"))
        .rule(at("delegate", 0, Reply::tool("Agent", delegate)).named("delegate"))
        .rule(at("other skill", 0, agent.load("slides")).named("other"))
        .rule(at("no such skill", 0, agent.load("made-up")).named("made-up"))
        .rule(at("touch", 0, agent.shell(&touch)).named("touch"))
        .rule(Rule::reply(Reply::text("Done.")).named("end"))
}

#[test]
fn claude_triggers_at_once_later_and_in_a_sub_agent_and_not_by_a_touch_or_another_skill() {
    let more = [("delegate a report", true), ("no such skill", false)];
    let Some((real, measured)) = triggers_at_once_and_later(Claude, &more) else { return };
    assert_eq!(counts(&measured, "delegate").3.sub_agent_triggers, Some(1));
    assert_eq!(counts(&measured, "later").3.sub_agent_triggers, Some(0));
    let said = measured.report.measurement.as_ref().unwrap();
    assert_eq!((said.calls, said.sub_agent_triggers, said.soft_touches), (8, 1, 1));
    assert!(said.control.as_ref().unwrap().passed);
    assert!(real.server.unmatched().is_empty());
}

#[test]
fn codex_triggers_at_once_and_later_and_not_by_a_touch_or_another_skill() {
    let Some((_, measured)) = triggers_at_once_and_later(Codex, &[]) else { return };
    let said = measured.report.measurement.unwrap();
    assert!(said.cost_usd.is_none(), "Codex tells no price");
}

fn triggers_at_once_and_later(
    agent: RealAgent,
    more: &[(&str, bool)],
) -> Option<(RealStage, Measured)> {
    let real = RealStage::new(agent, model(agent))?;
    let before = real.stage.skill().digest;
    let mut measurement = real.stage.measurement(agent.name(), Some(agent.model()));
    measurement.neighbours = vec![real.stage.neighbour()];
    let usual = [
        ("a report at once", true),
        ("a report later", true),
        ("the other skill", false),
        ("touch its files", false),
        ("never", false),
    ];
    let queries = [&usual, more].concat();
    let measured = real.stage.measure(&measurement, &queries).unwrap();
    for (query, should) in queries {
        let (triggers, errors, runs, result) = counts(&measured, query);
        let found = (triggers, errors, runs, result.pass);
        assert_eq!(found, (u64::from(should), 0, 1, true), "{query}: {result:#?}");
    }
    assert_eq!(counts(&measured, "touch").3.soft_touches, Some(1));
    assert_eq!(counts(&measured, "other").3.other_skills.as_ref().unwrap()["slides"], 1);
    let said = measured.report.measurement.as_ref().unwrap();
    let version = (said.agent.as_deref(), said.agent_version.as_deref());
    assert_eq!(version, (Some(agent.name()), Some(agent.version())));
    assert_eq!(real.stage.skill().digest, before);
    real.check_clean();
    Some((real, measured))
}

#[test]
fn a_refused_load_is_neither_a_trigger_nor_a_quiet_run_and_the_control_says_so() {
    let Some(real) = RealStage::new(Claude, model(Claude)) else { return };
    let refuse =
        "[agents.claude]\nextra-arguments = [\"--disallowedTools\", \"Skill(csv-report)\"]\n";
    let real = RealStage { stage: real.stage.with_project(refuse), ..real };
    let error = real
        .stage
        .measure(
            &real.stage.measurement("claude", Some(Claude.model())),
            &[("at once", true), ("never", false)],
        )
        .unwrap_err();
    let ProbeError::Control { result, .. } = &error else { panic!("{error}") };
    let observation = &result.observation;
    assert_eq!(
        observation.answer("csv-report"),
        Answer::Unmeasured(Outcome::Denied),
        "{observation:#?}"
    );
    assert!(error.to_string().contains("loading `csv-report` was refused"), "{error}");
    assert!(
        real.rules().iter().all(|rule| rule == "control" || rule == "end"),
        "{:?}",
        real.rules()
    );
    real.check_clean();
}

#[test]
fn a_claude_that_dies_measures_nothing_and_is_tried_again() {
    let die = at("die", 0, Claude.shell("kill -9 $PPID; sleep 1"));
    let script = Script::new().rule(die.named("die")).rule(Rule::reply(Reply::text("Done.")));
    let Some(real) = RealStage::new(Claude, script) else { return };
    let result = real.stage.probe("claude", Some(Claude.model()), "die");
    assert_eq!(result.observation.reason, Reason::Crashed, "{result:#?}");
    assert_eq!(result.observation.answer("csv-report"), Answer::Unmeasured(Outcome::Failed));
    assert_eq!((result.spending.calls, real.rules().len()), (3, 3));
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
    let Some(real) = RealStage::new(Codex, Script::new().rule(silent.named("silent"))) else {
        return;
    };
    let enough = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let scratch = real.stage.path("scratch");
        let enough = &enough;
        scope.spawn(move || kill_below(&scratch, enough));
        let result = real.stage.probe("codex", Some(Codex.model()), "die");
        enough.store(true, Ordering::SeqCst);
        result
    });
    assert_eq!(result.observation.reason, Reason::Crashed, "{result:#?}");
    assert_eq!(result.observation.answer("csv-report"), Answer::Unmeasured(Outcome::Failed));
    assert_eq!(result.spending.calls, 3);
    real.check_clean();
}

#[test]
fn a_rate_limit_of_claude_that_passes_costs_an_attempt_and_not_the_answer() {
    let quick = "[agents.claude]\nenvironment = { CLAUDE_CODE_MAX_RETRIES = \"1\" }\n";
    let limit = Rule::fault(Fault::status(429).retry_after("1").message("Slow down")).times(2);
    let Some(rules) = a_rate_limit_costs_an_attempt(Claude, limit, quick) else { return };
    assert_eq!(&rules[..3], ["limit", "limit", "at once"]);
}

#[test]
fn a_rate_limit_of_codex_that_passes_costs_an_attempt_and_not_the_answer() {
    let limit = Rule::fault(Fault::status(429).message("Slow down")).times(1);
    a_rate_limit_costs_an_attempt(Codex, limit, "");
}

fn a_rate_limit_costs_an_attempt(
    agent: RealAgent,
    limit: Rule,
    project: &str,
) -> Option<Vec<String>> {
    let script = Script::new()
        .rule(limit.named("limit"))
        .rule(at("at once", 0, agent.load("csv-report")).named("at once"))
        .rule(Rule::reply(Reply::text("Done.")));
    let real = RealStage::new(agent, script)?;
    let real = RealStage { stage: real.stage.with_project(project), ..real };
    let result = real.stage.probe(agent.name(), Some(agent.model()), "at once");
    assert!(matches!(result.observation.answer("csv-report"), Answer::Triggered(_)), "{result:#?}");
    assert_eq!(result.spending.calls, 2);
    real.check_clean();
    Some(real.rules())
}

#[test]
fn in_a_crowd_claude_drops_as_many_descriptions_as_the_model_of_its_list_says() {
    for made_up in [20, 60] {
        let Some(real) = RealStage::new(Claude, model(Claude)) else { return };
        let crowd = Crowd::gather(&[], made_up, "csv-report", &real.stage.path("crowd")).unwrap();
        let mut measurement = real.stage.measurement("claude", Some(Claude.model()));
        measurement.neighbours.clone_from(&crowd.skills);
        let measured = real.stage.measure(&measurement, &[("at once", true), ("never", false)]);
        let described = measured.unwrap().report.listing.unwrap();
        let rule = ListingRule::claude_code();
        let all = measurement.neighbours.iter().chain([&measurement.skill]);
        let skills: Vec<ListedSkill> = all
            .map(|skill| {
                let text = fs_err::read(skill.folder.join("SKILL.md")).unwrap();
                ListedSkill::of(&skill.name, &Document::from_bytes(&text), None, &rule)
            })
            .collect();
        let seen = real.listed();
        assert_eq!(seen.len(), made_up + 1, "{seen:?}");
        let bare = seen.iter().filter(|line| !line.contains(": ")).count();
        let modelled = Listing::of(&skills, &rule);
        assert_eq!(bare == 0, modelled.name_only == 0, "{bare} bare, modelled {modelled:?}");
        let close = bare.abs_diff(modelled.name_only) <= 2;
        assert!(close, "{bare} of {} by name only, modelled {}", seen.len(), modelled.name_only);
        let expected =
            if made_up == 60 { ListedDescription::AtRisk } else { ListedDescription::Whole };
        assert_eq!(described.description, Some(expected));
        // Whole lines read as we write them.
        let whole =
            |skill: &ListedSkill| seen.iter().any(|line| format!("- {line}") == skill.line(&rule));
        assert_eq!(skills.iter().filter(|skill| whole(skill)).count(), seen.len() - bare);
    }
}
