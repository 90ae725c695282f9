//! What to start, under which guard, and within which limits.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone)]
pub struct Command {
    /// The program; a name without a slash is looked up in the `PATH` of [`Command::environment`].
    pub program: OsString,
    /// Its arguments, without the program itself.
    pub arguments: Vec<OsString>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// Its whole environment; nothing of ours is added.
    pub environment: BTreeMap<OsString, OsString>,
    pub stdin: Stdin,
}

/// The standard input of a program.
#[derive(Clone, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`: whoever reads it is at the end at once.
    Closed,
    /// These bytes and then the end. The program sees a file, as after `program < file`.
    Text(Vec<u8>),
}

impl Command {
    /// A program without arguments, with an empty environment and its standard input closed.
    pub fn new(program: impl Into<OsString>, folder: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.into(),
            environment: BTreeMap::new(),
            stdin: Stdin::Closed,
        }
    }

    #[must_use]
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Sets what stands on standard input.
    #[must_use]
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Stdin::Text(text.into());
        self
    }
}

// By hand: an environment holds keys, and what is printed for debugging ends up in logs.
impl fmt::Debug for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("folder", &self.folder)
            .field("variables", &self.environment.keys().collect::<Vec<_>>())
            .field("stdin", &self.stdin)
            .finish()
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => formatter.write_str("Closed"),
            Self::Text(text) => write!(formatter, "Text({} bytes)", text.len()),
        }
    }
}

/// How the guard is started: a program that calls [`super::guard::main`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// An absolute path. `/proc/self/exe` works and still means this program after an update replaced its file.
    pub program: PathBuf,
    /// What comes before the guard's own arguments, such as a hidden subcommand.
    pub arguments: Vec<OsString>,
}

impl Guard {
    /// A program that is a guard whatever its arguments are.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: Vec::new() }
    }

    /// A program that is a guard when its first argument is [`super::guard::SUBCOMMAND`].
    pub fn subcommand_of(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: vec![super::guard::SUBCOMMAND.into()] }
    }
}

/// How long a program may take and how much it may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub timeout: Duration,
    /// How long standard output may stay silent; `None` for ever.
    pub silence: Option<Duration>,
    /// The time between TERM and KILL.
    pub grace: Duration,
    /// Bytes of one line of standard output; the rest of a longer line is left out.
    pub line_bytes: usize,
    /// Bytes of standard output in all; what follows is read, counted and left out.
    pub stdout_bytes: u64,
    /// Bytes of the end of standard error that are kept.
    pub stderr_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(10),
            silence: None,
            grace: Duration::from_secs(2),
            line_bytes: 16 << 20,
            stdout_bytes: 256 << 20,
            stderr_bytes: 64 << 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn the_debug_form_names_variables_and_hides_their_values() {
        let command = Command::new("agent", "/w").variable("API_KEY", "sk-secret").stdin("prompt");
        let shown = format!("{command:?}");
        assert!(shown.contains("API_KEY") && shown.contains("Text(6 bytes)"), "{shown}");
        assert!(!shown.contains("sk-secret"), "{shown}");
    }
}
