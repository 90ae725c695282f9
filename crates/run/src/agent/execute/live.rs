//! One attempt with a real agent.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use skillgauge_core::text::shorten;
use skillgauge_core::time::timestamp;
use skillgauge_format::transcript::Transcript;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::super::adapter::{Exit, InstalledSkill};
use super::super::isolation::Isolation;
use super::super::locate::Located;
use super::super::login;
use super::super::run::{RunNote, millis};
use super::super::scrub::{Held, Scrubber};
use super::call::{self, Call};
use super::tape::{AttemptFacts, SeenAgent};
use super::watch::StopWatch;
use super::{Attempt, ExecuteError, ExecutorSettings, OnProgress};
use crate::cassette::Mode;
use crate::outputs::{CollectLimits, Outputs, Snapshot, collect};
use crate::process::{self, Flow};

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

/// One attempt with what was recorded of its standard output, line by line.
pub(super) struct LiveAttempt {
    pub(super) facts: AttemptFacts,
    pub(super) transcript: Transcript,
    pub(super) lines: Vec<String>,
}

impl Live<'_> {
    pub(super) async fn run(
        self,
        cancel: &CancellationToken,
        on_progress: OnProgress<'_>,
    ) -> Result<LiveAttempt, ExecuteError> {
        let (started, clock) = (SystemTime::now(), Instant::now());
        let task = self.attempt.task;
        let descriptor = &self.located.descriptor;
        let environment = &self.settings.environment;
        let logins = login::find(descriptor, environment);
        let ready = self.prepare(logins.clone()).await?;
        let call = Call::new(&self.located, task, environment, &logins, &ready.place.folders);
        let scrubber = Arc::new(Scrubber::new(&call.secrets, &ready.place.folders.root));
        let mut notes = call::notes(task, descriptor, environment);
        notes.extend(ready.place.notes.iter().cloned());
        let skills = ready
            .place
            .skills
            .iter()
            .map(|skill| InstalledSkill { folder: scrubber.text(&skill.folder), ..skill.clone() });
        let seen = SeenAgent {
            agent: descriptor.name.clone(),
            adapter: descriptor.adapter.name.to_owned(),
            agent_version: self.located.version.clone(),
            skillgauge_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: task.model.clone(),
            call: call.record.clone(),
            skills: skills.collect(),
        };
        let agent = &descriptor.name;
        tracing::info!(%agent, command = command_line(&call, &scrubber), "agent starts");
        let mut reader = descriptor.adapter.open(seen.context());
        let mut lines = Vec::new();
        let is_recorded = matches!(self.settings.cassette.mode(), Mode::Record(_));
        let mut watch = StopWatch::new(&task.stop);
        let on_line = |line: &[u8]| -> Flow {
            let line = scrubber.bytes(line);
            tracing::trace!(%agent, line = %String::from_utf8_lossy(&line), "agent says");
            if is_recorded {
                lines.push(String::from_utf8_lossy(&line).into_owned());
            }
            watch.take(&mut reader, &line, &mut *on_progress)
        };
        let ended =
            process::run(&self.settings.guard, &call.command, &call.limits, cancel, on_line)
                .await?;
        let exit = Exit { status: Some(ended.status), stderr: scrubber.text(&ended.stderr.text()) };
        tracing::info!(%agent, exit = ?ended.status, seconds = clock.elapsed().as_secs_f64(), "agent ended");
        if !exit.stderr.is_empty() {
            tracing::debug!(%agent, stderr = exit.stderr, "agent complained");
        }
        notes.extend(ended.stdout.note().map(|text| RunNote::OutputCut { text }));
        if ended.stragglers > 0 {
            notes.push(RunNote::Stragglers { count: ended.stragglers });
        }
        if ended.survivors > 0 {
            notes.push(RunNote::Survivors { count: ended.survivors });
        }
        let outputs = self.finish(ready, &mut notes, &scrubber).await?;
        let total = clock.elapsed();
        let (transcript, held) = scrubber.transcript(reader.finish(&exit));
        if held == Held::Secret {
            notes.push(RunNote::NotRecorded);
        }
        let facts = AttemptFacts {
            seen,
            started: timestamp(started).to_string(),
            ended: timestamp(started + total).to_string(),
            total_ms: millis(total),
            agent_started: timestamp(ended.started).to_string(),
            agent_ms: millis(ended.duration),
            peak_rss: ended.usage.map(|usage| usage.peak_rss),
            cpu_ms: ended.usage.map(|usage| millis(usage.cpu)),
            exit: ended.status,
            stderr: exit.stderr,
            notes,
            outputs,
        };
        Ok(LiveAttempt { facts, transcript, lines })
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

    /// Collects what the agent produced, and removes the private place.
    async fn finish(
        &self,
        ready: Ready,
        notes: &mut Vec<RunNote>,
        scrubber: &Arc<Scrubber>,
    ) -> Result<Outputs, ExecuteError> {
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
        let (found, more) = done.await??;
        notes.extend(more);
        Ok(found)
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
