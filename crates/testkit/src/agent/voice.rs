//! What the fake agent lets the world hear: events, one document, or plain text, as the command line asks for.
//!
//! The opening events come before the first other event by themselves. A quiet voice swallows events, not output that a
//! step prints on purpose.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::dialect::{Act, Dialect, Scene, speak};
use super::invocation::{Format, Invocation};
use super::script::{Failure, Finish};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Volume {
    Aloud,
    Quiet,
}

/// The voice of a run.
pub(super) struct Voice {
    dialect: Box<dyn Dialect>,
    format: Format,
    delay: Duration,
    last_message: Option<PathBuf>,
    volume: Volume,
    opening: Opening,
}

/// Whether the opening events are out.
#[derive(Debug, PartialEq, Eq)]
enum Opening {
    Due,
    Done,
}

impl Voice {
    pub(super) fn new(invocation: &Invocation, scene: Scene) -> Self {
        Self {
            dialect: speak(invocation, scene),
            format: invocation.format,
            delay: Duration::from_millis(invocation.script.event_delay_ms),
            last_message: invocation.last_message.clone(),
            volume: Volume::Aloud,
            opening: Opening::Due,
        }
    }

    /// Sets the volume and gives the one before.
    pub(super) fn set_volume(&mut self, volume: Volume) -> Volume {
        std::mem::replace(&mut self.volume, volume)
    }

    /// Emits the opening events, once.
    pub(super) fn open(&mut self) -> io::Result<()> {
        if self.opening == Opening::Done || self.volume == Volume::Quiet {
            return Ok(());
        }
        self.opening = Opening::Done;
        let events = self.dialect.act(&Act::Start);
        self.emit(&events)
    }

    /// Reports something that was done.
    pub(super) fn report(&mut self, act: &Act<'_>) -> io::Result<()> {
        if self.volume == Volume::Quiet {
            return Ok(());
        }
        self.open()?;
        let events = self.dialect.act(act);
        self.emit(&events)
    }

    pub(super) fn finish(&mut self, finish: &Finish) -> io::Result<()> {
        let events = self.dialect.finish(finish);
        self.end(&events, &finish.text)
    }

    /// Reports a bad end; gives the exit code that goes with it.
    pub(super) fn fail(&mut self, failure: &Failure) -> io::Result<u8> {
        let failed = self.dialect.fail(failure);
        self.end(&failed.events, failure.message())?;
        Ok(failed.code)
    }

    fn end(&mut self, events: &[Value], text: &str) -> io::Result<()> {
        if let Some(path) = &self.last_message {
            fs_err::write(path, text)?;
        }
        let mut out = io::stdout();
        match self.format {
            Format::Events | Format::PartialEvents => {
                self.open()?;
                self.emit(events)
            }
            Format::Document => match events.last() {
                Some(event) => writeln!(out, "{event}"),
                None => Ok(()),
            },
            Format::Text => writeln!(out, "{text}"),
        }
    }

    fn emit(&self, events: &[Value]) -> io::Result<()> {
        match self.format {
            Format::Events | Format::PartialEvents => {}
            Format::Document | Format::Text => return Ok(()),
        }
        let mut out = io::stdout().lock();
        for event in events {
            writeln!(out, "{event}")?;
            out.flush()?;
            std::thread::sleep(self.delay);
        }
        Ok(())
    }
}
