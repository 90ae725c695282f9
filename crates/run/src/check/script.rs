//! Runs the script of a `custom_script` check: `bash -c` in `outputs/`, watched and bounded.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use skillgauge_core::check::{ScriptCall, ScriptEnd, ScriptError, ScriptOutcome, ScriptRunner};
use skillgauge_core::text::chain;
use skillgauge_format::transcript::Stop;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::agent::BASE_VARIABLES;
use crate::model::Environment;
use crate::process::{Command, Flow, Guard, Limits, run};

/// How long a script may take.
pub const SCRIPT_TIMEOUT: Duration = Duration::from_mins(1);
/// How many lines of its output are kept.
const LAST_LINES: usize = 5;
/// How many bytes of a line are kept.
const LINE_BYTES: usize = 4 << 10;

/// What a script gets besides [`BASE_VARIABLES`]: who and where the user is, and where tools are installed. A list of what
/// is given, and not of what is taken away, because nobody knows the names of all secrets.
const MORE_VARIABLES: [&str; 15] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYENV_ROOT",
    "NODE_PATH",
    "NVM_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "GOPATH",
];

/// With what scripts are run.
#[derive(Clone, Debug)]
pub struct Scripts {
    pub guard: Guard,
    /// The user's variables; only the harmless ones are handed on.
    pub environment: Environment,
    /// How long one may take, see [`SCRIPT_TIMEOUT`].
    pub timeout: Duration,
    pub cancel: CancellationToken,
}

impl Scripts {
    /// With the usual time limit.
    pub fn new(guard: Guard, environment: Environment, cancel: CancellationToken) -> Self {
        Self { guard, environment, timeout: SCRIPT_TIMEOUT, cancel }
    }

    /// The same, for threads that may wait.
    pub fn on(&self, handle: Handle) -> BlockingScripts {
        BlockingScripts { scripts: self.clone(), handle }
    }

    async fn run(&self, call: &ScriptCall<'_>) -> Result<ScriptEnd, ScriptError> {
        let command = self.command(call)?;
        let limits = Limits {
            timeout: self.timeout,
            line_bytes: LINE_BYTES,
            stderr_bytes: LINE_BYTES * LAST_LINES,
            ..Limits::default()
        };
        let mut lines: VecDeque<String> = VecDeque::new();
        let keep = |line: &[u8]| {
            if lines.len() == LAST_LINES {
                lines.pop_front();
            }
            lines.push_back(String::from_utf8_lossy(line).into_owned());
            Flow::Continue
        };
        let ended = run(&self.guard, &command, &limits, &self.cancel, keep).await;
        let ended = ended.map_err(|error| ScriptError { reason: chain(&error) })?;
        lines.extend(ended.stderr.text().lines().map(str::to_owned));
        let last_lines = lines.split_off(lines.len().saturating_sub(LAST_LINES));
        let outcome = match (ended.status.stop, ended.status.code, ended.status.signal) {
            (Some(Stop::Timeout | Stop::Silence), _, _) => {
                ScriptOutcome::TimedOut(self.timeout.as_secs())
            }
            (Some(Stop::Cancel | Stop::Proof), _, _) => ScriptOutcome::Cancelled,
            (None, Some(code), _) => ScriptOutcome::Exited(code),
            (None, None, signal) => ScriptOutcome::Killed(signal.unwrap_or(0)),
        };
        Ok(ScriptEnd { outcome, last_lines: last_lines.into() })
    }

    fn command(&self, call: &ScriptCall<'_>) -> Result<Command, ScriptError> {
        let absolute = |path: &Path| {
            std::path::absolute(path)
                .map_err(|error| ScriptError { reason: format!("{}: {error}", path.display()) })
        };
        let (run_dir, outputs) = (absolute(call.run_dir)?, absolute(call.outputs)?);
        let mut command = Command::new("bash", &outputs).arguments(["-c", call.script]);
        let names: Vec<&str> = BASE_VARIABLES.into_iter().chain(MORE_VARIABLES).collect();
        for (name, value) in self.environment.pick(&names) {
            // The address of a proxy may hold a password.
            if !value.expose().contains('@') {
                command = command.variable(name, value.expose());
            }
        }
        command = command.variable("RUN_DIR", run_dir).variable("OUTPUTS_DIR", outputs);
        if let Some(skill) = call.skill_dir {
            command = command.variable("SKILL_DIR", absolute(skill)?);
        }
        Ok(command)
    }
}

/// Scripts for a thread that may wait while the runtime runs them.
#[derive(Debug)]
pub struct BlockingScripts {
    scripts: Scripts,
    handle: Handle,
}

impl ScriptRunner for BlockingScripts {
    fn run(&self, call: &ScriptCall<'_>) -> Result<ScriptEnd, ScriptError> {
        self.handle.block_on(self.scripts.run(call))
    }
}
