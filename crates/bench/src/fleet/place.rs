//! A skill, an agent that does nothing, a server and its workers; and the two ways to carry out the runs.
//!
//! Invariant: both sides are one command from start to exit, with the same skill, suite and agent. Workers are there
//! before the clock starts.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, Finish, Step, install};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};
use skillgauge_testkit::process::Group;
use tempfile::TempDir;

use super::report::Cost;
use crate::{child, text};

/// Workers that are not there by then will not come.
const READY: Duration = Duration::from_mins(1);
/// Every write is on the disk before it is acknowledged, as docs/fleet.md says.
const SYNCED: &str = "jetstream { sync_interval: \"always\" }";

/// Everything that both sides need.
pub(crate) struct Place {
    folder: TempDir,
    program: PathBuf,
    runs: u32,
    server: NatsServer,
    workers: Vec<Group>,
    /// Each turn has a workspace of its own.
    turn: Cell<u32>,
}

impl Place {
    pub(crate) fn new(program: &Path, runs: u32, workers: u32, slots: u32) -> Result<Self> {
        let folder = tempfile::tempdir_in(crate::place()?)?;
        let skill = folder.path().join("skill");
        fs_err::create_dir_all(skill.join("evals"))?;
        let text =
            "---\nname: skill\ndescription: Does nothing. Use when measuring.\n---\n\n# Nothing\n";
        fs_err::write(skill.join("SKILL.md"), text)?;
        fs_err::write(skill.join("evals/evals.json"), suite().to_string())?;
        install(folder.path(), "agent", &AgentScript::new([Step::Finish(Finish::text("done"))]))?;
        let server = NatsServer::start_with(NatsVersion::Current, Some(SYNCED))?;
        let program = program.to_owned();
        let mut place =
            Self { folder, program, runs, server, workers: Vec::new(), turn: Cell::new(0) };
        let init = place.command(&["fleet", "init", &place.server.url()]).output()?;
        ensure!(init.status.success(), "fleet init: {}", String::from_utf8_lossy(&init.stderr));
        for number in 0..workers {
            let (url, name, slots) = (place.server.url(), format!("w{number}"), slots.to_string());
            let args = [
                "fleet",
                "worker",
                &url,
                "--name",
                &name,
                "--slots",
                &slots,
                "--grade-slots",
                &slots,
            ];
            place.workers.push(Group::spawn(&mut place.command(&args))?);
        }
        place.wait_for_workers()?;
        Ok(place)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.folder.path());
        command
    }

    fn wait_for_workers(&self) -> Result<()> {
        let began = Instant::now();
        loop {
            let args = ["fleet", "status", &self.server.url(), "--format", "json"];
            let output = self.command(&args).output()?;
            let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            if status["workers"].as_array().map_or(0, Vec::len) == self.workers.len() {
                return Ok(());
            }
            ensure!(began.elapsed() < READY, "the workers did not report: {status:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn local(&self, slots: u32) -> Result<Cost> {
        self.measure(&["--jobs", &slots.to_string()])
    }

    /// The fleet: the command, the workers and the server together.
    pub(crate) fn fleet(&self, slots: u32) -> Result<Cost> {
        let url = self.server.url();
        let slots = slots.to_string();
        let before = self.engine_cpu()?;
        let cost =
            self.measure(&["--fleet", &url, "--fleet-jobs", &slots, "--grade-jobs", &slots])?;
        Ok(Cost { cpu_seconds: cost.cpu_seconds + self.engine_cpu()? - before, ..cost })
    }

    fn measure(&self, more: &[&str]) -> Result<Cost> {
        self.turn.set(self.turn.get() + 1);
        let workspace = format!("workspace-{}", self.turn.get());
        let (folder, program) = (text(self.folder.path())?, text(&self.program)?);
        let runs = self.runs.to_string();
        let usual = [
            "-C",
            folder,
            program,
            "run",
            "skill",
            "--agent",
            "command:./agent",
            "--judge",
            "none",
            "--runs",
            &runs,
            "--workspace",
            &workspace,
        ];
        let cost = child::measure(Path::new("/usr/bin/env"), &[&usual[..], more].concat())?;
        let benchmark = self.folder.path().join(&workspace).join("iteration-1/benchmark.json");
        let benchmark: Value = serde_json::from_slice(&fs_err::read(benchmark)?)?;
        let found = benchmark["runs"].as_array().map_or(0, Vec::len);
        ensure!(found == self.runs as usize, "{found} of {} runs have a result", self.runs);
        Ok(Cost { wall_seconds: cost.wall_seconds, cpu_seconds: cost.cpu_seconds() })
    }

    /// CPU time of the server, of the workers, and of all that they started and that has ended.
    fn engine_cpu(&self) -> Result<f64> {
        let server = self.server.group().context("the server is gone")?;
        let mut ticks = 0;
        for group in self.workers.iter().chain([server]) {
            let stat = fs_err::read_to_string(format!("/proc/{}/stat", group.id()))?;
            let (_, fields) = stat.rsplit_once(") ").context("no such line")?;
            // User and system time of the process, then of its children, from field 14 on.
            let times = fields.split(' ').skip(11).take(4).map(str::parse::<u32>);
            ticks += times.collect::<Result<Vec<_>, _>>()?.iter().sum::<u32>();
        }
        // Linux shows programs a hundred ticks a second, whatever it uses itself.
        Ok(f64::from(ticks) / 100.0)
    }
}

/// One case that an agent passes by doing nothing.
fn suite() -> Value {
    let nothing = json!({
        "id": "S1",
        "type": "file_count",
        "description": "nothing was written",
        "pattern": "*.md",
        "operator": "==",
        "count": 0,
        "critical": false,
    });
    let case = json!({
        "id": 1,
        "prompt": "Do nothing.",
        "structural_expectations": [nothing],
        "expectations": [],
    });
    json!({"skill_name": "skill", "eval_config": {"baseline_comparison": false}, "evals": [case]})
}
