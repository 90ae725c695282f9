//! docs/performance.md: replaces the section of one benchmark and leaves the rest alone; and what every section says about
//! the machine.
//!
//! Invariant: what stands outside the two markers is never changed, and nothing names the machine or a folder on it: the page
//! is public.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");

/// Writes the section of a benchmark between its markers, or at the end of the page.
pub(crate) fn replace(benchmark: &str, section: &str) -> Result<PathBuf> {
    let [begin, end] = ["begin", "end"].map(|side| format!("<!-- {benchmark}:{side} -->"));
    let path = PathBuf::from(PAGE);
    let old = fs_err::read_to_string(&path)?;
    let new = match old.split_once(&begin) {
        Some((before, rest)) => {
            let (_, after) = rest.split_once(&end).context("the page has no end marker")?;
            format!("{before}{begin}\n{section}{end}{after}")
        }
        None => format!("{old}\n{begin}\n{section}{end}\n"),
    };
    fs_err::write(&path, new)?;
    Ok(path)
}

/// Whether a goal was reached; not when nothing was measured.
pub(crate) fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "not met" }
}

/// Processor, cores, memory and kernel in one line.
pub(crate) fn describe() -> String {
    let processors = read("/proc/cpuinfo");
    let cores = processors.lines().filter(|line| line.starts_with("processor")).count();
    let model = field(&processors, "model name").unwrap_or("unknown processor");
    let memory = read("/proc/meminfo");
    let gib = field(&memory, "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib.div_ceil(1024 * 1024));
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{cores} cores of {model}, {gib} GiB of memory, Linux {}", kernel.trim())
}

/// The load of the last minute: above the number of cores, the wall times say little.
pub(crate) fn load() -> String {
    read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned()
}

fn read(path: &str) -> String {
    fs_err::read_to_string(path).unwrap_or_default()
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}
