//! Takes the steps of a script, one after the other.
//!
//! Work is done first and reported afterwards, as agents do. A step that ends the program ends the steps around it too.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::dialect::{Act, SkillLoad, Work};
use super::dump::look_around;
use super::hostile;
use super::invocation::{Invocation, Schema};
use super::script::{Canned, DialectName, Finish, FloodShape, FloodStream, Step};
use super::stage::Stage;
use super::voice::{Voice, Volume};

/// How long "until killed" lasts when nobody kills.
const HANG: Duration = Duration::from_mins(10);

/// How the steps came to an end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Done,
    /// One of them ends the program with this code.
    With(u8),
}

pub(super) struct Performer {
    invocation: Invocation,
    stage: Stage,
    voice: Voice,
}

impl Performer {
    pub(super) fn new(invocation: Invocation) -> io::Result<Self> {
        let stage = Stage::enter(&invocation)?;
        let voice = Voice::new(&invocation, stage.scene(invocation.model.as_deref()));
        Ok(Self { invocation, stage, voice })
    }

    /// Takes steps until one of them ends the program.
    pub(super) fn perform(&mut self, steps: &[Step]) -> io::Result<Ended> {
        for step in steps {
            let ended = self.take(step)?;
            if ended != Ended::Done {
                return Ok(ended);
            }
        }
        Ok(Ended::Done)
    }

    fn take(&mut self, step: &Step) -> io::Result<Ended> {
        match step {
            Step::Start => self.voice.open()?,
            Step::Say(text) => self.voice.report(&Act::Say(&self.stage.fill(text)?))?,
            Step::Think(text) => self.voice.report(&Act::Think(&self.stage.fill(text)?))?,
            Step::Tool(tool) => self.voice.report(&Act::Tool(tool))?,
            Step::LoadSkill { name } => self.load_skill(name)?,
            Step::Finish(finish) => self.finish(finish)?,
            Step::Fail(failure) => return self.voice.fail(failure).map(Ended::With),
            Step::Answer(answers) => self.answer(answers)?,
            Step::Raw(line) => writeln!(io::stdout(), "{}", self.stage.fill(line)?)?,
            Step::Garbage { bytes } => hostile::garbage(&mut io::stdout(), *bytes)?,
            Step::Replay { file, delay_ms, replace } => self.replay(file, *delay_ms, replace)?,
            Step::Flood { megabytes, stream, shape } => self.flood(*megabytes, *stream, *shape)?,
            Step::Write { path, text } => self.write(path, text)?,
            Step::Edit { path, find, replace } => self.edit(path, find, replace)?,
            Step::Read { path } => self.read(path)?,
            Step::Shell(command) => self.shell(command)?,
            Step::Quietly(steps) => return self.quietly(steps),
            Step::Dump { path } => {
                let seen = look_around(&self.invocation.arguments, &self.stage.folder)?;
                fs_err::write(self.stage.path(path)?, seen.to_string())?;
            }
            Step::SleepMs(ms) => std::thread::sleep(Duration::from_millis(*ms)),
            Step::Hang => std::thread::sleep(HANG),
            Step::IgnoreSignals => hostile::ignore_signals()?,
            Step::Fork(fork) => hostile::fork(fork, &self.stage.path(&fork.pids)?)?,
            Step::Exit(code) => return Ok(Ended::With(*code)),
            Step::Signal(name) => hostile::die_by(name)?,
            Step::BigFile { path, bytes, filling } => {
                hostile::big_file(&self.stage.path(path)?, *bytes, *filling)?;
            }
            Step::ManyFiles { path, count } => {
                hostile::many_files(&self.stage.path(path)?, *count)?;
            }
            Step::HostileNames { path } => hostile::hostile_names(&self.stage.path(path)?)?,
            Step::Symlink { path, target } => {
                fs_err::os::unix::fs::symlink(self.stage.fill(target)?, self.stage.path(path)?)?;
            }
            Step::IfSkill { name, then, otherwise } => {
                let found = self.stage.find_skill(&self.stage.fill(name)?)?;
                return self.perform(if found.is_some() { then } else { otherwise });
            }
            Step::IfPrompt { contains, then, otherwise } => {
                let holds = self.stage.prompt()?.contains(contains);
                return self.perform(if holds { then } else { otherwise });
            }
            Step::FirstTimes { times, state, then, otherwise } => {
                let count = count_up(&self.stage.path(state)?)?;
                return self.perform(if count <= *times { then } else { otherwise });
            }
        }
        Ok(Ended::Done)
    }

    fn load_skill(&mut self, name: &str) -> io::Result<()> {
        let name = self.stage.fill(name)?;
        let found = self.stage.find_skill(&name)?;
        self.voice.report(&Act::Skill(SkillLoad { name: &name, found: found.as_ref() }))
    }

