//! The files in `outputs/`: listed once for all checks of a run, read one at a time.

use std::path::{Path, PathBuf};

use skillgauge_format::evals::Operator;

use super::evidence::{Evidence, name};
use super::glob::Glob;
use super::unkept::{Link, Unkept};
use super::verdict::{Finding, Verdict};
use crate::files::{FileEntry, FileKind, Walk};

/// More files are not listed.
const MOST_FILES: usize = 1_000_000;
/// Larger files are not read.
pub(super) const MOST_BYTES: u64 = 32 << 20;
/// A file with a zero byte among its first bytes is no text.
const LOOKED_AT: usize = 8 << 10;

/// Why `outputs/` cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum OutputsError {
    /// A folder cannot be read.
    #[error("the outputs cannot be listed")]
    Unreadable(#[source] std::io::Error),
    /// There are too many files.
    #[error("there are more than {MOST_FILES} files in {folder:?}; nothing was checked")]
    TooMany { folder: PathBuf },
}

/// The files below `outputs/`, in the order of their paths.
#[derive(Debug)]
pub(super) struct Outputs {
    root: PathBuf,
    files: Vec<PathBuf>,
    /// Links to what is no file in `outputs/`.
    links: Vec<(PathBuf, Link)>,
    /// What the run's record tells beside it, or why it cannot be read.
    unkept: Result<Option<Unkept>, String>,
}

pub(super) enum Content {
    /// Text, with one kind of line end.
    Text(String),
    /// No text, but read as if it were: a text that is written in it is found as it would be in a text.
    Binary(String),
    /// Text of this encoding, which is not decoded.
    Encoded(&'static str),
    /// More bytes than are read.
    TooLarge(u64),
    Unreadable(String),
}

impl Outputs {
    /// Lists a folder; one that is not there has no files. `record` is the run's record, if it has one.
    pub(super) fn list(root: &Path, record: &Path) -> Result<Self, OutputsError> {
        let mut outputs = Self::none(root, record);
        let real_root = match fs_err::canonicalize(root) {
            Ok(real_root) => real_root,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(outputs),
            Err(error) => return Err(OutputsError::Unreadable(error)),
        };
        let mut walk = Walk::new(root).at_most(MOST_FILES as u64);
        for entry in walk.by_ref() {
            let FileEntry { path, kind } =
                entry.map_err(|error| OutputsError::Unreadable(error.into()))?;
            match kind {
                FileKind::Folder | FileKind::Other => {}
                FileKind::File => outputs.files.push(path),
                FileKind::Link => match no_file(&real_root, &root.join(&path)) {
                    None => outputs.files.push(path),
                    Some(link) => outputs.links.push((path, link)),
                },
            }
        }
        if walk.is_cut() {
            return Err(OutputsError::TooMany { folder: root.to_owned() });
        }
        if let Ok(Some(unkept)) = &mut outputs.unkept {
            outputs.links.extend(unkept.links.iter().cloned());
            // What somebody has put there since is there.
            unkept.files.retain(|(path, _)| outputs.files.binary_search(path).is_err());
        }
        outputs.links.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        outputs.links.dedup_by(|left, right| left.0 == right.0);
        Ok(outputs)
    }

    /// A folder that nobody looks into.
    pub(super) fn none(root: &Path, record: &Path) -> Self {
        let unkept = Unkept::read(record);
        Self { root: root.to_owned(), files: Vec::new(), links: Vec::new(), unkept }
    }

    /// What the run's record tells beside the files; nothing when there is none.
    pub(super) fn unkept(&self) -> Result<Option<&Unkept>, &str> {
        self.unkept.as_ref().map(Option::as_ref).map_err(String::as_str)
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files that a glob means.
    pub(super) fn matching<'o>(&'o self, glob: &'o Glob) -> impl Iterator<Item = &'o Path> {
        self.files.iter().map(PathBuf::as_path).filter(|path| glob.matches(path))
    }

    /// The files that a glob means and that were not kept, with the reason.
    pub(super) fn matching_unkept<'o>(
        &'o self,
        glob: &'o Glob,
    ) -> impl Iterator<Item = (&'o Path, &'static str)> {
        let unkept = self.unkept.iter().flatten().flat_map(|unkept| &unkept.files);
        let files = unkept.map(|(path, reason)| (path.as_path(), *reason));
        files.filter(|(path, _)| glob.matches(path))
    }

