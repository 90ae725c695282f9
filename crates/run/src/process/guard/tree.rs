//! The guard's own children.
//!
//! Signals go to the program's group, as long as the program is not reaped, and to direct children of the guard. Both
//! numbers cannot belong to a stranger, because only the guard reaps them. Descendants further down become direct
//! children as soon as their parents are killed, for the guard adopts orphans.

use std::io;
use std::process::Child;

use rustix::process::{Pid, Signal};

use crate::process::table;

/// The kernel's list of the children of one thread; the guard has only one.
const CHILDREN: &str = "/proc/thread-self/children";

pub(super) fn pid_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id())
        .ok()
        .and_then(table::pid)
        .ok_or_else(|| io::Error::other("a child without a usable number"))
}

/// The direct children, zombies included. Empty where there is no `/proc`.
pub(super) fn children() -> Vec<Pid> {
    match fs_err::read_to_string(CHILDREN) {
        Ok(text) => text
            .split_ascii_whitespace()
            .filter_map(|id| id.parse().ok().and_then(table::pid))
            .collect(),
        // A kernel may be built without this list.
        Err(_) => children_from_table(),
    }
}

fn children_from_table() -> Vec<Pid> {
    let this = rustix::process::getpid();
    let table = table::read().into_iter();
    table.filter(|entry| entry.parent == Some(this)).map(|entry| entry.id).collect()
}

/// Sends a signal; one that is gone already is no error.
pub(super) fn signal(ids: impl IntoIterator<Item = Pid>, signal: Signal) {
    for id in ids {
        let _ = rustix::process::kill_process(id, signal);
    }
}

/// Sends a signal to a group whose leader is not reaped yet.
pub(super) fn signal_group(leader: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(leader, signal);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::{children, children_from_table, pid_of};

    #[test]
    fn both_lists_hold_a_child() {
        let mut child = Command::new("sleep").arg("30").stdin(Stdio::null()).spawn().unwrap();
        let id = pid_of(&child).unwrap();
        let (quick, slow) = (children(), children_from_table());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(quick.contains(&id) && slow.contains(&id), "{id:?} {quick:?} {slow:?}");
    }
}