    fn finish(&mut self, finish: &Finish) -> io::Result<()> {
        let text = self.stage.fill(&finish.text)?;
        self.voice.finish(&Finish { text, ..finish.clone() })
    }

    /// Answers as a model: plain text for our own contract, the real program's final form otherwise.
    fn answer(&mut self, answers: &[Canned]) -> io::Result<()> {
        let prompt = self.stage.prompt()?;
        let answer = answers.iter().find(|canned| prompt.contains(&canned.contains));
        let answer = answer.ok_or_else(|| io::Error::other("no answer fits the prompt"))?;
        let (text, structured) = match &answer.answer {
            Value::String(text) => (self.stage.fill(text)?, None),
            other => (other.to_string(), Some(other.clone())),
        };
        let structured = structured.filter(|_| self.invocation.schema == Schema::Given);
        match self.invocation.dialect {
            DialectName::Command => writeln!(io::stdout(), "{text}"),
            DialectName::Claude
            | DialectName::Codex
            | DialectName::Gemini
            | DialectName::Opencode => {
                self.voice.finish(&Finish { structured, ..Finish::text(text) })
            }
        }
    }

    fn replay(
        &self,
        file: &str,
        delay_ms: u64,
        replace: &BTreeMap<String, String>,
    ) -> io::Result<()> {
        let text = fs_err::read_to_string(self.stage.path(file)?)?;
        let mut out = io::stdout().lock();
        for line in text.lines() {
            let mut line = line.to_owned();
            for (from, to) in replace {
                line = line.replace(from, &self.stage.fill(to)?);
            }
            writeln!(out, "{line}")?;
            out.flush()?;
            std::thread::sleep(Duration::from_millis(delay_ms));
        }
        Ok(())
    }

    fn flood(&mut self, megabytes: u64, stream: FloodStream, shape: FloodShape) -> io::Result<()> {
        let line_end = match shape {
            FloodShape::Lines => "\n",
            FloodShape::OneLine => "",
            FloodShape::Events => {
                let kilobyte = "x".repeat(1024);
                let times = megabytes.saturating_mul(1024);
                return (0..times).try_for_each(|_| self.voice.report(&Act::Say(&kilobyte)));
            }
        };
        match stream {
            FloodStream::Stdout => hostile::flood(&mut io::stdout().lock(), megabytes, line_end),
            FloodStream::Stderr => hostile::flood(&mut io::stderr().lock(), megabytes, line_end),
        }
    }

    fn write(&mut self, path: &str, text: &str) -> io::Result<()> {
        let (path, text) = (self.stage.path(path)?, self.stage.fill(text)?);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(&path, &text)?;
        self.voice.report(&Act::Work(Work::Write { path: &path, text: &text }))
    }

    fn edit(&mut self, path: &str, find: &str, replace: &str) -> io::Result<()> {
        let path = self.stage.path(path)?;
        let (find, replace) = (self.stage.fill(find)?, self.stage.fill(replace)?);
        let text = fs_err::read_to_string(&path)?;
        if !text.contains(&find) {
            return Err(io::Error::other(format!("{find:?} does not occur in {}", path.display())));
        }
        fs_err::write(&path, text.replace(&find, &replace))?;
        self.voice.report(&Act::Work(Work::Edit { path: &path, find: &find, replace: &replace }))
    }

    fn read(&mut self, path: &str) -> io::Result<()> {
        let path = self.stage.path(path)?;
        let text = String::from_utf8_lossy(&fs_err::read(&path)?).into_owned();
        self.voice.report(&Act::Work(Work::Read { path: &path, text: &text }))
    }

    fn shell(&mut self, command: &str) -> io::Result<()> {
        let command = self.stage.fill(command)?;
        let output = Command::new("sh").args(["-c", &command]).stdin(Stdio::null()).output()?;
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let code = output.status.code().unwrap_or(-1);
        self.voice.report(&Act::Work(Work::Shell { command: &command, output: &text, code }))
    }

    fn quietly(&mut self, steps: &[Step]) -> io::Result<Ended> {
        let before = self.voice.set_volume(Volume::Quiet);
        let ended = self.perform(steps);
        self.voice.set_volume(before);
        ended
    }
}

/// Adds one to the count in a file and gives the new count; safe when many programs do so at once.
fn count_up(path: &Path) -> io::Result<u32> {
    let lock = fs_err::File::create(path.with_extension("lock"))?;
    lock.file().lock()?;
    let text = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let count = text.trim().parse::<u32>().unwrap_or(0).saturating_add(1);
    fs_err::write(path, count.to_string())?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_survives_and_starts_at_one() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("count");
        assert_eq!([1, 2, 3].map(|_| count_up(&state).unwrap()), [1, 2, 3]);
    }
}
