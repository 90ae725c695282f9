//! The traps of Claude Code's stream around skills: asked, denied, forked, by a sub-agent, softly touched.

use serde_json::{Value, json};
use skillgauge_format::transcript::{
    EventKind, Outcome, Reason, SkillLoad, SkillState, Stop, SubAgentId, Transcript, UsageBasis,
};
use skillgauge_run::agent::adapter::Exit;

use crate::adapter::fixture::{Fixture, context, read};

fn claude(case: &str) -> Transcript {
    Fixture::load("claude", case).read()
}

fn loads(transcript: &Transcript) -> Vec<&SkillLoad> {
    let loads = transcript.events.iter().filter_map(|event| match &event.kind {
        EventKind::SkillLoad(load) => Some(load),
        _ => None,
    });
    loads.collect()
}

fn states(transcript: &Transcript) -> Vec<SkillState> {
    loads(transcript).iter().map(|load| load.state).collect()
}

#[test]
fn a_denied_load_is_no_trigger() {
    let transcript = claude("denied-skill");
    assert_eq!(
        (transcript.outcome(), transcript.end.reason),
        (Outcome::Denied, Reason::SkillDenied)
    );
    assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Denied]);
    assert!(transcript.requested("csv-report"));
    assert!(!transcript.loaded("csv-report"));
    assert_eq!(transcript.end.skills_denied, ["csv-report"]);
    assert_eq!(
        transcript.end.permission_denials, 1,
        "the event, the result's meta and the final list are one denial"
    );
}

#[test]
fn a_wrong_skill_name_is_requested_and_failed() {
    let transcript = claude("unknownskill");
    assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Failed]);
    assert!(loads(&transcript)[1].note.as_ref().unwrap().contains("Unknown skill: nope"));
    assert_eq!(transcript.end.skills_requested, ["nope"]);
    assert!(transcript.end.skills_loaded.is_empty());
    assert_eq!(
        transcript.outcome(),
        Outcome::Completed,
        "it says nothing about the skill under test"
    );
}

#[test]
fn a_load_by_a_sub_agent_names_the_sub_agent() {
    let transcript = claude("subagent");
    assert_eq!(transcript.end.skills_loaded, ["csv-report"]);
    let agent = Some(SubAgentId("a392f0d3913e92ce0".to_owned()));
    for event in
        transcript.events.iter().filter(|event| matches!(event.kind, EventKind::SkillLoad(_)))
    {
        assert_eq!(event.sub_agent, agent);
    }
    let count = |wanted: fn(&EventKind) -> bool| {
        transcript.events.iter().filter(|event| wanted(&event.kind)).count()
    };
    assert_eq!(count(|kind| matches!(kind, EventKind::SubAgentStart(_))), 1);
    assert_eq!(count(|kind| matches!(kind, EventKind::SubAgentEnd(_))), 1);
    assert_eq!(transcript.end.final_text.as_deref(), Some("main done"));
}

#[test]
fn a_sub_agent_without_an_announcement_is_announced_by_its_first_event() {
    let fixture = Fixture::load("claude", "subagent");
    let kept: Vec<Value> =
        fixture.lines().into_iter().filter(|line| line["subtype"] != "task_started").collect();
    let transcript = read("claude", &kept, Exit::code(0));
    assert!(
        transcript.events.iter().any(|event| matches!(event.kind, EventKind::SubAgentStart(_)))
    );
    assert_eq!(transcript.end.skills_loaded, ["csv-report"]);
}

#[test]
fn a_forked_skill_is_loaded_when_its_body_reaches_the_fork() {
    let transcript = claude("fork");
    assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Loaded]);
    assert_eq!(loads(&transcript)[1].forked_to, Some(SubAgentId("ae87a02a852241b04".to_owned())));
    let loaded = transcript.events.iter().find(|event| {
        matches!(&event.kind, EventKind::SkillLoad(load) if load.state == SkillState::Loaded)
    });
    assert_eq!(loaded.unwrap().line, Some(3), "before the fork has done its work");
}

#[test]
fn a_forked_skill_is_known_by_its_result_alone() {
    let fixture = Fixture::load("claude", "fork");
    let kept: Vec<Value> =
        fixture.lines().into_iter().filter(|line| line["subtype"] != "task_started").collect();
    let transcript = read("claude", &kept, Exit::code(0));
    assert_eq!(transcript.end.skills_loaded, ["forky"]);
    assert!(loads(&transcript)[1].forked_to.is_some());
}

#[test]
fn a_plugin_skill_has_its_plugin_in_its_name() {
    let transcript = claude("plugin-load");
    assert_eq!(transcript.end.skills_loaded, ["undertest:csv-report"]);
    assert!(transcript.loaded("csv-report"));
    assert!(transcript.loaded("undertest:csv-report"));
    assert!(!transcript.loaded("report"));
}

