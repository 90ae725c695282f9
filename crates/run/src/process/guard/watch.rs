//! Waits for the program's end or for a reason to end it, and then for the end of everything.
//!
//! One thread, one `poll`. Invariant: [`Watch::until_all_ended`] returns when the kernel says that there is no child
//! left (which, for an adopter of orphans, means no descendant), or when something survives KILL for too long.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::tree;
use crate::process::message::{AgentEnd, Cause, Order};

/// How long what a program left behind may take to end after TERM.
const LEFTOVER_GRACE: Duration = Duration::from_millis(250);
/// How long to go on killing what does not die.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// Between two rounds of killing, when no child's end wakes us.
const KILL_PAUSE: Duration = Duration::from_millis(20);

/// Signals, as bytes in two sockets.
pub(super) struct Signals {
    child_ended: UnixStream,
    end_asked: UnixStream,
}

impl Signals {
    pub(super) fn register() -> io::Result<Self> {
        Ok(Self { child_ended: heard(&[SIGCHLD])?, end_asked: heard(&[SIGTERM, SIGINT, SIGHUP])? })
    }
}

fn heard(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

/// The state of a guard whose program runs.
pub(super) struct Watch {
    control: UnixStream,
    starter: Starter,
    signals: Signals,
    agent: Pid,
    agent_end: Option<WaitStatus>,
    started: Instant,
    wall: Duration,
    grace: Duration,
    cause: Cause,
    stragglers: usize,
    phase: Phase,
}

/// Whether somebody is at the other end of the control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Starter {
    There,
    Gone,
}

/// What the guard is doing.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Waiting,
    Ending {
        until: Instant,
    },
    /// KILL is sent, again and again.
    Killing {
        until: Instant,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Some,
    None,
}

impl Watch {
    pub(super) fn new(
        control: UnixStream,
        signals: Signals,
        agent: Pid,
        started: Instant,
        grace: Duration,
    ) -> Self {
        Self {
            control,
            starter: Starter::There,
            signals,
            agent,
            agent_end: None,
            started,
            wall: Duration::ZERO,
            grace,
            cause: Cause::Itself,
            stragglers: 0,
            phase: Phase::Waiting,
        }
    }

    pub(super) fn until_all_ended(mut self) -> io::Result<AgentEnd> {
        loop {
            if self.reap()? == Left::None {
                return self.end(0);
            }
            match self.phase {
                Phase::Ending { until } if Instant::now() >= until => self.kill(),
                Phase::Killing { until } if Instant::now() >= until => {
                    return self.end(tree::children().len());
                }
                Phase::Killing { .. } => self.kill(),
                Phase::Waiting | Phase::Ending { .. } => {}
            }
            self.wait()?;
        }
    }

    /// Reaps every child that has ended, the program only after its group was told.
    fn reap(&mut self) -> io::Result<Left> {
        if self.agent_end.is_none() {
            if !has_ended(self.agent)? {
                for id in self.others() {
                    let _ = rustix::process::waitpid(Some(id), WaitOptions::NOHANG);
                }
                return Ok(Left::Some);
            }
            self.wall = self.started.elapsed();
            // As long as it is not reaped its number, and so the group's, is its own.
            self.end_leftovers();
            let reaped = rustix::process::waitpid(Some(self.agent), WaitOptions::NOHANG)?;
            self.agent_end = reaped.map(|(_, status)| status);
        }
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(Left::Some),
                Err(Errno::CHILD) => return Ok(Left::None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The program is over: what it left behind has a moment to end, too.
    fn end_leftovers(&mut self) {
        if self.cause == Cause::Itself {
            self.stragglers = self.others().count();
        }
        match self.phase {
            Phase::Waiting => self.terminate(LEFTOVER_GRACE.min(self.grace)),
            Phase::Ending { until } => {
                let until = until.min(Instant::now() + LEFTOVER_GRACE);
                self.phase = Phase::Ending { until };
            }
            Phase::Killing { .. } => self.kill(),
        }
    }

    /// Ends the program because somebody asked for it.
    fn stop(&mut self) {
        if matches!(self.phase, Phase::Waiting) {
            self.cause = Cause::Guard;
            self.terminate(self.grace);
        }
    }

    fn terminate(&mut self, grace: Duration) {
        self.phase = Phase::Ending { until: Instant::now() + grace };
        self.signal(Signal::TERM);
    }

    fn kill(&mut self) {
        if !matches!(self.phase, Phase::Killing { .. }) {
            self.phase = Phase::Killing { until: Instant::now() + KILL_PATIENCE };
        }
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if self.agent_end.is_none() {
            tree::signal_group(self.agent, signal);
        }
        tree::signal(self.others(), signal);
    }

    /// The children beside the program: orphans that came to us.
    fn others(&self) -> impl Iterator<Item = Pid> {
        let agent = self.agent;
        tree::children().into_iter().filter(move |id| *id != agent)
    }

    /// Waits until something happens or the phase is over.
    fn wait(&mut self) -> io::Result<()> {
        let timeout = match self.phase {
            Phase::Waiting => None,
            Phase::Ending { until } => Some(until.saturating_duration_since(Instant::now())),
            Phase::Killing { .. } => Some(KILL_PAUSE),
        };
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut sources = vec![
            PollFd::new(&self.signals.child_ended, PollFlags::IN),
            PollFd::new(&self.signals.end_asked, PollFlags::IN),
        ];
        if self.starter == Starter::There {
            sources.push(PollFd::new(&self.control, PollFlags::IN));
        }
        match poll(&mut sources, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = sources.iter().map(|source| !source.revents().is_empty()).collect();
        if ready[0] {
            drain(&self.signals.child_ended);
        }
        if ready[1] {
            drain(&self.signals.end_asked);
            self.stop();
        }
        if ready.get(2) == Some(&true) {
            self.obey();
        }
        Ok(())
    }

    fn obey(&mut self) {
        let mut orders = [0; 16];
        let count = match self.control.read(&mut orders) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            // A connection that was reset has ended.
            Err(_) => 0,
        };
        if count == 0 {
            self.starter = Starter::Gone;
            self.stop();
        }
        for order in orders[..count].iter().filter_map(|byte| Order::read(*byte)) {
            match order {
                Order::Stop => self.stop(),
                Order::Kill => {
                    self.stop();
                    self.kill();
                }
            }
        }
    }

    fn end(self, survivors: usize) -> io::Result<AgentEnd> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let status = self.agent_end;
        Ok(AgentEnd {
            code: status.and_then(WaitStatus::exit_status),
            signal: status.and_then(WaitStatus::terminating_signal),
            cause: self.cause,
            wall: if status.is_some() { self.wall } else { self.started.elapsed() },
            cpu: duration(usage.user_time()) + duration(usage.system_time()),
            peak_rss: peak_bytes(usage.max_rss()),
            stragglers: u32::try_from(self.stragglers).unwrap_or(u32::MAX),
            survivors: u32::try_from(survivors).unwrap_or(u32::MAX),
        })
    }
}

fn has_ended(id: Pid) -> io::Result<bool> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match rustix::process::waitid(WaitId::Pid(id), look) {
        Ok(status) => Ok(status.is_some()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn drain(mut signals: &UnixStream) {
    let mut bytes = [0; 64];
    while signals.read(&mut bytes).is_ok_and(|count| count == bytes.len()) {}
}

fn duration(time: TimeVal) -> Duration {
    Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}

/// Linux counts kibibytes, Apple's systems bytes.
fn peak_bytes(max_rss: i64) -> u64 {
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    u64::try_from(max_rss).unwrap_or(0).saturating_mul(unit)
}
