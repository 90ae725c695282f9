//! Skills that `validate` finds fault with, and agents that were not tested: measured with a warning, refused only where
//! nothing could be measured.

use crate::command::Project;
use crate::run::{ITERATION, calls, greeter, run, script, stderr};

/// Loaded by agents all the same: Claude Code lists a name in capitals with its whole description.
const FAULTY: &str = "---\nname: Greeter_Skill\ndescription: Greets <readers>. Use when somebody reads.\n---\n\n# Body\n\nGreet.\n";

const TRIGGERS: &str = r#"[{"query": "Greet me", "should_trigger": true}, {"query": "Cook pasta", "should_trigger": false}]"#;

/// Loads whatever is installed when it is asked to greet, or by the control.
const LOADER: &str = r#"#!/bin/sh
prompt=$(cat)
for folder in "$SKILLGAUGE_SKILLS"/*; do name=$(basename "$folder"); done
case "$prompt" in *Greet*|*"$name"*) echo "{\"type\":\"skill\",\"name\":\"$name\",\"state\":\"loaded\"}";; esac
echo '{"type":"result","text":"done"}'
"#;

fn faulty() -> Project {
    let project = greeter();
    project.file("greeter/SKILL.md", FAULTY).file("greeter/evals/triggers.json", TRIGGERS);
    script(&project, "loader.sh", LOADER);
    project
}

const SAID: &str = "and is measured as it is:";

#[test]
fn run_measures_a_skill_with_validation_errors_and_says_so_in_a_dry_run_too() {
    let project = faulty();
    assert_eq!(project.exit_code(&["validate", "greeter"]), Some(1));
    let dry = run(&project, &["--dry-run"]);
    assert_eq!(dry.status.code(), Some(0), "{}", project.shown(&dry));
    assert!(
        stderr(&dry).contains(SAID) && stderr(&dry).contains("  NAME_FORMAT: "),
        "{}",
        stderr(&dry)
    );
    assert!(stderr(&dry).contains("`skillgauge validate greeter` shows where"), "{}", stderr(&dry));
    assert_eq!(calls(&project), 0);
    let output = run(&project, &["--runs", "1", "--case", "1", "--baseline", "none"]);
    assert_ne!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert_eq!(calls(&project), 1);
    assert!(project.path().join(ITERATION).join("benchmark.json").is_file());
}

#[test]
fn trigger_tune_and_route_measure_it_too() {
    let project = faulty();
    let agent = ["--agent", "command:./loader.sh", "--runs", "1"];
    let output = project.output(&[&["trigger", "greeter"], &agent[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert!(stderr(&output).contains(SAID), "{}", stderr(&output));
    script(&project, "improver.sh", "#!/bin/sh\ncat > /dev/null\nexit 1\n");
    let tune = ["tune", "greeter", "--rounds", "1", "--improver", "command:./improver.sh"];
    let output = project.output(&[&tune[..], &agent].concat());
    assert_ne!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert!(stderr(&output).contains(SAID), "{}", stderr(&output));
    project.good_skill("skills/other");
    project
        .file("skills/greeter/SKILL.md", FAULTY)
        .file("skills/greeter/evals/triggers.json", TRIGGERS);
    let output = project.output(&[&["route", "skills"], &agent[..]].concat());
    assert_ne!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert!(stderr(&output).contains(SAID), "{}", stderr(&output));
}

#[test]
fn what_no_agent_can_load_is_refused() {
    let project = faulty();
    fs_err::remove_file(project.path().join("greeter/SKILL.md")).unwrap();
    for command in ["run", "trigger", "tune", "improve"] {
        let output = project.output(&[command, "greeter", "--agent", "command:./loader.sh"]);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", project.shown(&output));
    }
    let said = stderr(&run(&project, &[]));
    assert!(said.contains("no agent can load this skill:\n  SKILL_MD_MISSING"), "{said}");
    assert_eq!(calls(&project), 0);
}

/// A program that says that it is some version of an agent, and counts its other calls.
fn version(project: &Project, agent: &str, version: &str) -> String {
    let log = project.path().join("calls.log").display().to_string();
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo '{version}'; exit;; esac\necho call >> '{log}'\nexit 1\n"
    );
    script(project, &format!("bin/{agent}"), &text);
    format!("{}:/usr/bin:/bin", project.path().join("bin").display())
}

fn with(project: &Project, path: &str, args: &[&str]) -> (Option<i32>, String) {
    let mut command = project.command(args);
    command.env("PATH", path).env("ANTHROPIC_API_KEY", "k").env("OPENAI_API_KEY", "k");
    let output = command.output().unwrap();
    (output.status.code(), stderr(&output) + &String::from_utf8_lossy(&output.stdout))
}

const DRY: [&str; 8] = [
    "run",
    "greeter",
    "--agent",
    "claude",
    "--judge",
    "command:./judge.sh",
    "--dry-run",
    "--quiet",
];

#[test]
fn a_version_that_was_not_tested_is_warned_about_and_the_advice_helps() {
    let project = greeter();
    let dry = &DRY[..7];
    for (found, said) in [
        (
            "2.1.100 (Claude Code)",
            "warning: claude 2.1.100 is older than what skillgauge was tested with",
        ),
        (
            "3.0.0 (Claude Code)",
            "warning: claude 3.0.0 is newer than what skillgauge was tested with",
        ),
    ] {
        let path = version(&project, "claude", found);
        let (code, text) = with(&project, &path, dry);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains(said), "{text}");
        assert_eq!(text.contains("it needs Node 22"), found.starts_with("2."), "{text}");
        // Doctor says the same, from the same place.
        let (_, doctor) = with(&project, &path, &["doctor"]);
        let said = said.trim_start_matches("warning: ");
        assert!(doctor.contains(said), "{doctor}");
        assert!(!doctor.contains("too old"), "{doctor}");
    }
    let path = version(&project, "claude", "2.1.325 (Claude Code)");
    let (_, text) = with(&project, &path, dry);
    assert!(!text.contains("was tested with"), "{text}");
    assert_eq!(calls(&project), 0);
}

#[test]
fn a_version_that_cannot_be_measured_is_refused_by_everyone() {
    let project = greeter();
    project.file("greeter/evals/triggers.json", TRIGGERS);
    let path = version(&project, "claude", "2.0.62 (Claude Code)");
    let said = "2.0.62 was found, and versions before 2.0.64 can't be measured correctly; install it with \
                `npm install -g @anthropic-ai/claude-code`; it needs Node 22, and with an older Node npm installs an \
                older version unless you name one: `npm install -g @anthropic-ai/claude-code@2.1.325`";
    for args in [&DRY[..7], &["trigger", "greeter", "--agent", "claude"], &["doctor"]] {
        let (code, text) = with(&project, &path, args);
        assert_ne!(code, Some(0), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
    let path = version(&project, "claude", "2.0.64 (Claude Code)");
    let (code, text) = with(&project, &path, &DRY[..7]);
    assert_eq!(code, Some(0), "{text}");
    // Codex lost the ends of commands, and with them the proof of a load.
    for (found, refused) in [("0.157.1", true), ("0.158.0", false)] {
        let path = version(&project, "codex", &format!("codex-cli {found}"));
        let args =
            ["run", "greeter", "--agent", "codex", "--judge", "command:./judge.sh", "--dry-run"];
        let (code, text) = with(&project, &path, &args);
        assert_eq!(code != Some(0), refused, "{text}");
        assert_eq!(text.contains("versions before 0.158.0 can't be measured"), refused, "{text}");
    }
    assert_eq!(calls(&project), 0);
}

#[test]
fn a_skill_that_this_agent_never_lists_is_refused_and_one_that_lists_it_is_asked() {
    let project = greeter();
    project
        .file("greeter/SKILL.md", "---\nname: greeter\n---\n\nGreet every reader.\n")
        .file("greeter/evals/triggers.json", TRIGGERS);
    script(&project, "loader.sh", LOADER);
    let path = version(&project, "codex", "codex-cli 0.166.0");
    let said =
        "codex lists no skill without a description that can be read, and `greeter` has none";
    for args in [
        &["run", "greeter", "--agent", "codex", "--judge", "command:./judge.sh"][..],
        &["trigger", "greeter", "--agent", "codex"],
    ] {
        let (code, text) = with(&project, &path, args);
        assert_eq!(code, Some(2), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
    assert_eq!(calls(&project), 0);
    let output =
        project.output(&["trigger", "greeter", "--agent", "command:./loader.sh", "--runs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert!(
        stderr(&output).contains("its first line: \"Greet every reader.\""),
        "{}",
        stderr(&output)
    );
}