#[test]
fn a_slash_command_forces_a_load_that_leaves_no_trace() {
    let transcript = claude("slash");
    assert!(transcript.end.skills_requested.is_empty());
    assert!(transcript.end.skills_loaded.is_empty());
    assert_eq!(transcript.outcome(), Outcome::Completed);
}

#[test]
fn a_soft_touch_is_kept_apart() {
    let transcript = claude("soft-read");
    assert!(transcript.end.skills_loaded.is_empty());
    assert!(transcript.end.skills_requested.is_empty());
    assert_eq!(transcript.end.skills_touched, ["csv-report"]);
    let paths: Vec<&str> = transcript
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::SkillTouch(touch) => Some(touch.path.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        paths,
        [
            "/WORK/.claude/skills/csv-report/SKILL.md",
            ".claude/skills/csv-report/references/style.md"
        ]
    );
}

#[test]
fn a_script_of_a_loaded_skill_is_no_soft_touch() {
    let transcript = claude("full");
    assert!(transcript.end.skills_touched.is_empty());
    assert!(!transcript.events.iter().any(|event| matches!(event.kind, EventKind::SkillTouch(_))));
}

#[test]
fn init_skills_is_not_the_listing() {
    for case in ["bare-skilltool", "plugdir", "flaw", "text"] {
        let transcript = claude(case);
        assert!(transcript.end.skills_requested.is_empty(), "{case}");
        assert!(transcript.end.skills_loaded.is_empty(), "{case}");
    }
}

#[test]
fn a_partial_message_asks_early_and_loads_only_with_the_result() {
    let fixture = Fixture::load("claude", "recommended");
    let mut adapter = fixture.kind().open(context("claude"));
    let mut seen = Vec::new();
    for (line, number) in fixture.stream.split(|byte| *byte == b'\n').zip(1..) {
        for event in adapter.line(line) {
            if let EventKind::SkillLoad(load) = &event.kind {
                seen.push((number, load.state));
            }
        }
    }
    assert_eq!(seen, [(6, SkillState::Asked), (9, SkillState::Loaded)]);
}

#[test]
fn a_partial_message_that_is_never_finished_stays_asked() {
    let fixture = Fixture::load("claude", "recommended");
    let kept: Vec<Value> = fixture.lines().into_iter().take(6).collect();
    let transcript = read("claude", &kept, Exit::stopped(Stop::Timeout));
    assert_eq!(transcript.end.skills_requested, ["csv-report"]);
    assert!(transcript.end.skills_loaded.is_empty());
}

#[test]
fn a_probe_that_is_stopped_at_the_proof_is_completed_and_has_a_lower_bound_of_its_tokens() {
    let fixture = Fixture::load("claude", "skill-then-hang");
    let transcript =
        fixture.kind().read(context("claude"), &fixture.stream, Exit::stopped(Stop::Proof));
    assert_eq!(
        (transcript.outcome(), transcript.end.reason),
        (Outcome::Completed, Reason::StoppedAtProof)
    );
    assert!(transcript.loaded("csv-report"));
    let usage = transcript.end.usage.unwrap();
    assert_eq!(
        (usage.basis, usage.output_tokens, usage.requests),
        (UsageBasis::Partial, 50, Some(1))
    );
    assert_eq!(transcript.end.cost_usd, None);
}

#[test]
fn max_turns_after_a_load_keeps_both_visible() {
    let transcript = claude("maxturns-skill");
    assert_eq!(transcript.end.skills_loaded, ["csv-report"]);
    assert_eq!((transcript.outcome(), transcript.end.reason), (Outcome::Failed, Reason::MaxTurns));
    assert_eq!(claude("err-budget").end.reason, Reason::Budget);
}

#[test]
fn a_skill_whose_result_proves_nothing_is_loaded_when_its_body_follows() {
    let mut events = Fixture::load("claude", "full").lines();
    events[3]["tool_use_result"] = Value::Null;
    events[3]["message"]["content"][0]["content"] = json!("new wording");
    let transcript = read("claude", &events, Exit::code(0));
    assert_eq!(transcript.end.skills_loaded, ["csv-report"]);
    events.remove(4);
    let without_body = read("claude", &events, Exit::code(0));
    assert!(without_body.end.skills_loaded.is_empty());
    assert!(without_body.requested("csv-report"));
}

#[test]
fn a_result_that_says_no_success_is_no_load() {
    let mut events = Fixture::load("claude", "full").lines();
    events[3]["tool_use_result"] = json!({"success": false, "commandName": "csv-report"});
    let transcript = read("claude", &events, Exit::code(0));
    assert!(transcript.end.skills_loaded.is_empty());
    assert_eq!(transcript.outcome(), Outcome::Denied);
}
