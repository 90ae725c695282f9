//! Memory of our own: this process, and a guard while it guards.

use anyhow::{Context as _, Result};
use skillgauge_run::process::{Command, Flow, Guard, Limits, run};
use tokio_util::sync::CancellationToken;

/// What the kernel says about a guard, in KiB.
pub(crate) struct GuardMemory {
    /// All pages, shared ones included.
    pub(crate) resident: u64,
    /// With shared pages divided by those who share them.
    pub(crate) proportional: u64,
    /// What is its alone.
    pub(crate) private: u64,
}

/// The guarded program reads what the kernel knows about its parent.
pub(crate) fn of(guard: &Guard) -> Result<GuardMemory> {
    let command = Command::new("/bin/sh", std::env::temp_dir())
        .arguments(["-c", "exec cat /proc/$PPID/smaps_rollup"])
        .variable("PATH", "/usr/bin:/bin");
    let mut text = String::new();
    let on_line = |line: &[u8]| {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
        Flow::Continue
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (limits, cancel) = (Limits::default(), CancellationToken::new());
    runtime.block_on(run(guard, &command, &limits, &cancel, on_line))?;
    Ok(GuardMemory {
        resident: kib(&text, "Rss:")?,
        proportional: kib(&text, "Pss:")?,
        private: kib(&text, "Private_Clean:")? + kib(&text, "Private_Dirty:")?,
    })
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
