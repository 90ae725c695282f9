//! Reads the JSON files of a run: bounded, and never through a link that an agent may have left.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use skillgauge_format::LIMITS;
use skillgauge_format::json::{Node, Number};

use crate::skill::Entries;

/// What became of reading a file.
pub(super) enum Found {
    /// Its bytes.
    Bytes(Vec<u8>),
    Missing,
    /// It is there and cannot be used; why.
    Unusable(String),
}

/// A file, read and understood.
pub(super) enum Parsed<T> {
    Value(T),
    Missing,
    /// It is there and cannot be used; why.
    Unusable(String),
}

/// Files of a run are smaller than this, nearly all of them.
const USUAL_SIZE: usize = 64 * 1024;

/// Reads the many small files of an iteration with three system calls each: open, one read, close.
pub(super) struct Reader {
    buffer: Vec<u8>,
    folders: Folders,
}

impl Default for Reader {
    fn default() -> Self {
        Self { buffer: vec![0; USUAL_SIZE], folders: Folders::default() }
    }
}

impl Reader {
    pub(super) fn list(&mut self, path: &Path) -> io::Result<Entries> {
        // The standard way says in its error which folder it is.
        self.folders.list(path).or_else(|error| fs_err::read_dir(path).and(Err(error)))
    }

    /// Closes the folders that were listed: the next ones are others.
    pub(super) fn close_folders(&mut self) {
        self.folders = Folders::default();
    }

    /// Reads a file in a folder and understands it. What one read does not give, or what makes no sense then, is read in the
    /// long way: it knows all that may be wrong with a file.
    pub(super) fn parse<T>(
        &mut self,
        folder: &Path,
        name: &str,
        mut parse: impl FnMut(&[u8]) -> Result<T, String>,
    ) -> Parsed<T> {
        match self.folders.open(folder, name) {
            Ok(mut file) => match file.read(&mut self.buffer) {
                Ok(length) if length < self.buffer.len() => {
                    if let Ok(value) = parse(&self.buffer[..length]) {
                        return Parsed::Value(value);
                    }
                }
                _ => {}
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Parsed::Missing,
            Err(_) => {}
        }
        read(&folder.join(name)).parse(parse)
    }
}

/// Folders that are kept open at once. A case has two or three; others are found by their whole path, for a process may
/// have 256 open files and no more.
#[cfg(target_os = "linux")]
const MOST_OPEN: usize = 4;

/// The folders of a case that were listed: what is in them is found from there without walking the whole path.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Folders {
    known: Vec<(PathBuf, OwnedFd)>,
}

#[cfg(target_os = "linux")]
impl Folders {
    fn find(&self, path: &Path) -> Option<&OwnedFd> {
        let is = |known: &Path| known.as_os_str() == path.as_os_str();
        self.known.iter().find(|(known, _)| is(known)).map(|(_, folder)| folder)
    }

    fn list(&mut self, path: &Path) -> io::Result<Entries> {
        use rustix::fs::OFlags;
        let folder = self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let entries = Entries::of(&folder)?;
        if self.known.len() < MOST_OPEN {
            self.known.push((path.to_owned(), folder));
        }
        Ok(entries)
    }

    fn open(&self, folder: &Path, name: &str) -> io::Result<File> {
        Ok(self.open_at(&folder.join(name), rustix::fs::OFlags::RDONLY)?.into())
    }

    /// Opens what is in a folder that is known, or in a folder of such a one.
    fn open_at(&self, path: &Path, flags: rustix::fs::OFlags) -> io::Result<OwnedFd> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        let flags = flags | OFlags::CLOEXEC;
        let mut above = path.ancestors().skip(1).take(2);
        let found =
            above.find_map(|above| Some((self.find(above)?, path.strip_prefix(above).ok()?)));
        Ok(match found {
            Some((folder, rest)) => openat(folder, rest, flags, Mode::empty())?,
            None => openat(CWD, path, flags, Mode::empty())?,
        })
    }
}

/// Elsewhere folders are not kept open.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
struct Folders;

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_self, reason = "on Linux it is used")]
impl Folders {
    fn list(&self, path: &Path) -> io::Result<Entries> {
        Entries::read(path)
    }

    fn open(&self, folder: &Path, name: &str) -> io::Result<File> {
        File::open(folder.join(name))
    }
}

impl Found {
    pub(super) fn parse<T>(self, mut parse: impl FnMut(&[u8]) -> Result<T, String>) -> Parsed<T> {
        match self {
            Self::Missing => Parsed::Missing,
            Self::Unusable(reason) => Parsed::Unusable(reason),
            Self::Bytes(bytes) => match parse(&bytes) {
                Ok(value) => Parsed::Value(value),
                Err(reason) => Parsed::Unusable(reason),
            },
        }
    }
}

pub(super) fn read(path: &Path) -> Found {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Missing,
        Err(error) => return Found::Unusable(error.to_string()),
    };
    let size = match file.metadata() {
        Ok(metadata) if !metadata.is_file() => return Found::Unusable("not a file".to_owned()),
        Ok(metadata) => metadata.len(),
        Err(error) => return Found::Unusable(error.to_string()),
    };
    if let Err(issue) = LIMITS.check_size(size) {
        return Found::Unusable(issue.to_string());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // The file may grow meanwhile; what is too large then is no JSON that we read.
    match file.by_ref().take(LIMITS.bytes as u64).read_to_end(&mut bytes) {
        Ok(_) => Found::Bytes(bytes),
        Err(error) => Found::Unusable(error.to_string()),
    }
}

/// Reads a file in a folder that an agent wrote: only if it is a plain file, not a link or a pipe.
pub(super) fn read_output(path: &Path) -> Found {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => read(path),
        _ => Found::Missing,
    }
}

/// The last `most` bytes of a file.
pub(super) fn read_end(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    if size > most {
        file.seek(SeekFrom::Start(size - most)).ok()?;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(most)).ok()? + 1);
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// An amount that a field has; negative ones and those that are no numbers are none.
pub(super) fn amount(node: Option<&Node<'_>>, key: &str) -> Option<Number> {
    amount_of(node?.get(key)?.as_number()?)
}

/// The number, if it is an amount.
pub(super) fn amount_of(number: Number) -> Option<Number> {
    (number.as_f64().is_finite() && number.as_f64() >= 0.0).then_some(number)
}

/// A count that a field has.
pub(super) fn whole(node: Option<&Node<'_>>, key: &str) -> Option<u64> {
    whole_of(node?.get(key)?.as_number()?)
}

/// The number, if it is a count.
pub(super) fn whole_of(number: Number) -> Option<u64> {
    match amount_of(number)? {
        Number::Unsigned(count) => Some(count),
        other if other.is_integer() && other.as_f64() < 9e15 =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, positive and below 2^53"
            )]
            Some(other.as_f64() as u64)
        }
        _ => None,
    }
}

/// A text that a field has; an empty one is none.
pub(super) fn words<'n>(node: &'n Node<'_>, key: &str) -> Option<&'n str> {
    node.get(key)?.as_str().filter(|text| !text.trim().is_empty())
}
