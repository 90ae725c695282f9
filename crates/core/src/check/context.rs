//! What checks look at, and who runs scripts for them.

use std::path::{Path, PathBuf};

use skillgauge_format::transcript::Transcript;

/// A finished run, as far as checks look at it. Everything comes from its folder and from the skill.
#[derive(Clone, Copy)]
pub struct CheckContext<'r> {
    pub run_dir: &'r Path,
    /// What the run produced: `<run>/outputs`.
    pub outputs: &'r Path,
    /// The skill under test, if it is still there.
    pub skill_dir: Option<&'r Path>,
    /// The name of the skill under test.
    pub skill_name: Option<&'r str>,
    pub transcript: Option<&'r Transcript>,
    /// Tokens of all kinds, if they are known.
    pub tokens: Option<u64>,
    /// How long the agent worked, if that is known.
    pub seconds: Option<f64>,
    /// The agent's last words.
    pub final_answer: Option<&'r str>,
    /// The input files of the case as they were before the run.
    pub inputs: &'r [PathBuf],
    pub scripts: &'r dyn ScriptRunner,
}

/// Runs the command of a `custom_script` check; processes are not the business of this crate.
pub trait ScriptRunner {
    /// Runs one script to its end or to its limit.
    fn run(&self, call: &ScriptCall<'_>) -> Result<ScriptEnd, ScriptError>;
}

/// A script to run: `bash -c SCRIPT` in `outputs`.
#[derive(Clone, Copy, Debug)]
pub struct ScriptCall<'c> {
    pub script: &'c str,
    /// The variable `RUN_DIR`.
    pub run_dir: &'c Path,
    /// The variable `OUTPUTS_DIR`, and where the script starts.
    pub outputs: &'c Path,
    /// The variable `SKILL_DIR`.
    pub skill_dir: Option<&'c Path>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptEnd {
    pub outcome: ScriptOutcome,
    /// The last lines that it printed, standard output and then standard error.
    pub last_lines: Vec<String>,
}

/// The end of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptOutcome {
    Exited(i32),
    Killed(i32),
    /// It was stopped after so many seconds.
    TimedOut(u64),
    /// It was stopped because the user wants to stop.
    Cancelled,
}

/// Why a script did not run.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct ScriptError {
    pub reason: String,
}
