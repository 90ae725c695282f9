//! Finds the programs of this kit for the tests of other crates.
//!
//! Cargo builds a package's programs for its own tests only. So this looks beside the running test, and builds the
//! programs when they are missing or older than their sources: a test never runs a stale one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KitProgram {
    FakeAgent,
    Server,
    /// The installer of the real agents.
    Install,
}

/// Why a program of the kit is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The running test is not where cargo puts tests.
    #[error("cannot tell the target folder from {exe:?}")]
    NoTargetFolder { exe: PathBuf },
    /// Cargo could not be started, or a file could not be read.
    #[error("could not build the programs of the test kit")]
    Io(#[from] std::io::Error),
    #[error("cargo build failed for the programs of the test kit: {stderr}")]
    Build { stderr: String },
    /// Cargo said that all is well, but the program is not there.
    #[error("{path:?} is missing after the build; is a --target in use?")]
    Missing { path: PathBuf },
}

impl KitProgram {
    fn file_name(self) -> &'static str {
        match self {
            Self::FakeAgent => "fake-agent",
            Self::Server => "testkit-server",
            Self::Install => "testkit-install",
        }
    }

    /// The path of the program, built if need be.
    pub fn path(self) -> Result<PathBuf, ProgramError> {
        let profile = profile_folder(&std::env::current_exe()?)?;
        let path = profile.join(self.file_name());
        if !is_fresh(&path)? {
            build(&profile)?;
        }
        if path.is_file() { Ok(path) } else { Err(ProgramError::Missing { path }) }
    }
}

/// `<target>/<profile>` of a test at `<target>/<profile>/deps/<test>`, or of a program one folder up.
fn profile_folder(exe: &Path) -> Result<PathBuf, ProgramError> {
    let no_target = || ProgramError::NoTargetFolder { exe: exe.to_owned() };
    let folder = exe.parent().ok_or_else(no_target)?;
    match folder.file_name() {
        Some(name) if name == "deps" || name == "examples" => {
            folder.parent().map(Path::to_owned).ok_or_else(no_target)
        }
        Some(_) => Ok(folder.to_owned()),
        None => Err(no_target()),
    }
}

fn is_fresh(program: &Path) -> Result<bool, ProgramError> {
    let Ok(built) = fs_err::metadata(program).and_then(|metadata| metadata.modified()) else {
        return Ok(false);
    };
    Ok(newest(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))? <= built)
}

fn newest(folder: &Path) -> std::io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let time = if entry.file_type()?.is_dir() {
            self::newest(&entry.path())?
        } else {
            entry.metadata()?.modified()?
        };
        newest = newest.max(time);
    }
    Ok(newest)
}

fn build(profile_folder: &Path) -> Result<(), ProgramError> {
    let no_target = || ProgramError::NoTargetFolder { exe: profile_folder.to_owned() };
    let target = profile_folder.parent().ok_or_else(no_target)?;
    let profile = match profile_folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        Some(other) => other,
        None => return Err(no_target()),
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--package",
            "skillgauge-testkit",
            "--bins",
            "--profile",
            profile,
        ])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(ProgramError::Build { stderr: String::from_utf8_lossy(&output.stderr).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_folder_is_found_from_a_test_and_from_a_program() {
        for exe in ["/t/debug/deps/it-123", "/t/debug/skillgauge", "/t/debug/examples/x"] {
            assert_eq!(profile_folder(Path::new(exe)).unwrap(), Path::new("/t/debug"));
        }
        assert!(profile_folder(Path::new("/")).is_err());
    }

    #[test]
    fn a_program_of_the_kit_can_be_found_and_started() {
        let path = KitProgram::FakeAgent.path().unwrap();
        let output = Command::new(path).arg("--version").output().unwrap();
        assert!(output.status.success());
    }
}
