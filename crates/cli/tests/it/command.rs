//! Runs the built binary in a folder of its own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with skills, and the binary to run in it.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap()
    }

    /// Writes a file below the project; folders are made.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
        self
    }

    /// Writes a skill that has no finding.
    pub(crate) fn good_skill(&self, folder: &str) -> &Self {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        let text = format!(
            "---\nname: {name}\ndescription: Does a thing with files. Use when testing.\n---\n\n# Body\n\nText.\n"
        );
        self.file(&format!("{folder}/SKILL.md"), text)
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs_err::read(self.path().join(path)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillgauge"));
        command.args(args).current_dir(self.path()).env_clear().env("PATH", "/usr/bin:/bin");
        // A service that is planted to fail is waited for, but not by the clock of the wall.
        command.env("SKILLGAUGE_SERVICE_PAUSES", "10,20,30");
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Exit code, standard output and standard error as one text, with the project's path replaced.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.shown(&self.output(args))
    }

    pub(crate) fn shown(&self, output: &Output) -> String {
        let clean = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes)
                .replace(&self.path().display().to_string(), "[PROJECT]");
            without_times(&text)
        };
        let code = output.status.code().map_or("signal".to_owned(), |code| code.to_string());
        let mut text = format!("exit code: {code}\n");
        let _ = write!(
            text,
            "----- stdout\n{}----- stderr\n{}",
            clean(&output.stdout),
            clean(&output.stderr)
        );
        text
    }

    pub(crate) fn stdout(&self, args: &[&str]) -> String {
        String::from_utf8(self.output(args).stdout).unwrap()
    }

    pub(crate) fn exit_code(&self, args: &[&str]) -> Option<i32> {
        self.output(args).status.code()
    }
}

/// What a judge's verdict took is another time in every run.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.split_once("; ") {
        Some((start, rest)) if start.starts_with("judge: ") && start.contains(" verdict") => {
            let rest = rest.split_once(" s").map_or(rest, |(_, rest)| rest);
            format!("{start}; [TIME] s{rest}")
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}
