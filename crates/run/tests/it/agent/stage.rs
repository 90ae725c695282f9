//! A project with a skill, a folder with programs, and an executor over both.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use skillgauge_run::agent::{
    AgentRun, AgentTask, ExecuteError, Executor, ExecutorSettings, Progress, Registry, SourceFile,
    SourceKind, TaskInput, TaskSkill,
};
use skillgauge_run::cassette::{Cassette, Mode};
use skillgauge_run::model::Environment;
use skillgauge_run::outputs::CollectLimits;
use skillgauge_run::pool::RetryRules;
use skillgauge_testkit::agent::{AgentScript, install};
use skillgauge_testkit::real::copy_folder;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::guard;

/// A key that must never be found in a file of ours.
pub(crate) const KEY: &str = "sk-test-0123456789-do-not-keep";

/// What the answer key of the skill's evals says; no agent may ever see it.
pub(crate) const ANSWER_KEY: &str = "the expected answer is forty-two";

pub(crate) struct Stage {
    pub(crate) root: TempDir,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) files: Vec<SourceFile>,
}

impl Stage {
    /// A project with the skill `csv-report` and its evals, and no agent.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let stage = Self { root, variables: Vec::new(), files: Vec::new() };
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/testdata/csv-report");
        copy_folder(&fixture, &stage.skill_folder()).unwrap();
        stage.write("project/csv-report/evals/evals.json", ANSWER_KEY);
        stage.write(
            "project/csv-report/evals/files/sales.csv",
            "region,amount\nnorth,10\nsouth,20\n",
        );
        stage.write("project/csv-report-workspace/history.json", ANSWER_KEY);
        fs_err::create_dir_all(stage.path("bin")).unwrap();
        let system = std::env::var("PATH").unwrap();
        let path = format!("{}:{system}", stage.path("bin").display());
        stage.with("PATH", &path)
    }

    /// The same with the fake agent under a name.
    pub(crate) fn with_fake(name: &str, script: &AgentScript) -> Self {
        let stage = Self::new();
        install(&stage.path("bin"), name, script).unwrap();
        stage
    }

    /// The same with a variable of the user.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with agents of the user.
    pub(crate) fn with_project(mut self, text: &str) -> Self {
        self.files.push(SourceFile {
            name: "skillgauge.toml".to_owned(),
            text: text.to_owned(),
            folder: self.path("project"),
            kind: SourceKind::Project,
        });
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub(crate) fn skill_folder(&self) -> PathBuf {
        self.path("project/csv-report")
    }

    pub(crate) fn skill(&self) -> TaskSkill {
        TaskSkill::read(&self.skill_folder()).unwrap()
    }

    pub(crate) fn input(&self) -> TaskInput {
        TaskInput::read(&self.skill_folder(), Path::new("evals/files/sales.csv")).unwrap()
    }

    /// A task for an agent, with the skill and the input file.
    pub(crate) fn task(&self, agent: &str, prompt: &str) -> AgentTask {
        let mut task = AgentTask::new(agent, prompt);
        task.skills = vec![self.skill()];
        task.inputs = vec![self.input()];
        task.limits.timeout = Duration::from_mins(2);
        task
    }

    pub(crate) fn environment(&self) -> Environment {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    pub(crate) fn executor(&self, mode: Mode) -> Executor {
        let environment = self.environment();
        let cassette = Cassette::open(mode, environment.secrets()).unwrap();
        Executor::new(ExecutorSettings {
            registry: Registry::load(&self.files).unwrap_or_else(|problems| panic!("{problems:?}")),
            environment,
            guard: guard(),
            scratch: self.path("scratch"),
            folder: self.path("project"),
            cassette: Arc::new(cassette),
            collect: CollectLimits::default(),
            services: skillgauge_run::pool::Services::new(
                skillgauge_run::pool::BreakerRules::never(),
                |_| {},
            ),
        })
    }

    /// Carries out a task once, without retries, and checks that nothing of it is left.
    pub(crate) fn run(&self, task: &AgentTask) -> AgentRun {
        self.try_run(task, Mode::Off).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn try_run(&self, task: &AgentTask, mode: Mode) -> Result<AgentRun, ExecuteError> {
        let _ = fs_err::remove_dir_all(self.outputs(""));
        let rules = RetryRules::for_runs().retries(0);
        let run = self.execute(task, mode, &rules, &CancellationToken::new(), &mut |_| ());
        assert_eq!(self.left_in_scratch(), Vec::<PathBuf>::new());
        run
    }

    pub(crate) fn execute(
        &self,
        task: &AgentTask,
        mode: Mode,
        rules: &RetryRules,
        cancel: &CancellationToken,
        on_progress: &mut (dyn FnMut(Progress<'_>) + Send),
    ) -> Result<AgentRun, ExecuteError> {
        let executor = self.executor(mode);
        let outputs = self.outputs("");
        block_on(executor.execute(task, Some(&outputs), rules, 42, cancel, on_progress))
    }

    /// A path below the folder that outputs are collected in.
    pub(crate) fn outputs(&self, path: &str) -> PathBuf {
        self.path("run/outputs").join(path)
    }

    /// A JSON file among the outputs.
    pub(crate) fn output_json(&self, path: &str) -> Value {
        serde_json::from_slice(&fs_err::read(self.outputs(path)).unwrap()).unwrap()
    }

    /// What is left of private folders.
    pub(crate) fn left_in_scratch(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs_err::read_dir(self.path("scratch")) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Every file below a folder that contains a text.
    pub(crate) fn files_with(&self, folder: &str, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if String::from_utf8_lossy(&fs_err::read(&path).unwrap()).contains(text) {
                    found.push(path);
                }
            }
        }
        found
    }
}

/// Runs a future on a runtime of its own.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
