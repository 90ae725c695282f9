//! The skill, the scripted model, and the ways in which its queries are asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use skillgauge_core::trigger::LabelledQuery;
use skillgauge_run::agent::{
    AgentTask, BundledSkills, Executor, ExecutorSettings, Registry, TaskLimits, TaskSkill,
};
use skillgauge_run::budget::Budget;
use skillgauge_run::cassette::Cassette;
use skillgauge_run::model::{Access, Environment};
use skillgauge_run::outputs::CollectLimits;
use skillgauge_run::probe::{
    Batch, EarlyStop, ListingSource, Measurement, ProbeSpec, Prober, ProberSettings, Probing,
    RequestSource, Resume, measure,
};
use skillgauge_run::process::Guard;
use skillgauge_testkit::server::{Reply, Rule, Script, Server, ToolResult};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::Arguments;

const MODEL: &str = "claude-sonnet-4-5";

/// A skill, an agent and a server.
pub(crate) struct Stage {
    place: TempDir,
    server: Server,
    guard: Guard,
    queries: Vec<LabelledQuery>,
    runs: u32,
    jobs: u32,
}

/// What one way of asking took.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) probes: usize,
    pub(crate) requests: usize,
    pub(crate) seconds: f64,
}

/// A model that uses the skill for reports and works on, and does other work in two steps.
fn model() -> Script {
    let tool = |name: &str, input| Reply::tool(name, input);
    let shell = || tool("Bash", json!({"command": "ls"}));
    let write = || tool("Write", json!({"file_path": "{{cwd}}/report.md", "content": "# r\n"}));
    let report = |state| Rule::reply(shell()).prompt("report").tool_result(state);
    Script::new()
        .rule(
            Rule::reply(tool("Skill", json!({"skill": "csv-report"})))
                .prompt("report")
                .tool_result(ToolResult::Absent),
        )
        .rule(report(ToolResult::Count(1)))
        .rule(Rule::reply(write()).prompt("report").tool_result(ToolResult::Count(2)))
        .rule(Rule::reply(shell()).tool_result(ToolResult::Absent))
        .rule(Rule::reply(Reply::text("Done.")))
}

impl Stage {
    pub(crate) fn new(claude: &Path, arguments: &Arguments, program: &Path) -> Result<Self> {
        let place = tempfile::tempdir_in(crate::place()?)?;
        let skill = place.path().join("csv-report");
        fs_err::create_dir_all(&skill)?;
        fs_err::write(
            skill.join("SKILL.md"),
            "---\nname: csv-report\ndescription: Makes reports of CSV files. Use when a report is wanted.\n---\n\n# Reports\n\nMake one.\n",
        )?;
        fs_err::create_dir(place.path().join("bin"))?;
        fs_err::os::unix::fs::symlink(claude, place.path().join("bin/claude"))?;
        let queries = (0..arguments.queries).map(|number| match number % 2 {
            0 => LabelledQuery::new(format!("Make report number {number}"), true),
            _ => LabelledQuery::new(format!("Look at file number {number}"), false),
        });
        Ok(Self {
            server: Server::start(model())?,
            guard: Guard::subcommand_of(program),
            queries: queries.collect(),
            runs: arguments.runs,
            jobs: arguments.jobs,
            place,
        })
    }

    fn environment(&self) -> Environment {
        let path = format!("{}:/usr/bin:/bin", self.place.path().join("bin").display());
        let url = self.server.url();
        [
            ("PATH", path.as_str()),
            ("ANTHROPIC_BASE_URL", &url),
            ("ANTHROPIC_API_KEY", "sk-bench-0123456789"),
        ]
        .into_iter()
        .collect()
    }

    fn scratch(&self) -> PathBuf {
        self.place.path().join("scratch")
    }

