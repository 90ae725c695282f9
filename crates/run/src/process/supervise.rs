//! Runs one program under a guard: the side of the process that lives on.
//!
//! [`run`] starts the guard, then a single loop waits for output, the guard's report, the clock and the caller.
//! The guard does the killing; this side only decides when, and steps in itself if the guard does not answer.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use skillgauge_format::transcript::{ExitStatus, Stop};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::command::{Command, Guard, Limits, Stdin};
use super::ended::{Ended, ResourceUsage, StdoutTally};
use super::error::ProcessError;
use super::guard::{MAX_GRACE, arguments};
use super::intake::{Flow, Intake};
use super::message::{AgentEnd, Cause, Order, Report};
use super::reclaim;
use super::table;
use super::tail::Tail;

/// What one read takes at most.
const CHUNK: usize = 32 << 10;
/// How much later than the grace period a guard may report; it gives up killing earlier by itself.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);
/// How long output may stay open after the report: only a process that survived KILL can hold it.
const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

/// Runs a program to its end, a limit, or the caller's word.
///
/// `on_line` gets each line of standard output as it comes, without its newline, and may say [`Flow::Enough`]; it must
/// not block. A dropped future stops the program, too.
pub async fn run(
    guard: &Guard,
    command: &Command,
    limits: &Limits,
    cancel: &CancellationToken,
    on_line: impl FnMut(&[u8]) -> Flow + Send,
) -> Result<Ended, ProcessError> {
    let started = SystemTime::now();
    if cancel.is_cancelled() {
        return Ok(never_started(started));
    }
    let mut watched = GuardedProcess::start(guard, command, limits)?;
    let mut intake = Intake::new(limits.line_bytes, limits.stdout_bytes, on_line);
    let report = watched.watch(command, cancel, &mut intake).await;
    let lost = match report {
        Some(Report::Ended(end)) => {
            watched.bury().await;
            return Ok(watched.ended(started, end, intake.finish()));
        }
        Some(Report::NotStarted { errno, text }) => {
            watched.bury().await;
            return Err(ProcessError::not_started(command, errno, text));
        }
        None => watched.reclaim().await,
    };
    Err(ProcessError::GuardLost { program: PathBuf::from(&command.program), status: lost })
}

fn never_started(started: SystemTime) -> Ended {
    Ended {
        status: ExitStatus { stop: Some(Stop::Cancel), ..ExitStatus::default() },
        started,
        duration: Duration::ZERO,
        stdout: StdoutTally::default(),
        stderr: Tail::default(),
        usage: None,
        stragglers: 0,
        survivors: 0,
    }
}

/// A guard and what connects us to it.
struct GuardedProcess {
    guard: Child,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    orders: OwnedWriteHalf,
    reports: Lines<BufReader<OwnedReadHalf>>,
    tail: Tail,
    stop: Option<Stop>,
    grace: Duration,
    deadline: Option<Instant>,
    silence: Option<Duration>,
}

