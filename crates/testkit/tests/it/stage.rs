//! A private place for one run of a real agent: home, work folder, temporary folder, and a trap for stray traffic.
//!
//! The command lines and variables are those that were measured to work headless and offline. The environment is
//! cleared, keys are dummies, and every proxy variable points to a listener that must never be called.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use skillgauge_testkit::process::Finished;
use skillgauge_testkit::real::{self, RealAgent, Trap, copy_folder};
use skillgauge_testkit::server::Server;

/// Whether the skill is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skill {
    Installed,
    Absent,
}

/// The folders of one run of an agent.
pub(crate) struct Stage {
    agent: RealAgent,
    program: PathBuf,
    root: tempfile::TempDir,
    trap: Trap,
}

impl Stage {
    /// Nothing when the test has to be skipped.
    pub(crate) fn new(agent: RealAgent, skill: Skill) -> Option<Self> {
        let program = real::for_test(agent)
            .unwrap_or_else(|error| panic!("{} is not usable: {error}", agent.name()))?;
        let (root, trap) = (tempfile::tempdir().unwrap(), Trap::set().unwrap());
        let stage = Self { agent, program, root, trap };
        for folder in ["home/.codex", "work", "tmp"] {
            fs_err::create_dir_all(stage.root.path().join(folder)).unwrap();
        }
        fs_err::write(stage.work("sales.csv"), "region,amount\nnorth,10\nsouth,20\n").unwrap();
        if skill == Skill::Installed {
            let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/csv-report");
            let target = stage.work(agent.skills_folder()).join("csv-report");
            copy_folder(&fixture, &target).unwrap();
        }
        let git =
            Command::new("git").args(["init", "--quiet"]).current_dir(stage.work("")).status();
        assert!(git.unwrap().success());
        Some(stage)
    }

    /// The agent, alone with the skill under test.
    pub(crate) fn command(&self, server: &Server, prompt: &str) -> Command {
        match self.agent {
            RealAgent::Claude => self.claude(server, prompt),
            RealAgent::Codex => self.codex(server, prompt),
        }
    }

    /// A path in the work folder.
    pub(crate) fn work(&self, path: &str) -> PathBuf {
        self.root.path().join("work").join(path)
    }

    /// How many connections went elsewhere than to 127.0.0.1, as far as programs that honour proxies tell.
    pub(crate) fn stray_connections(&self) -> usize {
        self.trap.calls()
    }

    /// The process id that a command of the agent has left in the file `pid`.
    pub(crate) fn command_id(&self, limit: Duration) -> u32 {
        let deadline = Instant::now() + limit;
        loop {
            let text = fs_err::read_to_string(self.work("pid")).unwrap_or_default();
            if let Ok(id) = text.trim().parse() {
                return id;
            }
            assert!(Instant::now() < deadline, "the command did not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn bare(&self) -> Command {
        let folder = |name: &str| self.root.path().join(name);
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.work(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder("home"))
            .env("TMPDIR", folder("tmp"))
            .env("LANG", "C.UTF-8")
            .envs(self.trap.variables());
        command
    }

    /// Claude Code, alone with the skill under test.
    fn claude(&self, server: &Server, prompt: &str) -> Command {
        let flags = [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--setting-sources",
            "project",
            "--settings",
            r#"{"disableBundledSkills":true,"skillOverrides":{"plugin-authoring":"off"}}"#,
            "--strict-mcp-config",
            "--no-session-persistence",
            "--dangerously-skip-permissions",
            "--max-turns",
            "30",
            "--max-budget-usd",
            "1",
        ];
        self.claude_with(server, &flags, prompt)
    }

    /// Claude Code with other flags.
    pub(crate) fn claude_with(&self, server: &Server, flags: &[&str], prompt: &str) -> Command {
        let mut command = self.bare();
        command
            .env("ANTHROPIC_API_KEY", "dummy-key")
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("CLAUDE_CODE_MAX_RETRIES", "3")
            .envs([
                ("DISABLE_TELEMETRY", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("IS_SANDBOX", "1"),
            ])
            .args(flags)
            .args(["--model", RealAgent::Claude.model(), "--", prompt]);
        command
    }

    /// Codex, alone with the skill under test.
    fn codex(&self, server: &Server, prompt: &str) -> Command {
        let provider = format!(
            r#"model_providers.fake={{name="fake",base_url="{}",env_key="OPENAI_API_KEY",wire_api="responses"}}"#,
            server.url_v1()
        );
        let mut command = self.bare();
        command
            .env("CODEX_HOME", self.root.path().join("home/.codex"))
            .env("OPENAI_API_KEY", "dummy-key")
            .args([
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--ephemeral",
                "--ignore-rules",
                "-C",
            ])
            .arg(self.work(""))
            .args([
                "-m",
                RealAgent::Codex.model(),
                "-s",
                "danger-full-access",
                "-c",
                "analytics.enabled=false",
            ])
            .args([
                "--disable",
                "plugins",
                "--disable",
                "apps",
                "-c",
                "skills.bundled.enabled=false",
            ])
            .args(["-c", r#"model_provider="fake""#, "-c", &provider, prompt]);
        command
    }
}

/// The events on stdout; every line must be one.
pub(crate) fn events(finished: &Finished) -> Vec<Value> {
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    finished.stdout.lines().map(parse).collect()
}
