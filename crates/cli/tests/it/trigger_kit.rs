//! A stage for `trigger`, `route` and `tune` with a shell script as the agent: it writes down what it saw.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::Value;

use crate::command::Project;

/// Loads the skill, as the events of a `command:` agent tell it.
pub(crate) const LOAD: &str = r#"echo '{"type":"skill","name":"tables","state":"loaded"}'"#;

/// A project with the skill `tables` and a scripted agent.
pub(crate) struct ScriptStage {
    pub(crate) project: Project,
}

impl ScriptStage {
    /// `cases` are branches of a `case` over the prompt; the control always loads the skill.
    pub(crate) fn new(set: &Value, cases: &str) -> Self {
        let stage = Self { project: Project::new() };
        stage.project.good_skill("tables");
        stage.set(set);
        stage.agent(cases);
        stage
    }

    pub(crate) fn set(&self, set: &Value) {
        self.project.file("tables/evals/triggers.json", format!("{set:#}"));
    }

    pub(crate) fn agent(&self, cases: &str) {
        let log = self.project.path().join("seen");
        let text = format!(
            // One write for each probe: several run at once.
            "#!/bin/sh\nprompt=$(cat)\nsaw=$(echo \"== $prompt\"; ls; cat AGENTS.md 2>/dev/null)\nprintf '%s\\n' \"$saw\" >> {}\n\
             case \"$prompt\" in\n\"Use the skill\"*) {LOAD};;\n{cases}\nesac\n",
            log.display()
        );
        self.project.file("agent.sh", text);
        let path = self.project.path().join("agent.sh");
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What the agent saw, all runs together.
    pub(crate) fn seen(&self) -> String {
        fs_err::read_to_string(self.project.path().join("seen")).unwrap_or_default()
    }

    /// How often the agent was asked.
    pub(crate) fn asked(&self) -> usize {
        self.seen().lines().filter(|line| line.starts_with("== ")).count()
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        let agent = format!("command:{}", self.project.path().join("agent.sh").display());
        let args = [&["trigger", "tables", "--agent", agent.as_str()], args].concat();
        self.project.output(&args)
    }

    pub(crate) fn shown(&self, args: &[&str]) -> String {
        self.project.shown(&self.output(args))
    }

    pub(crate) fn report(&self, args: &[&str]) -> (Option<i32>, Value) {
        let output = self.output(&[args, &["--format", "json"]].concat());
        let report: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        assert!(report.is_some(), "{}", self.project.shown(&output));
        (output.status.code(), report.unwrap_or_default())
    }
}
