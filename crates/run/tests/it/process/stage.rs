//! A place to run programs in, with a marker that every process of the run carries.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use skillgauge_run::process::{Command, Ended, Flow, Limits, ProcessError, run};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::guard;

/// The variable that marks the processes of one test.
pub(crate) const MARK: &str = "SKILLGAUGE_TEST_MARK";

/// Where the shell's programs are.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How long anything may take to disappear on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// One test's folder and marker.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) mark: String,
}

/// Limits that no well-behaved program meets.
pub(crate) fn limits() -> Limits {
    Limits {
        timeout: Duration::from_mins(1),
        grace: Duration::from_millis(300),
        ..Limits::default()
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        Self { folder: tempfile::tempdir().unwrap(), mark }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A program in this place that carries the marker.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        Command::new(program.as_ref(), self.path())
            .variable(MARK, &self.mark)
            .variable("PATH", PATH)
    }

    pub(crate) fn shell(&self, script: &str) -> Command {
        self.command("sh").arguments(["-c", script])
    }

    /// Runs a command to its end and expects nothing to be left of it.
    pub(crate) async fn run(&self, command: &Command) -> Result<Ended, ProcessError> {
        self.run_within(command, &limits()).await.map(|(ended, _)| ended)
    }

    /// The same within other limits; also gives the lines.
    pub(crate) async fn run_within(
        &self,
        command: &Command,
        limits: &Limits,
    ) -> Result<(Ended, Vec<String>), ProcessError> {
        let mut lines = Vec::new();
        let keep = |line: &[u8]| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            Flow::Continue
        };
        let result = run(&guard(), command, limits, &CancellationToken::new(), keep).await;
        self.expect_nothing_left();
        Ok((result?, lines))
    }

    /// The processes that carry the marker; zombies have no environment any more.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let wanted = format!("{MARK}={}", self.mark);
        let entries = fs_err::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| {
                let id = entry.file_name().to_str()?.parse().ok()?;
                let environment = fs_err::read(entry.path().join("environ")).ok()?;
                let marked =
                    environment.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes());
                let name = fs_err::read_to_string(entry.path().join("comm")).ok()?;
                marked.then(|| (id, name.trim().to_owned()))
            })
            .collect()
    }

    /// At the moment at which `run` returns nothing may be left; there is no waiting here.
    pub(crate) fn expect_nothing_left(&self) {
        let left = self.processes();
        assert!(left.is_empty(), "still there: {left:?}");
    }

    /// After a crash of ours there is nobody to wait for: it may take a while, but not for ever.
    pub(crate) fn expect_nothing_left_soon(&self) {
        let is_empty = || self.processes().is_empty();
        assert!(becomes_true(is_empty), "still there: {:?}", self.processes());
    }

    /// Waits until a file of this place is there and has text.
    pub(crate) fn wait_for(&self, name: &str) -> String {
        let read = || fs_err::read_to_string(self.path().join(name)).unwrap_or_default();
        assert!(becomes_true(|| read().ends_with('\n')), "{name} never appeared");
        read()
    }
}

/// Waits for a condition; tells whether it came true.
pub(crate) fn becomes_true(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    condition()
}
