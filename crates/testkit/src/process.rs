//! Starts a program in a process group of its own and leaves nothing of it behind.
//!
//! For tests only; the product has its own process handling, and a test kit that shared it would share its bugs. Output
//! goes to temporary files instead of pipes, so that a grandchild that keeps a pipe open cannot block a test.
//!
//! A kill of the group is not enough: Claude Code and Codex give each shell command a session of its own, which outlives
//! it. So each program also gets a mark in its environment, and whoever carries the mark is killed at the end.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use rustix::process::Signal;
use rustix::process::{Pid, WaitId, WaitIdOptions};

/// The variable that marks a program and all that it starts.
pub const MARK: &str = "TESTKIT_PROCESS_MARK";

/// How much of each output stream is read back.
const MAX_OUTPUT: u64 = 256 * 1024 * 1024;

/// A program and everything it started; all of it is killed when this is dropped.
#[derive(Debug)]
pub struct Group {
    child: Child,
    mark: String,
    stdout: File,
    stderr: File,
    started: Instant,
    status: Option<ExitStatus>,
}

/// What became of a program.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    /// Whether it ended by itself or had to be killed.
    pub ending: Ending,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
    pub wall: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Exited,
    /// Killed with its whole group, because the time was up.
    TimedOut,
}

impl Group {
    /// Starts a program with its stdin closed.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::null());
        Self::spawn_with_stdin(command)
    }

    /// Starts a program with the stdin that the command already has.
    pub fn spawn_with_stdin(command: &mut Command) -> io::Result<Self> {
        let stdout = tempfile::tempfile()?;
        let stderr = tempfile::tempfile()?;
        let mark = new_mark();
        // Before the start: a busy machine may let the program run before it lets us go on.
        let started = Instant::now();
        let child = command
            .env(MARK, &mark)
            .process_group(0)
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()?;
        Ok(Self { child, mark, stdout, stderr, started, status: None })
    }

    /// The process id, which is the group's id too.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Everything alive that this program started, itself included, whatever group or session it is in now.
    ///
    /// Only Linux tells; elsewhere there seems to be nothing.
    pub fn descendants(&self) -> Vec<u32> {
        let line = format!("{MARK}={}", self.mark);
        let carries_mark = |id: &u32| {
            let environment = fs_err::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == line.as_bytes())
        };
        all_processes().into_iter().filter(|id| carries_mark(id) && !is_zombie(*id)).collect()
    }

    /// Sends a signal to the whole group; a group that is gone already is not an error.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = pid(self.id()) {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }

    /// Waits until the program ends or the time is up; tells which.
    pub fn wait(&self, limit: Duration) -> Ending {
        let deadline = self.started + limit;
        while self.is_running() {
            if Instant::now() >= deadline {
                return Ending::TimedOut;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ending::Exited
    }

    /// What is on stdout so far.
    pub fn stdout(&self) -> io::Result<String> {
        read_back(&self.stdout)
    }

    /// What is on stderr so far.
    pub fn stderr(&self) -> io::Result<String> {
        read_back(&self.stderr)
    }

    /// Waits for the end, kills whatever is left of the group, and collects the output.
    pub fn finish(mut self, limit: Duration) -> io::Result<Finished> {
        let ending = self.wait(limit);
        let wall = self.started.elapsed();
        let status = self.end()?;
        Ok(Finished {
            status,
            ending,
            stdout: read_back(&self.stdout)?,
            stderr: read_back(&self.stderr)?,
            wall,
        })
    }

    /// Kills the group and then reaps its leader, in this order: a reaped number may belong to somebody else.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.signal(Signal::KILL);
        // Again and again, because what is being killed may be starting something else; but not for ever.
        for _ in 0..20 {
            let left = self.descendants();
            if left.is_empty() {
                break;
            }
            for pid in left.into_iter().filter_map(pid) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }

    /// Looks without reaping, so that the group's id stays ours until the group is killed.
    fn is_running(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        pid(self.id()).is_some_and(|pid| {
            matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None))
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kill is what matters; a failed wait leaves a zombie that ends with us.
        let _ = self.end();
    }
}

/// Runs a program to its end, or kills it with its group when the time is up.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Finished> {
    Group::spawn(command)?.finish(limit)
}

