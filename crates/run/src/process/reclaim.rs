//! The second net: ends what a guard guarded when the guard itself was killed.
//!
//! A guard is the leader of a session of its own, so everything that did not leave the session is found by its number,
//! and what left it by its parent, as long as that lives.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::table::{self, Entry, Life};

const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

/// Kills everything of a session and all descendants; blocks until they are gone or the time is up.
pub(super) fn kill_session(session: Pid) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let members = freeze(session, deadline);
        signal(&members, Signal::KILL);
        if members.is_empty() || Instant::now() >= deadline {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Stops everybody, until nobody is left who could start another one unseen: a process whose parent has just been killed
/// could not be found any more.
fn freeze(session: Pid, deadline: Instant) -> Vec<Pid> {
    let mut frozen = Vec::new();
    loop {
        let members = members(&table::read(), session);
        let moving: Vec<Pid> = members.iter().copied().filter(|id| !frozen.contains(id)).collect();
        if moving.is_empty() || Instant::now() >= deadline {
            return members;
        }
        signal(&moving, Signal::STOP);
        frozen.extend(moving);
    }
}

/// Sends a signal; one that is gone already is what we want.
fn signal(ids: &[Pid], signal: Signal) {
    for id in ids {
        let _ = kill_process(*id, signal);
    }
}

/// The live processes of a session, and their descendants wherever they are.
fn members(table: &[Entry], session: Pid) -> Vec<Pid> {
    let mut found: BTreeSet<i32> = BTreeSet::new();
    loop {
        let before = found.len();
        for entry in table {
            let parent_found =
                entry.parent.is_some_and(|parent| found.contains(&parent.as_raw_nonzero().get()));
            if entry.session == Some(session) || parent_found {
                found.insert(entry.id.as_raw_nonzero().get());
            }
        }
        if found.len() == before {
            break;
        }
    }
    table
        .iter()
        .filter(|entry| entry.life == Life::Alive)
        .filter(|entry| found.contains(&entry.id.as_raw_nonzero().get()))
        .map(|entry| entry.id)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::members;
    use crate::process::table::{Entry, Life, pid};

    fn entry(id: i32, parent: i32, session: i32) -> Entry {
        Entry {
            id: pid(id).unwrap(),
            parent: pid(parent),
            session: pid(session),
            life: Life::Alive,
        }
    }

    #[test]
    fn a_descendant_that_left_the_session_is_found_by_its_parents() {
        let mut table = vec![
            entry(40, 30, 30),
            entry(30, 20, 30),
            entry(20, 1, 9),
            entry(21, 1, 9),
            entry(50, 2, 50),
            entry(2, 1, 2),
        ];
        let ids = |session| -> Vec<_> { members(&table, pid(session).unwrap()) };
        assert_eq!(ids(9), [40, 30, 20, 21].map(|id| pid(id).unwrap()));
        assert!(ids(77).is_empty());
        table[2].life = Life::Zombie;
        assert_eq!(members(&table, pid(9).unwrap()).len(), 3, "a zombie cannot be killed again");
    }
}
