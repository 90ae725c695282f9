//! A project with a skill, a scripted agent that can be held, and the fleet's commands in it.
//!
//! Leases are short (two seconds) so that faults show soon; nothing asserts how long anything took.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::json;
use skillgauge_cluster::{PlanId, SharedFolder};
use skillgauge_core::workspace::Iteration;
use skillgauge_testkit::agent::{AgentScript, Finish, Step, install};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};
use skillgauge_testkit::process::{Finished, Group};

use crate::command::Project;
use crate::raw::Raw;

/// Nothing here takes that long; what does is stuck.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

/// Every write is on the disk before it is acknowledged, as docs/fleet.md says.
pub(crate) const SYNCED: &str = "jetstream { sync_interval: \"always\" }";

const CASES: usize = 6;

/// What the agent does beside counting its executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// It writes a file with so many random bytes, which no archive makes smaller.
    pub(crate) bytes: usize,
    pub(crate) millis: u64,
    pub(crate) before: Vec<Step>,
}

/// A project, and the address of a fleet's server.
pub(crate) struct Kit {
    pub(crate) project: Project,
    pub(crate) url: String,
    /// The coordinator's login, if it has one in a file; workers bring their own.
    pub(crate) creds: Option<PathBuf>,
    /// The folder for large archives.
    pub(crate) archive_dir: Option<PathBuf>,
}

impl Kit {
    /// A server with everything that a fleet needs, and a project for it.
    pub(crate) fn start(work: Work) -> (Self, NatsServer) {
        let server = NatsServer::start_with(NatsVersion::Current, Some(SYNCED)).unwrap();
        let kit = Self::new(&server.url(), work);
        kit.init(&[]);
        (kit, server)
    }

    /// A skill, its suite, and the agent; nothing on the server.
    pub(crate) fn new(url: &str, work: Work) -> Self {
        let project = Project::new();
        project.good_skill("skill");
        project.file("skill/evals/evals.json", suite());
        project.file("tmp/.keep", "");
        let kit = Self { project, url: url.to_owned(), creds: None, archive_dir: None };
        let mut steps = work.before;
        let folder = kit.project.path().display().to_string();
        let mut shell = format!("echo $$ >> {folder}/executions\n");
        let _ = writeln!(shell, "while [ -e {folder}/hold ]; do sleep 0.05; done");
        let _ = writeln!(shell, "head -c {} /dev/urandom > blob.bin", work.bytes);
        steps.push(Step::Quietly(vec![Step::Shell(shell), Step::SleepMs(work.millis)]));
        steps.push(Step::Write { path: "result.txt".to_owned(), text: "done\n".to_owned() });
        steps.push(Step::Finish(Finish::text("done")));
        install(&kit.project.path(), "agent", &AgentScript::new(steps)).unwrap();
        kit
    }

    /// How often the agent was executed, whatever came of it.
    pub(crate) fn executions(&self) -> usize {
        let log = fs_err::read_to_string(self.project.path().join("executions"));
        log.unwrap_or_default().lines().count()
    }

    /// A process of the agent that was started last.
    pub(crate) fn last_agent(&self) -> u32 {
        let log = self.project.read("executions");
        String::from_utf8(log).unwrap().lines().last().unwrap().parse().unwrap()
    }

    /// From now on agents wait, until [`Kit::go_on`].
    pub(crate) fn hold(&self) {
        self.project.file("hold", "");
    }

    pub(crate) fn go_on(&self) {
        fs_err::remove_file(self.project.path().join("hold")).unwrap();
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.project.command(&[&["fleet"], args].concat());
        // What a killed worker leaves behind goes with the project.
        command.env("TMPDIR", self.project.path().join("tmp"));
        if let Some(creds) = &self.creds {
            command.env("SKILLGAUGE_FLEET_CREDS", creds);
        }
        if let Some(folder) = &self.archive_dir {
            command.env("SKILLGAUGE_FLEET_ARCHIVE_DIR", folder);
        }
        command
    }

