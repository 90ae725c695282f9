//! A private place for one run of a real agent: home, work folder, temporary folder, and a trap for stray traffic.
//!
//! The command lines and variables are those that were measured to work headless and offline. The environment is
//! cleared, keys are dummies, and every proxy variable points to a listener that must never be called.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use skillgauge_testkit::process::Finished;
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{AnsweredBy, Server};

/// Whether the skill is installed, and where the agent looks for it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Skill {
    /// In this folder of the work folder.
    In(&'static str),
    Absent,
}

/// The folders of one run.
pub(crate) struct Workbench {
    root: tempfile::TempDir,
    trap: Trap,
}

impl Workbench {
    pub(crate) fn new(skill: Skill) -> Self {
        let bench = Self { root: tempfile::tempdir().unwrap(), trap: Trap::set() };
        for folder in ["home/.codex", "work", "tmp"] {
            fs_err::create_dir_all(bench.root.path().join(folder)).unwrap();
        }
        fs_err::write(bench.work("sales.csv"), "region,amount\nnorth,10\nsouth,20\n").unwrap();
        if let Skill::In(folder) = skill {
            let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/csv-report");
            copy(&fixture, &bench.work(folder).join("csv-report"));
        }
        let git =
            Command::new("git").args(["init", "--quiet"]).current_dir(bench.work("")).status();
        assert!(git.unwrap().success());
        bench
    }

    /// A path in the work folder.
    pub(crate) fn work(&self, path: &str) -> PathBuf {
        self.root.path().join("work").join(path)
    }

    /// How many connections went elsewhere than to 127.0.0.1, as far as programs that honour proxies tell.
    pub(crate) fn stray_connections(&self) -> usize {
        self.trap.calls.load(Ordering::SeqCst)
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

    fn command(&self, program: &Path) -> Command {
        let folder = |name: &str| self.root.path().join(name);
        let mut command = Command::new(program);
        command
            .current_dir(self.work(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder("home"))
            .env("TMPDIR", folder("tmp"))
            .env("LANG", "C.UTF-8")
            .env("NO_PROXY", "127.0.0.1");
        for name in
            ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
        {
            command.env(name, &self.trap.url);
        }
        command
    }

    /// Claude Code, alone with the skill under test.
    pub(crate) fn claude(&self, program: &Path, server: &Server, prompt: &str) -> Command {
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
        self.claude_with(program, server, &flags, prompt)
    }

    /// Claude Code with other flags.
    pub(crate) fn claude_with(
        &self,
        program: &Path,
        server: &Server,
        flags: &[&str],
        prompt: &str,
    ) -> Command {
        let mut command = self.command(program);
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
            .args(["--model", "claude-sonnet-4-5", "--", prompt]);
        command
    }

    /// Codex, alone with the skill under test.
    pub(crate) fn codex(&self, program: &Path, server: &Server, prompt: &str) -> Command {
        let provider = format!(
            r#"model_providers.fake={{name="fake",base_url="{}",env_key="OPENAI_API_KEY",wire_api="responses"}}"#,
            server.url_v1()
        );
        let mut command = self.command(program);
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
            .args(["-m", "gpt-5.5", "-s", "danger-full-access", "-c", "analytics.enabled=false"])
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

/// The program of a real agent; nothing when the test has to be skipped.
pub(crate) fn program(agent: RealAgent) -> Option<PathBuf> {
    real::for_test(agent).unwrap_or_else(|error| panic!("{} is not usable: {error}", agent.name()))
}

/// The events on stdout; every line must be one.
pub(crate) fn events(finished: &Finished) -> Vec<Value> {
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    finished.stdout.lines().map(parse).collect()
}

/// The names of the rules that answered, in order; what no rule answered shows as what it was.
pub(crate) fn rules(server: &Server) -> Vec<String> {
    let names = server.requests().into_iter().map(|request| match request.answered_by {
        AnsweredBy::Rule { name, index } => name.unwrap_or_else(|| index.to_string()),
        other => format!("{other:?} {}", request.path),
    });
    names.collect()
}

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs_err::copy(entry.path(), target).unwrap();
        }
    }
}

/// A proxy that refuses everything and counts who asked.
struct Trap {
    url: String,
    calls: Arc<AtomicUsize>,
}

impl Trap {
    fn set() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        // The thread ends with the test program; it holds nothing but its socket.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
            }
        });
        Self { url, calls }
    }
}
