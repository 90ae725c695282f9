//! A fleet for tests: a nats-server, workers as processes of their own, and a project that is run on them.

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;
use skillgauge_testkit::nats::{NatsServer, NatsVersion};
use skillgauge_testkit::process::Group;

use crate::command::Project;

/// Nothing here takes that long; what does is stuck.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

/// The agent and the judge of [`crate::run::greeter`].
pub(crate) const WHO: [&str; 5] =
    ["greeter", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];

/// A server, and a project beside it.
pub(crate) struct FleetKit {
    pub(crate) project: Project,
    pub(crate) server: NatsServer,
}

impl FleetKit {
    /// A server with everything that a fleet needs, and the skill that [`crate::run::greeter`] makes.
    pub(crate) fn new() -> Self {
        Self::with(NatsVersion::Current, None)
    }

    /// The same with another server.
    pub(crate) fn with(version: NatsVersion, config: Option<&str>) -> Self {
        let server = NatsServer::start_with(version, config).unwrap();
        let kit = Self { project: crate::run::greeter(), server };
        let init = kit.fleet(&["init", &kit.url()]);
        assert_eq!(init.status.code(), Some(0), "{}", kit.project.shown(&init));
        kit
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// `skillgauge fleet ...`, to its end.
    pub(crate) fn fleet(&self, args: &[&str]) -> Output {
        self.project.output(&[&["fleet"], args].concat())
    }

    /// Starts a worker in the project's folder; it is killed when it is dropped.
    pub(crate) fn worker(&self, name: &str, more: &[&str], variables: &[(&str, &str)]) -> Group {
        let url = self.url();
        let mut command =
            self.project.command(&[&["fleet", "worker", &url, "--name", name][..], more].concat());
        command.envs(variables.iter().copied());
        Group::spawn(&mut command).unwrap()
    }

    /// `skillgauge fleet submit`, and the plan's id.
    pub(crate) fn submit(&self, more: &[&str]) -> String {
        let url = self.url();
        let output = self.fleet(&[&["submit", &url], &WHO[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", self.project.shown(&output));
        let text = String::from_utf8(output.stderr).unwrap();
        let plan = text.lines().find_map(|line| line.strip_prefix("plan ")).unwrap();
        plan.split(':').next().unwrap().to_owned()
    }

    /// `skillgauge fleet collect`, to its end.
    pub(crate) fn collect(&self, more: &[&str]) -> Output {
        let url = self.url();
        self.fleet(&[&["collect", &url, "greeter"], more].concat())
    }

    /// The state of the fleet.
    pub(crate) fn status(&self) -> Value {
        let output = self.fleet(&["status", &self.url(), "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{}", self.project.shown(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The state of the only plan.
    pub(crate) fn plan_status(&self) -> Value {
        self.status()["plans"][0].clone()
    }

    /// Waits until something holds, and says what did not when it takes too long.
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < LIMIT, "{what} did not happen: {:#}", self.status());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
