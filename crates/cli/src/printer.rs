//! The only place that writes to the terminal: data to standard output, talk to standard error.

use std::io::{self, BufWriter, Write};

use anstream::ColorChoice;
use clap::ValueEnum;
use skillgauge_core::output::Style;

use crate::ExitCode;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Writes what commands have to say.
#[derive(Clone, Debug)]
pub struct Printer {
    color: Color,
}

/// A failure to write, or one that a user can do something about.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Standard output is gone.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
    /// What was typed or given makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

impl CommandError {
    /// Bad usage, with what to do about it.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: Some(hint.into()) }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Printer {
    /// With the user's choice of colour.
    pub fn new(color: Color) -> Self {
        Self { color }
    }

    /// Standard output, buffered.
    pub fn stdout(&self) -> impl Write + use<> {
        BufWriter::with_capacity(64 * 1024, io::stdout())
    }

    /// Whether what goes to standard output may have colour.
    pub fn style(&self) -> Style {
        let choice = match self.color {
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
            Color::Auto => anstream::AutoStream::choice(&io::stdout()),
        };
        if choice == ColorChoice::Never { Style::Plain } else { Style::Coloured }
    }

    /// Says something that is not data. A closed standard error is nobody's concern.
    pub fn say(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Reports why a command could not do its work.
    pub fn error(&self, error: &CommandError) -> ExitCode {
        match error {
            // The reader has seen enough, as with `skillgauge ... | head`.
            CommandError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::Success
            }
            CommandError::Output(_) => {
                self.say(&format!("error: {error}"));
                ExitCode::Incomplete
            }
            CommandError::Usage { hint, .. } => {
                self.say(&format!("error: {error}"));
                if let Some(hint) = hint {
                    self.say(&format!("\nhint: {hint}"));
                }
                ExitCode::Usage
            }
        }
    }
}