/// Whether a process is there and not merely waiting to be reaped.
pub fn is_alive(id: u32) -> bool {
    let exists = pid(id).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok());
    exists && !is_zombie(id)
}

/// The live processes of a group; only Linux tells, elsewhere there seem to be none.
pub fn members(group: u32) -> Vec<u32> {
    let alive = |id: &u32| stat(*id).is_some_and(|stat| stat.group == group && stat.state != 'Z');
    all_processes().into_iter().filter(alive).collect()
}

fn all_processes() -> Vec<u32> {
    let Ok(entries) = fs_err::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// A mark that no other program has, of this test run or another.
fn new_mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{count}-{}", std::process::id(), time.as_nanos())
}

/// Waits until none of the processes is alive or the time is up; gives those that still are.
pub fn wait_until_gone(ids: &[u32], limit: Duration) -> Vec<u32> {
    let deadline = Instant::now() + limit;
    loop {
        let alive: Vec<u32> = ids.iter().copied().filter(|id| is_alive(*id)).collect();
        if alive.is_empty() || Instant::now() >= deadline {
            return alive;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A dead process that nobody has reaped; only Linux tells.
fn is_zombie(id: u32) -> bool {
    stat(id).is_some_and(|stat| stat.state == 'Z')
}

/// What the kernel says about a process.
struct Stat {
    state: char,
    group: u32,
}

fn stat(id: u32) -> Option<Stat> {
    let text = fs_err::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The fields follow the command's name, which is in parentheses and may itself contain some.
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some(Stat { state, group })
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

/// Reads without moving the place in the file: the program shares it, and would write over what it has written.
fn read_back(file: &File) -> io::Result<String> {
    let length = file.metadata()?.len().min(MAX_OUTPUT);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_ends_gives_its_output_and_status() {
        let finished = run(&mut shell("echo out; echo err >&2; exit 3"), LONG).unwrap();
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!((finished.status.code(), finished.ending), (Some(3), Ending::Exited));
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_with_its_children() {
        let group = Group::spawn(&mut shell("sleep 300 & echo $!; wait")).unwrap();
        let id = group.id();
        let deadline = Instant::now() + LONG;
        while group.stdout().unwrap().is_empty() {
            assert!(Instant::now() < deadline, "the program did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let finished = group.finish(Duration::ZERO).unwrap();
        assert_eq!(finished.ending, Ending::TimedOut);
        let child: u32 = finished.stdout.trim().parse().unwrap();
        assert!(wait_until_gone(&[child], LONG).is_empty());
        assert!(members(id).is_empty());
    }

    #[test]
    fn a_child_that_outlives_its_parent_is_killed_at_the_end() {
        let finished = run(&mut shell("sleep 300 & echo $!"), LONG).unwrap();
        assert_eq!(finished.ending, Ending::Exited);
        let child: u32 = finished.stdout.trim().parse().unwrap();
        assert!(wait_until_gone(&[child], LONG).is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_with_a_session_of_its_own_is_found_and_killed_too() {
        let group = Group::spawn(&mut shell("setsid sleep 300 & wait")).unwrap();
        let deadline = Instant::now() + LONG;
        while group.descendants().len() < 2 || members(group.id()).len() > 1 {
            assert!(Instant::now() < deadline, "the child did not start a session");
            std::thread::sleep(Duration::from_millis(5));
        }
        let all = group.descendants();
        group.signal(Signal::KILL);
        assert_eq!(
            wait_until_gone(&all, Duration::from_millis(500)).len(),
            1,
            "a group kill must miss it"
        );
        drop(group);
        assert!(wait_until_gone(&all, LONG).is_empty());
    }

    #[test]
    fn a_dropped_group_is_gone() {
        let group = Group::spawn(&mut shell("sleep 300")).unwrap();
        let id = group.id();
        assert!(is_alive(id));
        assert!(members(id).contains(&id) || !cfg!(target_os = "linux"));
        drop(group);
        assert!(!is_alive(id));
    }
}
