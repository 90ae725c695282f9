//! The validator that we measure ourselves against: `skills-ref` from PyPI, in its own environment.
//!
//! Invariant: the environment is made from a pinned version by this file alone, so that the ratio does
//! not depend on what happens to be installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// The package and the version that is measured.
pub(crate) const PACKAGE: &str = "skills-ref==0.1.1";
const LOOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/validate/rival.py");

pub(crate) struct Rival {
    python: PathBuf,
    /// Its command-line program, which the package calls `agentskills`.
    pub(crate) program: PathBuf,
}

/// What the library loop reports about itself.
#[derive(Deserialize)]
pub(crate) struct LibraryRun {
    pub(crate) skills: usize,
    pub(crate) valid: usize,
    pub(crate) crashed: usize,
    pub(crate) cpu_seconds: f64,
    pub(crate) wall_seconds: f64,
    pub(crate) peak_kib: i64,
    pub(crate) python: String,
    pub(crate) skills_ref: String,
    pub(crate) strictyaml: String,
}

impl LibraryRun {
    pub(crate) fn cpu_per_skill(&self) -> f64 {
        self.cpu_seconds / super::report::number(self.skills)
    }
}

impl Rival {
    /// Makes the environment below `cache`, or uses the one that an earlier run made.
    pub(crate) fn install(cache: &Path) -> Result<Self> {
        let folder = cache.join(PACKAGE.replace("==", "-"));
        let rival =
            Self { python: folder.join("bin/python"), program: folder.join("bin/agentskills") };
        if !rival.program.exists() {
            if folder.exists() {
                fs_err::remove_dir_all(&folder)?;
            }
            run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
            run(Command::new(&rival.python).args(["-m", "pip", "install", "--quiet", PACKAGE]))?;
        }
        Ok(rival)
    }

    /// Validates every `step`-th skill of the list, from the `first`, in one Python process.
    pub(crate) fn validate_in_a_loop(
        &self,
        list: &Path,
        step: usize,
        first: usize,
    ) -> Result<LibraryRun> {
        let output = Command::new(&self.python)
            .args([Path::new("-I"), Path::new(LOOP), list])
            .args([step.to_string(), first.to_string()])
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start the Python of the skills-ref environment")?;
        ensure!(output.status.success(), "the skills-ref loop ended with {}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    ensure!(
        output.status.success(),
        "{} ended with {}: {}",
        command.get_program().display(),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
