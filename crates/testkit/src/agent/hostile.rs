//! What no decent agent does: floods, enormous files, names that break programs, children that will not die.
//!
//! Signals are ignored through `signal-hook`, whose registration is safe; a fork is this program started again with an
//! internal flag. Everything is bounded: children end after the time that the script gives them.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::invocation::ChildRequest;
use super::script::{ChildGroup, ChildOutput, Filling, Fork};

const MEGABYTE: usize = 1024 * 1024;

/// From here on SIGTERM, SIGINT and SIGHUP do nothing.
pub(super) fn ignore_signals() -> io::Result<()> {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        // A handler that sets a flag which nobody reads. Children that are started later get the default again.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Dies by a signal, named as in `SIGKILL`.
pub(super) fn die_by(name: &str) -> io::Result<()> {
    let known = (1..64).find(|signal| signal_hook::low_level::signal_name(*signal) == Some(name));
    let signal = known.ok_or_else(|| io::Error::other(format!("unknown signal {name:?}")))?;
    // Twice, because the first SIGSEGV only makes Rust's own handler for stack overflows step aside.
    signal_hook::low_level::raise(signal)?;
    signal_hook::low_level::raise(signal)?;
    Err(io::Error::other(format!("{name} did not end the program")))
}

/// Starts children, waits until each ignores signals, and writes their ids.
pub(super) fn fork(fork: &Fork, pids: &Path) -> io::Result<()> {
    let mut ids = Vec::new();
    for number in 0..fork.children {
        let ready = pids.with_extension(format!("ready-{}-{number}", std::process::id()));
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--fake-child", &fork.seconds.to_string(), "--fake-ready"]).arg(&ready);
        command.stdin(Stdio::null());
        if fork.output == ChildOutput::Null {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        if fork.group == ChildGroup::Own {
            command.process_group(0);
        }
        ids.push(command.spawn()?.id().to_string());
        wait_for(&ready)?;
        fs_err::remove_file(&ready)?;
    }
    fs_err::write(pids, ids.join("\n") + "\n")
}

/// A child's whole life: ignore signals, say so, wait.
pub(super) fn be_child(child: &ChildRequest) -> io::Result<()> {
    ignore_signals()?;
    fs_err::write(&child.ready, "")?;
    std::thread::sleep(Duration::from_secs(child.seconds));
    Ok(())
}

fn wait_for(path: &Path) -> io::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !path.exists() {
        if Instant::now() >= deadline {
            return Err(io::Error::other("a child did not get ready in time"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Writes so many megabytes of lines, or of one line that does not end.
pub(super) fn flood(out: &mut dyn Write, megabytes: u64, line_end: &str) -> io::Result<()> {
    let line = "x".repeat(1024 - line_end.len()) + line_end;
    let block = line.repeat(MEGABYTE / 1024);
    for _ in 0..megabytes {
        out.write_all(block.as_bytes())?;
    }
    out.flush()
}

/// Writes bytes that are neither JSON nor UTF-8, the same ones each time.
pub(super) fn garbage(out: &mut dyn Write, bytes: usize) -> io::Result<()> {
    // The point is only to be no text: every second byte cannot start a character.
    let noise = (0..bytes).map(|index| if index % 2 == 0 { 0xFF } else { index.to_le_bytes()[0] });
    out.write_all(&noise.collect::<Vec<u8>>())?;
    out.flush()
}

/// Makes a file of a given size.
pub(super) fn big_file(path: &Path, bytes: u64, filling: Filling) -> io::Result<()> {
    let file = fs_err::File::create(path)?;
    match filling {
        Filling::Sparse => file.set_len(bytes),
        Filling::Bytes => {
            let mut file = BufWriter::with_capacity(MEGABYTE, file);
            let block = vec![b'x'; MEGABYTE];
            let mut left = bytes;
            while left > 0 {
                let part = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                file.write_all(&block[..part])?;
                left -= part as u64;
            }
            file.flush()
        }
    }
}

/// Makes many small files, a thousand to a folder.
pub(super) fn many_files(folder: &Path, count: u32) -> io::Result<()> {
    for number in 0..count {
        let part = folder.join(format!("{:04}", number / 1000));
        if number % 1000 == 0 {
            fs_err::create_dir_all(&part)?;
        }
        fs_err::write(part.join(format!("{number:06}.txt")), "x")?;
    }
    Ok(())
}

/// Names that break programs which trust names.
pub(super) const HOSTILE_NAMES: &[&[u8]] = &[
    b"two\nlines.md",
    b"tab\there.md",
    b"-rf",
    b"quote\"and'quote.md",
    b"$(touch pwned).md",
    b"..hidden",
    b" leading and trailing ",
    b"<img src=x onerror=alert(1)>.md",
    b"back\\slash.md",
    "rtl-\u{202e}txt.exe".as_bytes(),
    "e\u{301}.md".as_bytes(),
    "\u{e9}.md".as_bytes(),
    b"\xff\xfe-not-utf8",
    b"\x1b[31mred.md",
    &[b'n'; 255],
];

/// Makes a file of each hostile name.
pub(super) fn hostile_names(folder: &Path) -> io::Result<()> {
    fs_err::create_dir_all(folder)?;
    for name in HOSTILE_NAMES {
        fs_err::write(folder.join(OsStr::from_bytes(name)), "x")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_the_size_and_the_lines_that_were_asked_for() {
        let mut lines = Vec::new();
        flood(&mut lines, 2, "\n").unwrap();
        let text = String::from_utf8(lines).unwrap();
        assert_eq!((text.len(), text.lines().count()), (2 * MEGABYTE, 2048));
        let mut one = Vec::new();
        flood(&mut one, 1, "").unwrap();
        assert!(one.len() == MEGABYTE && !one.contains(&b'\n'));
    }

    #[test]
    fn garbage_is_no_text() {
        let mut bytes = Vec::new();
        garbage(&mut bytes, 1000).unwrap();
        assert!(bytes.len() == 1000 && String::from_utf8(bytes).is_err());
    }

    #[test]
    fn every_hostile_name_can_be_made() {
        let folder = tempfile::tempdir().unwrap();
        hostile_names(folder.path()).unwrap();
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), HOSTILE_NAMES.len());
    }

    #[test]
    fn files_are_spread_over_folders() {
        let folder = tempfile::tempdir().unwrap();
        many_files(folder.path(), 1001).unwrap();
        assert!(folder.path().join("0000/000999.txt").is_file());
        assert!(folder.path().join("0001/001000.txt").is_file());
    }

    #[test]
    fn an_unknown_signal_is_an_error() {
        assert!(die_by("SIGNONSENSE").is_err());
    }
}