    fn prober(&self) -> Result<Arc<Prober>> {
        let registry = Registry::load(&[]).map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
        let executor = Executor::new(ExecutorSettings {
            registry,
            environment: self.environment(),
            guard: self.guard.clone(),
            scratch: self.scratch(),
            folder: self.place.path().to_owned(),
            cassette: Arc::new(Cassette::off()),
            collect: CollectLimits::default(),
            services: skillgauge_run::pool::Services::new(
                skillgauge_run::pool::BreakerRules::never(),
                |_| {},
            ),
        });
        let access = Access {
            environment: self.environment(),
            ..Access::new(self.guard.clone(), self.scratch(), self.place.path())
        };
        let settings = ProberSettings { jobs: self.jobs, ..ProberSettings::default() };
        Ok(Arc::new(Prober::new(Arc::new(executor), access, settings, Arc::new(Budget::default()))))
    }

    fn skill(&self) -> Result<TaskSkill> {
        Ok(TaskSkill::read(&self.place.path().join("csv-report"))?)
    }

    fn limits() -> TaskLimits {
        TaskLimits { timeout: Duration::from_mins(2), ..TaskLimits::default() }
    }

    fn timed<T>(&self, probes: usize, work: impl Future<Output = Result<T>>) -> Result<(T, Cost)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let before = self.server.requests().len();
        let started = Instant::now();
        let done = runtime.block_on(work)?;
        let seconds = started.elapsed().as_secs_f64();
        let requests = self.server.requests().len() - before;
        Ok((done, Cost { probes, requests, seconds }))
    }

    /// One full agent run for each probe.
    pub(crate) fn plain(&self) -> Result<Cost> {
        let skill = self.skill()?;
        let mut specs = Vec::new();
        for run in 1..=self.runs {
            for query in &self.queries {
                let mut task = AgentTask::new("claude", &query.text);
                task.model = Some(MODEL.to_owned());
                task.skills = vec![skill.clone()];
                task.limits = Self::limits();
                specs.push(ProbeSpec::agent(task, run, None));
            }
        }
        let prober = self.prober()?;
        let count = specs.len();
        let (results, cost) = self.timed(count, async {
            let batch = Batch { specs, ..Batch::default() };
            Ok(prober.run(batch, &CancellationToken::new(), &mut |_| ()).await?)
        })?;
        let triggered = results
            .into_iter()
            .flatten()
            .filter(|result| result.observation.first_loaded() == Some("csv-report"))
            .count();
        ensure!(triggered * 2 == count, "{triggered} of {count} runs loaded the skill");
        Ok(cost)
    }

    /// Our probes, the control included.
    pub(crate) fn ours(&self, early_stop: EarlyStop) -> Result<Cost> {
        let probing = Probing::Agent {
            agent: "claude".to_owned(),
            model: Some(MODEL.to_owned()),
            limits: Self::limits(),
            bundled_skills: BundledSkills::Off,
        };
        self.measured(probing, early_stop)
    }

    /// Our probes without the agent; it is run once, so that its request is known.
    pub(crate) fn api(&self) -> Result<Cost> {
        let probing = Probing::Api {
            model: format!("anthropic:{MODEL}").parse()?,
            agent: "claude".to_owned(),
            source: RequestSource::Captured,
            timeout: Duration::from_mins(2),
        };
        self.measured(probing, EarlyStop::Off)
    }

    fn measured(&self, probing: Probing, early_stop: EarlyStop) -> Result<Cost> {
        let measurement = Measurement {
            skill: self.skill()?,
            description: "as it is".to_owned(),
            neighbours: Vec::new(),
            probing,
            runs: self.runs,
            threshold: 0.5,
            early_stop,
            journal: None,
            kept: Resume::Nothing,
            listing: ListingSource::Modelled,
        };
        let prober = self.prober()?;
        let (measured, cost) = self.timed(0, async {
            let cancel = CancellationToken::new();
            Ok(measure(&prober, &measurement, &self.queries, &cancel, &mut |_| ()).await?)
        })?;
        let summary = &measured.report.summary;
        ensure!(summary.failed == 0, "{} queries failed", summary.failed);
        let made = measured.report.measurement.context("how it was measured")?;
        Ok(Cost { probes: usize::try_from(made.calls)?, ..cost })
    }
}
