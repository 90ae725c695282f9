//! Probes of the real Claude Code: every way in which a skill can be loaded, or not.

use serde_json::json;
use skillgauge_core::trigger::Answer;
use skillgauge_core::trigger::listing::{CONTEXT_TOKENS, ListedSkill, Listing, budget};
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_format::trigger::ListedDescription;
use skillgauge_run::probe::{Crowd, ProbeError, listing_of};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, ToolResult};

use super::{CONTROL, counts};
use crate::real_bench::RealBench;

const MODEL: Option<&str> = Some("claude-sonnet-4-5");

fn skill(name: &str) -> Reply {
    Reply::tool("Skill", json!({"skill": name}))
}

fn shell(command: &str) -> Reply {
    Reply::tool("Bash", json!({"command": command}))
}

fn at(prompt: &str, results: usize, reply: Reply) -> Rule {
    let state = if results == 0 { ToolResult::Absent } else { ToolResult::Count(results) };
    Rule::reply(reply).prompt(prompt).tool_result(state)
}

/// A model that does something else for each query.
fn model() -> Script {
    let delegate = json!({
        "description": "make it", "prompt": "inner: make a report", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    Script::new()
        .rule(at(CONTROL, 0, skill("csv-report")).named("control"))
        .rule(at("at once", 0, skill("csv-report")).named("at once"))
        .rule(at("later", 0, shell("ls")).named("later"))
        .rule(at("later", 1, shell("pwd")).named("later"))
        .rule(at("later", 2, shell("date")).named("later"))
        .rule(at("later", 3, skill("csv-report")).named("later"))
        .rule(at("inner:", 0, skill("csv-report")).named("inner"))
        .rule(at("delegate", 0, Reply::tool("Agent", delegate)).named("delegate"))
        .rule(at("other skill", 0, skill("slides")).named("other"))
        .rule(at("no such skill", 0, skill("made-up")).named("made-up"))
        .rule(
            at("touch", 0, shell("cat .claude/skills/csv-report/scripts/count.sh")).named("touch"),
        )
        .rule(Rule::reply(Reply::text("Done.")).named("end"))
}

#[test]
fn claude_triggers_at_once_later_and_in_a_sub_agent_and_not_by_a_touch_or_another_skill() {
    let Some(real) = RealBench::claude(model()) else { return };
    let before = real.bench.skill().digest;
    let mut measurement = real.bench.measurement("claude", MODEL);
    measurement.neighbours = vec![real.bench.neighbour()];
    let measured = real
        .bench
        .measure(
            &measurement,
            &[
                ("a report at once", true),
                ("a report later", true),
                ("delegate a report", true),
                ("the other skill", false),
                ("no such skill", false),
                ("touch its files", false),
                ("never", false),
            ],
        )
        .unwrap();
    for (query, triggers) in [
        ("at once", 1),
        ("later", 1),
        ("delegate", 1),
        ("other skill", 0),
        ("no such", 0),
        ("touch", 0),
        ("never", 0),
    ] {
        let (found, errors, runs, result) = counts(&measured, query);
        assert_eq!(
            (found, errors, runs, result.pass),
            (triggers, 0, 1, true),
            "{query}: {result:#?}"
        );
    }
    assert_eq!(counts(&measured, "delegate").3.sub_agent_triggers, Some(1));
    assert_eq!(counts(&measured, "later").3.sub_agent_triggers, Some(0));
    assert_eq!(counts(&measured, "touch").3.soft_touches, Some(1));
    assert_eq!(counts(&measured, "other").3.other_skills.as_ref().unwrap()["slides"], 1);
    let said = measured.report.measurement.as_ref().unwrap();
    assert_eq!(
        (said.agent.as_deref(), said.agent_version.as_deref()),
        (Some("claude"), Some("2.1.325"))
    );
    assert_eq!((said.calls, said.sub_agent_triggers, said.soft_touches), (8, 1, 1));
    assert!(said.control.as_ref().unwrap().passed);
    assert_eq!(real.bench.skill().digest, before);
    assert!(real.server.unmatched().is_empty());
    real.check_clean();
}

#[test]
fn a_refused_load_is_neither_a_trigger_nor_a_quiet_run_and_the_control_says_so() {
    let Some(real) = RealBench::claude(model()) else { return };
    let refuse =
        "[agents.claude]\nextra-arguments = [\"--disallowedTools\", \"Skill(csv-report)\"]\n";
    let real = RealBench { bench: real.bench.with_project(refuse), ..real };
    let error = real
        .bench
        .measure(&real.bench.measurement("claude", MODEL), &[("at once", true), ("never", false)])
        .unwrap_err();
    let ProbeError::Control { observation, .. } = &error else { panic!("{error}") };
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
    let die = at("die", 0, shell("kill -9 $PPID; sleep 1"));
    let script = Script::new().rule(die.named("die")).rule(Rule::reply(Reply::text("Done.")));
    let Some(real) = RealBench::claude(script) else { return };
    let result = real.bench.probe("claude", MODEL, "die");
    assert_eq!(result.observation.reason, Reason::Crashed, "{result:#?}");
    assert_eq!(result.observation.answer("csv-report"), Answer::Unmeasured(Outcome::Failed));
    assert_eq!((result.spending.calls, real.rules().len()), (3, 3));
    real.check_clean();
}

#[test]
fn a_rate_limit_of_claude_that_passes_costs_an_attempt_and_not_the_answer() {
    let limit = Fault::status(429).retry_after("1").message("Slow down");
    let script = Script::new()
        .rule(Rule::fault(limit).times(2).named("limit"))
        .rule(at("at once", 0, skill("csv-report")).named("at once"))
        .rule(Rule::reply(Reply::text("Done.")));
    let Some(real) = RealBench::claude(script) else { return };
    let quick = "[agents.claude]\nenvironment = { CLAUDE_CODE_MAX_RETRIES = \"1\" }\n";
    let real = RealBench { bench: real.bench.with_project(quick), ..real };
    let result = real.bench.probe("claude", MODEL, "at once");
    assert!(matches!(result.observation.answer("csv-report"), Answer::Triggered(_)), "{result:#?}");
    assert_eq!(result.spending.calls, 2);
    assert_eq!(&real.rules()[..3], ["limit", "limit", "at once"]);
    real.check_clean();
}

/// The entries of the listing of skills in the first request.
fn listed(real: &RealBench) -> Vec<String> {
    let context = real.server.requests()[0].view().context;
    let heading = "skills are available for use with the Skill tool:\n\n";
    let (_, list) = context.split_once(heading).unwrap();
    list.lines().map_while(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

#[test]
fn in_a_crowd_claude_drops_as_many_descriptions_as_the_model_of_its_list_says() {
    for made_up in [20, 60] {
        let Some(real) = RealBench::claude(model()) else { return };
        let crowd = Crowd::gather(&[], made_up, "csv-report", &real.bench.path("crowd")).unwrap();
        let mut measurement = real.bench.measurement("claude", MODEL);
        measurement.neighbours.clone_from(&crowd.skills);
        let (skills, described) = listing_of(&measurement).unwrap();
        real.bench.measure(&measurement, &[("at once", true), ("never", false)]).unwrap();
        let seen = listed(&real);
        assert_eq!(seen.len(), made_up + 1, "{seen:?}");
        let bare = seen.iter().filter(|line| !line.contains(": ")).count();
        let modelled = Listing::of(&skills, budget(CONTEXT_TOKENS));
        assert_eq!(bare == 0, modelled.name_only == 0, "{bare} bare, modelled {modelled:?}");
        let close = bare.abs_diff(modelled.name_only) <= 2;
        assert!(close, "{bare} of {} by name only, modelled {}", seen.len(), modelled.name_only);
        let expected =
            if made_up == 60 { ListedDescription::AtRisk } else { ListedDescription::Whole };
        assert_eq!(described.description, expected);
        // Whole lines read as we write them.
        let whole =
            |skill: &ListedSkill| seen.iter().any(|line| format!("- {line}") == skill.line());
        assert_eq!(skills.iter().filter(|skill| whole(skill)).count(), seen.len() - bare);
    }
}
