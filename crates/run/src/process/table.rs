//! The system's processes, as Linux shows them in `/proc`. Elsewhere the table is empty.

use rustix::process::Pid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Pid,
    /// `None` for the first process of all.
    pub(super) parent: Option<Pid>,
    pub(super) session: Option<Pid>,
    pub(super) life: Life,
}

/// Whether a process still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Alive,
    /// Dead, but not reaped by its parent.
    Zombie,
}

/// All processes of this moment. Those that come and go while the table is read may be missing.
pub(super) fn read() -> Vec<Entry> {
    let Ok(folder) = fs_err::read_dir("/proc") else { return Vec::new() };
    folder
        .flatten()
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            // A process that has just ended has no file any more.
            let stat = fs_err::read(entry.path().join("stat")).ok()?;
            parse(id, &stat)
        })
        .collect()
}

/// `12 (name) S 1 12 12 ...`: state, parent, group, session. A name may hold anything, parentheses too.
fn parse(id: i32, stat: &[u8]) -> Option<Entry> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let life = match fields.next()? {
        "Z" | "X" => Life::Zombie,
        _ => Life::Alive,
    };
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Entry { id: pid(id)?, parent: pid(parent), session: pid(session), life })
}

/// `Pid::from_raw` takes a negative number for a bug of the caller.
pub(super) fn pid(id: i32) -> Option<Pid> {
    (id > 0).then(|| Pid::from_raw(id)).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Life, parse, pid};

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let entry = parse(12, b"12 (a) S 9 (b) S 7 12 5 0 -1 4194304 1").unwrap();
        assert_eq!((entry.id, entry.parent, entry.session), (pid(12).unwrap(), pid(7), pid(5)));
        assert_eq!(entry.life, Life::Alive);
        assert_eq!(parse(1, b"1 (\xff) Z 0 1 1 0").unwrap().life, Life::Zombie);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_in_the_table_with_its_parent() {
        let this = rustix::process::getpid();
        let entry = super::read().into_iter().find(|entry| entry.id == this).unwrap();
        // Not the session: its leader may be outside of our process namespace (as in a container), where the
        // kernel says 0 and rustix panics on it. `a_descendant_that_left_the_session_is_found` holds sessions.
        assert_eq!(entry.parent, rustix::process::getppid());
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(id in any::<i32>(), line in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(id, &line);
        }
    }
}
