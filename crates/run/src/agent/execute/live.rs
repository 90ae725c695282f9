//! One attempt with a real agent.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use skillgauge_core::text::shorten;
use skillgauge_core::time::timestamp;
use skillgauge_format::transcript::Transcript;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::super::isolation::Isolation;
use super::super::locate::Located;
use super::super::login;
use super::super::run::{AgentRun, AttemptRecord, RunNote, RunOrigin, RunTiming, millis};
use super::super::scrub::{Held, Scrubber};
use super::call::{self, Call};
use super::tape::Tape;
use super::{Attempt, ExecuteError, ExecutorSettings, OnProgress, take_line};
use crate::cassette::Mode;
use crate::outputs::{CollectLimits, Outputs, Snapshot, collect};
use crate::process::{self, Ended, Flow};

/// The most that is recorded of outputs: a recording is kept in version control.
const RECORDED_BYTES: u64 = 32 << 20;

pub(super) struct Live<'l> {
    pub(super) settings: &'l ExecutorSettings,
    pub(super) located: Arc<Located>,
    pub(super) attempt: Attempt<'l>,
}

/// A private place with a snapshot of its work folder.
struct Ready {
    place: Isolation,
    before: Option<Snapshot>,
}

impl Live<'_> {
    pub(super) async fn run(
        self,
        cancel: &CancellationToken,
        on_progress: OnProgress<'_>,
    ) -> Result<(AgentRun, Tape), ExecuteError> {
        let (started, clock) = (SystemTime::now(), Instant::now());
        let task = self.attempt.task;
        let descriptor = &self.located.descriptor;
        let environment = &self.settings.environment;
        let logins = login::find(descriptor, environment);
        let ready = self.prepare(logins.clone()).await?;
        let call = Call::new(&self.located, task, environment, &logins, &ready.place.folders);
        let scrubber = Arc::new(Scrubber::new(&call.secrets, &ready.place.folders.root));
        let mut tape = self.blank_tape(&ready, &call, &scrubber);

        let agent = &descriptor.name;
        tracing::info!(%agent, command = command_line(&call, &scrubber), "agent starts");
        let mut reader = descriptor.adapter.open(tape.context());
        let mut lines = Vec::new();
        let is_recorded = matches!(self.settings.cassette.mode(), Mode::Record(_));
        let on_line = |line: &[u8]| -> Flow {
            let line = scrubber.bytes(line);
            tracing::trace!(%agent, line = %String::from_utf8_lossy(&line), "agent says");
            if is_recorded {
                lines.push(String::from_utf8_lossy(&line).into_owned());
            }
            take_line(reader.as_mut(), &line, &task.stop, &mut *on_progress)
        };
        let ended =
            process::run(&self.settings.guard, &call.command, &call.limits, cancel, on_line)
                .await?;
        tape.lines = lines;
        tape.add_end(&ended, &scrubber);
        tracing::info!(%agent, exit = ?tape.exit, seconds = clock.elapsed().as_secs_f64(), "agent ended");
        if !tape.stderr.is_empty() {
            tracing::debug!(%agent, stderr = tape.stderr, "agent complained");
        }
        self.finish(ready, &mut tape, &scrubber).await?;
        tape.started = timestamp(started).to_string();
        tape.total_ms = millis(clock.elapsed());
        tape.ended = timestamp(started + clock.elapsed()).to_string();
        let (transcript, held) = scrubber.transcript(reader.finish(tape.exit()));
        if held == Held::Secret {
            tape.notes.push(RunNote::NotRecorded);
        }
        Ok((tape.clone_without_content().into_run(transcript), tape))
    }

    async fn prepare(&self, logins: Vec<login::LoginEntry>) -> Result<Ready, ExecuteError> {
        let located = Arc::clone(&self.located);
        let scratch = self.settings.scratch.clone();
        let task = self.attempt.task.clone();
        let wants_outputs = self.attempt.outputs.is_some();
        let ready = spawn_blocking(move || {
            let place = Isolation::create(&scratch, &located.descriptor, &task, &logins)?;
            let before = wants_outputs.then(|| Snapshot::take(place.work(), place.scope.clone()));
            Ok::<_, ExecuteError>(Ready { place, before })
        });
        ready.await?
    }

    fn blank_tape(&self, ready: &Ready, call: &Call, scrubber: &Scrubber) -> Tape {
        let task = self.attempt.task;
        let descriptor = &self.located.descriptor;
        let mut notes = call::notes(task, descriptor, &self.settings.environment);
        notes.extend(ready.place.notes.iter().cloned());
        let mut skills = ready.place.skills.clone();
        for skill in &mut skills {
            skill.folder = scrubber.text(&skill.folder);
        }
        Tape {
            agent: descriptor.name.clone(),
            adapter: descriptor.adapter.name.to_owned(),
            agent_version: self.located.version.clone(),
            skillgauge_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: task.model.clone(),
            call: call.record.clone(),
            skills,
            started: String::new(),
            ended: String::new(),
            total_ms: 0,
            agent_started: String::new(),
            agent_ms: 0,
            peak_rss: None,
            cpu_ms: None,
            exit: skillgauge_format::transcript::ExitStatus::default(),
            stderr: String::new(),
            notes,
            outputs: Outputs::default(),
            files: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Collects what the agent produced, and removes the private place.
    async fn finish(
        &self,
        ready: Ready,
        tape: &mut Tape,
        scrubber: &Arc<Scrubber>,
    ) -> Result<(), ExecuteError> {
        let outputs = self.attempt.outputs.map(ToOwned::to_owned);
        let limits = match self.settings.cassette.mode() {
            Mode::Record(_) => CollectLimits {
                total_bytes: self.settings.collect.total_bytes.min(RECORDED_BYTES),
                ..self.settings.collect
            },
            Mode::Off | Mode::Replay(_) => self.settings.collect,
        };
        let scrubber = Arc::clone(scrubber);
        let done = spawn_blocking(move || {
            let Ready { place, before } = ready;
            let mut notes = Vec::new();
            let found = match (outputs, before) {
                (Some(folder), Some(before)) => {
                    let found = collect(&before, place.work(), &folder, &limits)?;
                    for file in found.copied() {
                        if scrubber.file(&folder.join(file.path.as_path()))? == Held::Secret {
                            notes.push(RunNote::SecretInOutput { path: file.path.text() });
                        }
                    }
                    found
                }
                _ => Outputs::default(),
            };
            if let Err(error) = place.remove() {
                notes.push(RunNote::NotRemoved { message: scrubber.text(&error.to_string()) });
            }
            Ok::<_, ExecuteError>((found, notes))
        });
        let (found, notes) = done.await??;
        tape.outputs = found;
        tape.notes.extend(notes);
        Ok(())
    }
}

impl Tape {
    fn add_end(&mut self, ended: &Ended, scrubber: &Scrubber) {
        self.exit = ended.status;
        self.stderr = scrubber.text(&ended.stderr.text());
        self.agent_started = timestamp(ended.started).to_string();
        self.agent_ms = millis(ended.duration);
        self.peak_rss = ended.usage.map(|usage| usage.peak_rss);
        self.cpu_ms = ended.usage.map(|usage| millis(usage.cpu));
        self.notes.extend(ended.stdout.note().map(|text| RunNote::OutputCut { text }));
        if ended.stragglers > 0 {
            self.notes.push(RunNote::Stragglers { count: ended.stragglers });
        }
        if ended.survivors > 0 {
            self.notes.push(RunNote::Survivors { count: ended.survivors });
        }
    }

    /// The same without lines and files: what a run is made of.
    fn clone_without_content(&mut self) -> Self {
        let (lines, files) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.files));
        let clone = self.clone();
        (self.lines, self.files) = (lines, files);
        clone
    }

    /// The run that this tape tells of.
    pub(super) fn into_run(self, transcript: Transcript) -> AgentRun {
        let record = AttemptRecord {
            delay_ms: 0,
            started: self.agent_started,
            duration_ms: self.agent_ms,
            outcome: transcript.outcome(),
            reason: transcript.end.reason,
            message: transcript.end.message.clone(),
            peak_rss: self.peak_rss,
            cpu_ms: self.cpu_ms,
        };
        let timing = RunTiming {
            started: self.started,
            ended: self.ended,
            total_ms: self.total_ms,
            agent_ms: self.agent_ms,
            all_agents_ms: self.agent_ms,
            waited_ms: 0,
            overhead_ms: self.total_ms.saturating_sub(self.agent_ms),
        };
        AgentRun {
            transcript,
            outputs: self.outputs,
            timing,
            attempts: vec![record],
            agent_version: self.agent_version,
            skillgauge_version: self.skillgauge_version,
            call: self.call,
            stderr: self.stderr,
            notes: self.notes,
            origin: RunOrigin::Live,
        }
    }
}

/// A task of the runtime that broke.
impl From<tokio::task::JoinError> for ExecuteError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Internal { message: error.to_string() }
    }
}

/// Program and arguments without secrets; a prompt among them may be long.
fn command_line(call: &Call, scrubber: &Scrubber) -> String {
    let arguments = call.record.arguments.iter();
    let arguments = arguments.map(|argument| shorten(&scrubber.text(argument), 80));
    let program = call.record.program.display().to_string();
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}
