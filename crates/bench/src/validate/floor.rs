//! The cost of reading alone: finds the skills below a folder and reads each SKILL.md, and checks nothing.
//!
//! A validator that looks for skills and into their folders can hardly need less than this, so it says how
//! far a better validator could still get. It is measured like one, as a process of its own. Invariant:
//! it opens, lists, reads and closes each thing once, and parses nothing.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use anyhow::{Result, ensure};
use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir, openat};

/// The hidden first argument of a process that does only this.
pub(crate) const READ: &str = "--read-skills";

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

/// Lists everything below `root` and reads every SKILL.md.
pub(crate) fn read(root: &Path) -> Result<()> {
    let folder = openat(CWD, root, FOLDER, Mode::empty())?;
    let mut reader = Reader { text: vec![0; 8 * 1024 * 1024], skills: 0 };
    reader.folder(folder.as_fd())?;
    ensure!(reader.skills > 0, "no skill below {}", root.display());
    Ok(())
}

struct Reader {
    text: Vec<u8>,
    skills: usize,
}

impl Reader {
    fn folder(&mut self, folder: BorrowedFd<'_>) -> Result<()> {
        let mut buffer = [MaybeUninit::uninit(); 8 * 1024];
        let mut entries = RawDir::new(folder, &mut buffer);
        let mut below: Vec<CString> = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            match entry.file_type() {
                FileType::Directory if !is_passed_over(name) => below.push(name.to_owned()),
                FileType::RegularFile if name == c"SKILL.md" => {
                    let file = openat(folder, name, FILE, Mode::empty())?;
                    while rustix::io::read(&file, &mut self.text[..])? > 0 {}
                    self.skills += 1;
                }
                _ => {}
            }
        }
        for name in below {
            let inner = openat(folder, &name, FOLDER, Mode::empty())?;
            self.folder(inner.as_fd())?;
        }
        Ok(())
    }
}

fn is_passed_over(name: &CStr) -> bool {
    [c".", c"..", c".git", c"node_modules"].contains(&name)
}
