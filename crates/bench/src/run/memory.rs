//! Memory of our own: this process, and a guard while it guards.

use anyhow::{Context as _, Result, anyhow};
use skillgauge_run::process::{Command, Flow, Guard, Limits, run};
use tokio_util::sync::CancellationToken;

/// What the kernel says about a guard among as many as guard at once, in KiB.
pub(crate) struct GuardMemory {
    /// All pages, shared ones included.
    pub(crate) resident: u64,
    /// With shared pages divided by those who share them.
    pub(crate) proportional: u64,
}

/// Waits until every guard is there, tells what the kernel knows about its own, and waits until every other has told.
const TELL: &str = "
meet() { : > $1-$$; while set -- $1 \"$(ls -d $1-* | wc -l)\" && [ $2 -lt $GUARDS ]; do sleep 0.05; done; }
meet here; told=$(cat /proc/$PPID/smaps_rollup); meet told; echo \"$told\"";

/// The mean over guards that all guard at the same time.
pub(crate) fn of(guard: &Guard, guards: u32) -> Result<GuardMemory> {
    let meeting = tempfile::tempdir()?;
    let command = Command::new("/bin/sh", meeting.path())
        .arguments(["-c", TELL])
        .variable("PATH", "/usr/bin:/bin")
        .variable("GUARDS", guards.to_string());
    let told = std::thread::scope(|scope| {
        let tellers: Vec<_> =
            (0..guards).map(|_| scope.spawn(|| told_by(guard, &command))).collect();
        let join = |teller: std::thread::ScopedJoinHandle<'_, Result<String>>| {
            teller.join().map_err(|_| anyhow!("the thread of a guard ended early"))?
        };
        tellers.into_iter().map(join).collect::<Result<Vec<String>>>()
    })?;
    let mean = |field: &str| -> Result<u64> {
        let all = told.iter().map(|text| kib(text, field)).sum::<Result<u64>>()?;
        Ok(all / u64::from(guards.max(1)))
    };
    Ok(GuardMemory { resident: mean("Rss:")?, proportional: mean("Pss:")? })
}

fn told_by(guard: &Guard, command: &Command) -> Result<String> {
    let mut text = String::new();
    let on_line = |line: &[u8]| {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
        Flow::Continue
    };
    let (limits, cancel) = (Limits::default(), CancellationToken::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(guard, command, &limits, &cancel, on_line))?;
    Ok(text)
}

/// The resident memory of this process now.
pub(crate) fn own_resident_kib() -> Result<u64> {
    kib(&fs_err::read_to_string("/proc/self/status")?, "VmRSS:")
}

/// The most that this process ever had.
pub(crate) fn own_peak_kib() -> Result<u64> {
    kib(&fs_err::read_to_string("/proc/self/status")?, "VmHWM:")
}

fn kib(text: &str, field: &str) -> Result<u64> {
    let line = text.lines().find(|line| line.starts_with(field));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).with_context(|| format!("no {field} in {text:?}"))
}