    /// `skillgauge fleet ...`, to its end.
    pub(crate) fn fleet(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn init(&self, more: &[&str]) {
        let output = self.fleet(&[&["init", &self.url], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", self.project.shown(&output));
    }

    /// 24 runs, or what the arguments say, with short leases.
    pub(crate) fn submit(&self, more: &[&str]) -> PlanId {
        let output = self.submitting(more, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", self.project.shown(&output));
        PlanId::of(&self.iteration().record().unwrap())
    }

    pub(crate) fn submitting(&self, more: &[&str], variables: &[(&str, &str)]) -> Output {
        let usual = ["submit", &self.url, "skill", "--agent", "command:./agent", "--judge", "none"];
        let mut command = self.command(&[&usual[..], &LEASES[..], more].concat());
        command.envs(variables.iter().copied()).output().unwrap()
    }

    pub(crate) fn iteration(&self) -> Iteration {
        Iteration::at(self.iteration_folder())
    }

    pub(crate) fn iteration_folder(&self) -> PathBuf {
        self.project.path().join("skill-workspace/iteration-1")
    }

    /// Whether a run was brought home.
    pub(crate) fn is_something_home(&self) -> bool {
        let plan = Iteration::plan(&self.iteration().record().unwrap());
        plan.runs().iter().any(|run| self.iteration().run_dir(run).record_file().is_file())
    }

    /// A worker; it is killed when it is dropped.
    pub(crate) fn worker(&self, name: &str, more: &[&str]) -> Group {
        self.worker_with(name, more, &[])
    }

    pub(crate) fn worker_with(
        &self,
        name: &str,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Group {
        self.worker_at(&self.url, name, more, variables)
    }

    /// A worker that reaches the server by another address.
    pub(crate) fn worker_at(
        &self,
        url: &str,
        name: &str,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Group {
        let mut command = self.worker_command(url, name, more);
        Group::spawn(command.envs(variables.iter().copied())).unwrap()
    }

    pub(crate) fn worker_command(
        &self,
        url: &str,
        name: &str,
        more: &[&str],
    ) -> std::process::Command {
        self.command(&[&["worker", url, "--name", name][..], more].concat())
    }

    /// `skillgauge fleet collect`, under way.
    pub(crate) fn collecting(&self) -> Group {
        let args = ["collect", &self.url, "skill", "--reconcile-every", "1s"];
        Group::spawn(&mut self.command(&args)).unwrap()
    }

    /// `skillgauge fleet collect`, to its end.
    pub(crate) fn collect(&self) -> Finished {
        self.collecting().finish(LIMIT).unwrap()
    }

    /// The server alone: the shared folder is away.
    pub(crate) fn raw_without_folder(&self) -> Raw {
        Raw::open(&self.url, self.creds.as_deref())
    }

    /// The server by another way than the commands.
    pub(crate) fn raw(&self) -> Raw {
        let mut raw = self.raw_without_folder();
        let limit = SharedFolder::LIMIT;
        let shared =
            self.archive_dir.as_ref().map(|folder| SharedFolder::open(folder, limit).unwrap());
        raw.fleet = raw.fleet.sharing(shared);
        raw
    }
}

/// A job whose worker is silent for two seconds is somebody else's; heartbeats come three times as often.
const LEASES: [&str; 2] = ["--ack-wait", "2s"];

/// The same as a time.
pub(crate) const LEASE: Duration = Duration::from_secs(2);

fn suite() -> String {
    let case = |id: usize| {
        json!({
            "id": id,
            "prompt": format!("Do task number {id}."),
            "structural_expectations": [{
                "id": "S1",
                "type": "file_exists",
                "description": "there is a result",
                "pattern": "result.txt",
                "critical": true,
            }],
            "expectations": [],
        })
    };
    let config = json!({"runs_per_eval": 4, "baseline_comparison": false});
    let evals: Vec<_> = (1..=CASES).map(case).collect();
    json!({"skill_name": "skill", "eval_config": config, "evals": evals}).to_string()
}

/// Waits until something holds, and says what did not when it takes too long.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// All is collected and nothing is missing.
pub(crate) fn assert_complete(finished: &Finished) {
    assert_eq!(finished.status.code(), Some(0), "{}\n{}", finished.stdout, finished.stderr);
}
