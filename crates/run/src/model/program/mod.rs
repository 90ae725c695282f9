//! Programs as models: the private place where one call of a program happens, and the call itself.
//!
//! A [`Workshop`] is made for every call and removed after it: an empty folder to start in, so that no project file is in
//! reach, and a private folder for temporary files. [`Runner::run`] is the seam to [`crate::process`], which sees to it that
//! nothing of the program is left behind, also when the call is dropped or we crash.

pub(in crate::model) mod claude;
mod cli;
pub(in crate::model) mod codex;
pub(in crate::model) mod command;

use std::path::{Path, PathBuf};
use std::time::Duration;

use skillgauge_core::scratch::PrivateFolder;
use tokio_util::sync::CancellationToken;

use crate::agent::adapter::Exit;
use crate::model::error::{Chance, ModelError};
use crate::model::http::excerpt;
use crate::model::secret::{BASE_VARIABLES, Environment, Secret, scrub_all};
use crate::process::{Command, Flow, Guard, Limits, ProcessError, run};

/// The most that is read of what a program says.
const MAX_OUTPUT: u64 = 16 * 1024 * 1024;

/// Variables that a program gets beside the base: who the user is, because it works with the user's own login. No keys.
const USER_VARIABLES: [&str; 9] = [
    "HOME",
    "USER",
    "LOGNAME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

#[derive(Clone, Debug)]
pub(in crate::model) struct Runner {
    guard: Guard,
    scratch: PathBuf,
    variables: Vec<(String, Secret)>,
}

/// A folder for one call.
pub(in crate::model) struct Workshop {
    root: PrivateFolder,
}

/// A program that has ended.
#[derive(Debug)]
pub(in crate::model) struct ProgramEnd {
    pub(in crate::model) stdout: Vec<u8>,
    pub(in crate::model) exit: Exit,
}

pub(in crate::model) struct Invocation<'i> {
    pub(in crate::model) program: &'i Path,
    /// Where to start; the empty folder of the workshop when absent.
    pub(in crate::model) folder: Option<&'i Path>,
    pub(in crate::model) arguments: Vec<String>,
    pub(in crate::model) variables: Vec<(&'static str, String)>,
    pub(in crate::model) stdin: String,
    pub(in crate::model) limit: Duration,
}

impl Runner {
    /// A runner that passes the base variables on, and these.
    pub(in crate::model) fn new(
        guard: &Guard,
        scratch: &Path,
        environment: &Environment,
        passed_on: &[&str],
    ) -> Self {
        let mut variables = environment.pick(&BASE_VARIABLES);
        variables.extend(environment.pick(&USER_VARIABLES));
        variables.extend(environment.pick(passed_on));
        Self { guard: guard.clone(), scratch: scratch.to_owned(), variables }
    }

    /// Removes from a text what must not be shown: the values of the variables that hold keys.
    pub(in crate::model) fn scrub(&self, text: &str) -> String {
        let is_base = |name: &str| BASE_VARIABLES.contains(&name);
        let secrets = self
            .variables
            .iter()
            .filter(|(name, _)| !is_base(name) || name.to_lowercase().ends_with("_proxy"));
        let secrets: Vec<Secret> = secrets.map(|(_, value)| value.clone()).collect();
        scrub_all(&secrets, text)
    }

    pub(in crate::model) fn workshop(&self) -> Result<Workshop, ModelError> {
        let bad = |error: std::io::Error| ModelError::Setting {
            setting: "the folder for temporary files".to_owned(),
            detail: error.to_string(),
        };
        let root = PrivateFolder::new(&self.scratch, "model-").map_err(bad)?;
        for folder in ["work", "tmp"] {
            fs_err::create_dir(root.path().join(folder)).map_err(bad)?;
        }
        Ok(Workshop { root })
    }

    /// Starts a program in a workshop and waits for its end.
    pub(in crate::model) async fn run(
        &self,
        workshop: &Workshop,
        invocation: Invocation<'_>,
    ) -> Result<ProgramEnd, ModelError> {
        let folder = invocation.folder.map_or_else(|| workshop.path("work"), Path::to_owned);
        let mut command = Command::new(invocation.program, folder)
            .arguments(invocation.arguments)
            .stdin(invocation.stdin);
        for (name, value) in &self.variables {
            command = command.variable(name, value.expose());
        }
        command = command.variable("TMPDIR", workshop.path("tmp"));
        for (name, value) in invocation.variables {
            command = command.variable(name, value);
        }
        let limits =
            Limits { timeout: invocation.limit, stdout_bytes: MAX_OUTPUT, ..Limits::default() };
        let mut stdout = Vec::new();
        let collect = |line: &[u8]| {
            stdout.extend_from_slice(line);
            stdout.push(b'\n');
            Flow::Continue
        };
        let never = CancellationToken::new();
        let ended = run(&self.guard, &command, &limits, &never, collect).await;
        let ended = ended.map_err(|error| self.not_run(invocation.program, &error))?;
        if ended.stdout.note().is_some() {
            return Err(ModelError::TooLarge { limit: MAX_OUTPUT });
        }
        let mut exit = ended.exit();
        exit.stderr = self.scrub(&exit.stderr);
        Ok(ProgramEnd { stdout, exit })
    }

    fn not_run(&self, program: &Path, error: &ProcessError) -> ModelError {
        let program = program.display().to_string();
        if matches!(error, ProcessError::NotFound { .. }) {
            return ModelError::NoProgram { program };
        }
        let source = std::error::Error::source(error).map(|source| format!(": {source}"));
        let message = self.scrub(&format!("{error}{}", source.unwrap_or_default()));
        let chance = if error.may_pass() { Chance::MayPass } else { Chance::Final };
        ModelError::Program { program, exit: None, message, chance }
    }
}

impl Workshop {
    /// A path in the folder; `work` is where programs start, and stays empty.
    pub(in crate::model) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Puts a file beside the work folder, and gives its path.
    pub(in crate::model) fn write(&self, name: &str, text: &str) -> Result<PathBuf, ModelError> {
        let path = self.path(name);
        fs_err::write(&path, text).map_err(|error| ModelError::Setting {
            setting: "the folder for temporary files".to_owned(),
            detail: error.to_string(),
        })?;
        Ok(path)
    }
}

/// The last words of a program, short enough for a message.
pub(in crate::model) fn last_words(stderr: &str) -> String {
    const KEPT: usize = 600;
    let start = stderr.ceil_char_boundary(stderr.len().saturating_sub(KEPT));
    excerpt(&stderr[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(variables: &[(&str, &str)], passed_on: &[&str]) -> Runner {
        let environment: Environment = variables.iter().copied().collect();
        Runner::new(&Guard::new("/guard"), &std::env::temp_dir(), &environment, passed_on)
    }

    #[test]
    fn a_program_gets_no_key_that_is_not_meant_for_it() {
        let variables =
            [("PATH", "/bin"), ("MY_KEY", "0123456789"), ("OPENAI_API_KEY", "abcdefghij")];
        let runner = runner(&variables, &["MY_KEY"]);
        let names: Vec<&str> = runner.variables.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["PATH", "MY_KEY"]);
        assert_eq!(runner.scrub("/bin said 0123456789"), "/bin said <secret>");
        assert!(!format!("{runner:?}").contains("0123456789"));
    }

    #[test]
    fn a_workshop_is_empty_and_goes_away() {
        let workshop = runner(&[], &[]).workshop().unwrap();
        let (root, work) = (workshop.path(""), workshop.path("work"));
        workshop.write("system.txt", "x").unwrap();
        assert_eq!(fs_err::read_dir(&work).unwrap().count(), 0);
        drop(workshop);
        assert!(!root.exists());
    }

    #[test]
    fn last_words_are_short() {
        assert_eq!(last_words("one\ntwo\n"), "one two");
        assert!(last_words(&"ä".repeat(5000)).len() < 700);
    }
}
