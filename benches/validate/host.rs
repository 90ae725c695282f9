//! The machine that the numbers come from, as the kernel describes it.
//!
//! Invariant: nothing here names the machine or a folder on it; the text goes into a public page.

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
