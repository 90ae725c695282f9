//! A real agent on a stage: linked into its programs, with a dummy key, and with a trap for traffic that goes elsewhere.

use std::path::PathBuf;

use skillgauge_run::agent::AgentTask;
use skillgauge_testkit::real::{self, RealAgent, Trap};
use skillgauge_testkit::server::{Script, Server};

use crate::agent::stage::{KEY, Stage};

/// A stage with a real agent and a scripted server.
pub(crate) struct RealStage {
    pub(crate) agent: RealAgent,
    pub(crate) stage: Stage,
    pub(crate) server: Server,
    pub(crate) trap: Trap,
}

impl RealStage {
    /// Nothing when the test has to be skipped.
    pub(crate) fn new(agent: RealAgent, script: Script) -> Option<Self> {
        let program = real::for_test(agent)
            .unwrap_or_else(|error| panic!("{} is not usable: {error}", agent.name()))?;
        let (server, trap) = (Server::start(script).unwrap(), Trap::set().unwrap());
        let stage = Stage::new();
        let (program, url, variables) = match agent {
            RealAgent::Claude => {
                (program, server.url(), ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"])
            }
            RealAgent::Codex => {
                // Behind its launcher, as users have it.
                let is_package = |folder: &&std::path::Path| folder.ends_with("@openai/codex");
                let package = program.ancestors().find(is_package).unwrap();
                let launcher = package.join("bin/codex.js");
                (launcher, server.url_v1(), ["OPENAI_BASE_URL", "OPENAI_API_KEY"])
            }
        };
        let link = stage.path("bin").join(agent.name());
        fs_err::os::unix::fs::symlink(program, link).unwrap();
        let stage = stage.with(variables[0], &url).with(variables[1], KEY);
        let stage = trap.variables().fold(stage, |stage, (name, value)| stage.with(name, value));
        Some(Self { agent, stage, server, trap })
    }

    pub(crate) fn task(&self, prompt: &str) -> AgentTask {
        let mut task = self.stage.task(self.agent.name(), prompt);
        task.model = Some(self.agent.model().into());
        if self.agent == RealAgent::Claude {
            task.limits.max_turns = Some(10);
            task.limits.max_cost_usd = Some(1.0);
        }
        task
    }

    /// The entries of the list of skills in the first request.
    pub(crate) fn listed(&self) -> Vec<String> {
        self.agent.listed(&self.server.requests()[0].view().context)
    }

    /// The names of the rules that answered, in order.
    pub(crate) fn rules(&self) -> Vec<String> {
        self.server.rules()
    }

    /// Nothing went elsewhere, and no file of ours holds the key.
    pub(crate) fn check_clean(&self) {
        assert_eq!(self.trap.calls(), 0, "traffic went elsewhere");
        assert!(self.stage.left_in_scratch().is_empty());
        assert_eq!(self.stage.files_with("", KEY), Vec::<PathBuf>::new());
    }
}