    /// Why there may be more files that a glob means than anybody knows of.
    pub(super) fn doubts(&self, glob: &Glob) -> Vec<String> {
        let mut doubts = match &self.unkept {
            Err(reason) => vec![format!("the run's record cannot be read: {reason}")],
            Ok(None) => Vec::new(),
            Ok(Some(unkept)) => {
                unkept.doubts(|folder| glob.matches(folder) || glob.leads_into(folder))
            }
        };
        // A pattern may name a file by way of a link; one that leads anywhere finds the file under its own name.
        let linked = self.links.iter().filter(|(path, link)| {
            *link == Link::Folder && glob.names_folder(path) && !glob.matches(path)
        });
        doubts.extend(linked.take(2).map(|(path, link)| format!("{} {link}", name(path))));
        doubts
    }

    pub(super) fn locate(&self, path: &Path) -> PathBuf {
        self.root.join(path)
    }

    /// Reads a file as text.
    pub(super) fn read(&self, path: &Path) -> Content {
        match self.read_bytes(path) {
            Ok(bytes) => text(bytes),
            Err(content) => content,
        }
    }

    /// Reads a file as it is; what stands against it comes back as the error.
    pub(super) fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, Content> {
        use std::io::Read as _;
        let unreadable = |error: std::io::Error| Content::Unreadable(error.kind().to_string());
        let file = fs_err::File::open(self.locate(path)).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        if length > MOST_BYTES {
            return Err(Content::TooLarge(length));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
        file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    }

    /// Says which links a glob would have meant, had they led to files.
    pub(super) fn note_links(&self, glob: &Glob, evidence: &mut Evidence) {
        for (path, link) in self.links.iter().filter(|(path, _)| glob.matches(path)).take(2) {
            evidence.note(format!("{} {link}", name(path)));
        }
    }

    /// What a check that needs a file says when none matches.
    pub(super) fn none_matches(&self, glob: &Glob) -> Finding {
        let mut evidence = Evidence::new();
        evidence.note(format!("No file matches `{}`", glob.as_str()));
        self.note_links(glob, &mut evidence);
        let doubts = self.doubts(glob);
        let verdict = if doubts.is_empty() { Verdict::Fails } else { Verdict::Unknown };
        for doubt in doubts {
            evidence.note(doubt);
        }
        Finding::new(verdict, evidence)
    }

    /// At least one file matches.
    pub(super) fn exists(&self, glob: &Glob) -> Finding {
        let mut evidence = Evidence::new();
        self.name_all(glob, &mut evidence);
        if evidence.is_empty() {
            return self.none_matches(glob);
        }
        evidence.note("Found");
        Finding::new(Verdict::Holds, evidence)
    }

    pub(super) fn count(&self, glob: &Glob, operator: Operator, count: u64) -> Finding {
        let mut evidence = Evidence::new();
        let unkept = self.matching_unkept(glob).count() as u64;
        let found = self.matching(glob).count() as u64 + unkept;
        let files = if found == 1 { "file matches" } else { "files match" };
        evidence.note(format!(
            "{found} {files} `{}`, expected {} {count}",
            glob.as_str(),
            operator.as_str()
        ));
        if unkept > 0 {
            evidence.note(format!("{unkept} of them not kept in outputs/"));
        }
        self.note_links(glob, &mut evidence);
        let doubts = self.doubts(glob);
        // With more files than are known, only what would be the same for any number of them is certain.
        let mut possible =
            [found, found.max(count), found.max(count.saturating_add(1))].into_iter();
        let holds = operator.holds(found, count);
        let verdict = if doubts.is_empty() || possible.all(|n| operator.holds(n, count) == holds) {
            Verdict::of(holds)
        } else {
            Verdict::Unknown
        };
        for doubt in doubts {
            evidence.note(doubt);
        }
        self.name_all(glob, &mut evidence);
        Finding::new(verdict, evidence)
    }

    fn name_all(&self, glob: &Glob, evidence: &mut Evidence) {
        self.matching(glob).for_each(|path| evidence.add(name(path)));
        for (path, reason) in self.matching_unkept(glob) {
            evidence.add(format!("{} ({reason})", name(path)));
        }
    }
}

/// Why a link is no file of the folder; nothing when it is one.
fn no_file(real_root: &Path, link: &Path) -> Option<Link> {
    let Ok(target) = fs_err::canonicalize(link) else { return Some(Link::Nowhere) };
    if !target.starts_with(real_root) {
        return Some(Link::Out);
    }
    if target.is_file() {
        return None;
    }
    Some(if target.is_dir() { Link::Folder } else { Link::Nowhere })
}

/// Bytes as Python reads a text file: one kind of line end, and a sign where a byte makes no sense.
fn text(bytes: Vec<u8>) -> Content {
    // Neither is a beginning of UTF-8.
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Content::Encoded("UTF-16");
    }
    let is_binary = memchr::memchr(0, &bytes[..bytes.len().min(LOOKED_AT)]).is_some();
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let text = if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        text
    } else {
        text.replace("\r\n", "\n").replace('\r', "\n")
    };
    if is_binary { Content::Binary(text) } else { Content::Text(text) }
}