impl GuardedProcess {
    fn start(guard: &Guard, command: &Command, limits: &Limits) -> Result<Self, ProcessError> {
        let folder_error = |source| ProcessError::Folder { folder: command.folder.clone(), source };
        // Looked at first, because a failed start does not say what was not found.
        let folder = fs_err::metadata(&command.folder).map_err(folder_error)?;
        if !folder.is_dir() {
            return Err(folder_error(io::ErrorKind::NotADirectory.into()));
        }
        let guard_error = |source| ProcessError::no_guard(command, &guard.program, source);
        let (ours, theirs) = StdUnixStream::pair().map_err(guard_error)?;
        ours.set_nonblocking(true).map_err(guard_error)?;
        let ours = UnixStream::from_std(ours).map_err(guard_error)?;
        let mut child = tokio::process::Command::new(&guard.program)
            .args(&guard.arguments)
            .args(arguments(command, limits))
            .env_clear()
            .envs(&command.environment)
            .current_dir(&command.folder)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(guard_error)?;
        let (reports, orders) = ours.into_split();
        Ok(Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            guard: child,
            orders,
            reports: BufReader::new(reports).lines(),
            tail: Tail::new(limits.stderr_bytes),
            stop: None,
            grace: limits.grace.min(MAX_GRACE),
            deadline: Instant::now().checked_add(limits.timeout),
            silence: limits.silence,
        })
    }

    /// Waits for the report and the end of all output; no report means that the guard is lost.
    async fn watch<F: FnMut(&[u8]) -> Flow>(
        &mut self,
        command: &Command,
        cancel: &CancellationToken,
        intake: &mut Intake<F>,
    ) -> Option<Report> {
        let mut buffers = (vec![0; CHUNK], vec![0; CHUNK / 4]);
        let mut unsent: &[u8] = match &command.stdin {
            Stdin::Closed => &[],
            Stdin::Text(text) => text,
        };
        let mut report = None;
        let mut heard = Instant::now();
        // Set as soon as the end is near; whoever has not answered by then is not waited for.
        let mut patience: Option<Instant> = None;
        while report.is_none() || self.stdout.is_some() || self.stderr.is_some() {
            let quiet = self.silence.and_then(|silence| heard.checked_add(silence));
            let undecided = self.stop.is_none() && report.is_none();
            let mut reason = None;
            tokio::select! {
                read = read(&mut self.stdout, &mut buffers.0) => match read {
                    Ok(count @ 1..) => {
                        heard = Instant::now();
                        if intake.push(&buffers.0[..count]) == Flow::Enough {
                            reason = Some(Stop::Proof);
                        }
                    }
                    Ok(0) | Err(_) => self.stdout = None,
                },
                read = read(&mut self.stderr, &mut buffers.1) => match read {
                    Ok(count @ 1..) => self.tail.push(&buffers.1[..count]),
                    Ok(0) | Err(_) => self.stderr = None,
                },
                line = self.reports.next_line(), if report.is_none() => {
                    let line = line.ok().flatten()?;
                    report = Some(serde_json::from_str(&line).ok()?);
                    patience = Some(Instant::now() + DRAIN_PATIENCE);
                }
                sent = self.orders.write(unsent), if !unsent.is_empty() => match sent {
                    Ok(count) => unsent = &unsent[count..],
                    // The guard is gone; the end of its reports says so, too.
                    Err(_) => unsent = &[],
                },
                () = cancel.cancelled(), if undecided => reason = Some(Stop::Cancel),
                () = until(self.deadline), if undecided => reason = Some(Stop::Timeout),
                () = until(quiet), if undecided => reason = Some(Stop::Silence),
                () = until(patience) => return report,
            }
            if let Some(reason) = reason.filter(|_| self.stop.is_none()) {
                self.stop = Some(reason);
                if report.is_none() {
                    self.send_stop(unsent).await;
                    unsent = &[];
                    patience = Some(Instant::now() + self.grace + REPORT_PATIENCE);
                }
            }
        }
        report
    }

    /// Tells the guard to end the program, or not to start it while it waits for the rest of standard input.
    async fn send_stop(&mut self, unsent: &[u8]) {
        // A guard that cannot be told is gone, and the end of its reports says so.
        let _ = match unsent {
            [] => self.orders.write_all(&[Order::Stop.byte()]).await,
            _ => self.orders.shutdown().await,
        };
    }

    /// Reaps a guard that has reported and is about to end.
    async fn bury(&mut self) {
        if timeout(DRAIN_PATIENCE, self.guard.wait()).await.is_err() {
            // Nothing more can be done about one that cannot be killed; the runtime reaps it later.
            let _ = self.guard.start_kill();
        }
    }

    /// Kills a guard that does not answer and everything that it guarded; says how it ended.
    async fn reclaim(&mut self) -> String {
        // Before the guard is reaped: until then its number cannot belong to anybody else. And not after it was killed:
        // as long as it lives it is the parent of all orphans, by which they are found.
        let session = self.guard.id().and_then(|id| i32::try_from(id).ok()).and_then(table::pid);
        if let Some(session) = session {
            let _ = tokio::task::spawn_blocking(move || reclaim::kill_session(session)).await;
        }
        let _ = self.guard.start_kill();
        match timeout(DRAIN_PATIENCE, self.guard.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it cannot be killed".to_owned(),
        }
    }

    fn ended(self, started: SystemTime, end: AgentEnd, stdout: StdoutTally) -> Ended {
        // A program that ended by itself just before our order did so in time. Only a caller that has enough has not
        // heard the rest, so that remains a stop.
        let stop = match (end.cause, self.stop) {
            (Cause::Itself, Some(Stop::Proof)) => Some(Stop::Proof),
            (Cause::Itself, _) => None,
            // The guard was told by a signal from outside.
            (Cause::Guard, None) => Some(Stop::Cancel),
            (Cause::Guard, stop) => stop,
        };
        Ended {
            status: ExitStatus { code: end.code, signal: end.signal, stop },
            started,
            duration: end.wall,
            stdout,
            stderr: self.tail,
            usage: Some(ResourceUsage { peak_rss: end.peak_rss, cpu: end.cpu }),
            stragglers: end.stragglers,
            survivors: end.survivors,
        }
    }
}

async fn read<R: tokio::io::AsyncRead + Unpin>(
    source: &mut Option<R>,
    buffer: &mut [u8],
) -> io::Result<usize> {
    match source {
        Some(source) => source.read(buffer).await,
        None => std::future::pending().await,
    }
}

/// Waits for a time; for ever when there is none, or when it is too far away to be written down.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
