//! The only place that writes to the terminal: data to standard output, talk to standard error.

use std::io::{self, BufWriter, Write};

use anstream::ColorChoice;
use clap::ValueEnum;
use skillgauge_core::output::Style;
use skillgauge_core::text::wrap;

use crate::ExitCode;
use crate::error::{CommandError, Failure};

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

/// How much is said beside results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Voice {
    /// Only why there is no result.
    Quiet,
    #[default]
    Normal,
    /// A log runs along, so nothing is drawn over.
    Verbose,
}

/// Writes what commands have to say.
#[derive(Clone, Debug)]
pub struct Printer {
    color: Color,
    voice: Voice,
}

impl Printer {
    pub fn new(color: Color, voice: Voice) -> Self {
        Self { color, voice }
    }

    pub fn voice(&self) -> Voice {
        self.voice
    }

    /// Standard output, buffered.
    pub fn stdout(&self) -> impl Write + use<> {
        BufWriter::with_capacity(64 * 1024, io::stdout())
    }

    /// Writes a result for people to standard output: lines that the terminal would break are broken between words.
    pub fn print_text(&self, text: &str) -> Result<(), CommandError> {
        match terminal_size(io::stdout()) {
            Some([columns, _]) => self.print(&wrap(text, columns)),
            None => self.print(text),
        }
    }

    /// Writes a result to standard output.
    pub fn print(&self, text: &str) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
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
        if self.voice != Voice::Quiet || text.starts_with("error: ") {
            tell(text);
        }
        tracing::debug!("{text}");
    }

    /// Reports why a command could not do its work.
    pub fn error(&self, error: &CommandError) -> ExitCode {
        if error.failure != Failure::ClosedPipe {
            tell(&format!("error: {error}"));
            if let Some(hint) = &error.hint {
                tell(&format!("\nhint: {hint}"));
            }
        }
        error.failure.exit_code()
    }
}

/// A closed standard error is nobody's concern.
fn tell(text: &str) {
    let wrapped = terminal_size(io::stderr()).map(|[columns, _]| wrap(text, columns));
    let _ = writeln!(io::stderr(), "{}", wrapped.as_deref().unwrap_or(text));
}

/// Columns and lines of a terminal; none for a pipe or a file.
#[cfg(unix)]
pub(crate) fn terminal_size(stream: impl std::os::fd::AsFd) -> Option<[usize; 2]> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    let size = [usize::from(size.ws_col), usize::from(size.ws_row)];
    Some(size).filter(|size| !size.contains(&0))
}

#[cfg(not(unix))]
pub(crate) fn terminal_size<S>(_stream: S) -> Option<[usize; 2]> {
    None
}
