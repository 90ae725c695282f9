//! The files in `outputs/`: listed once for all checks of a run, read one at a time.

use std::path::{Path, PathBuf};

use skillgauge_format::evals::Operator;

use super::evidence::{Evidence, name};
use super::glob::Glob;
use super::verdict::{Finding, Verdict};

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
    TooMany {
        /// The folder.
        folder: PathBuf,
    },
}

/// The files below `outputs/`, in the order of their paths.
#[derive(Debug)]
pub(super) struct Outputs {
    root: PathBuf,
    files: Vec<PathBuf>,
    /// Links that lead out of `outputs/` or to nothing.
    links: Vec<PathBuf>,
}

/// What a file holds.
pub(super) enum Content {
    /// Text, with one kind of line end.
    Text(String),
    /// No text.
    Binary,
    /// More bytes than are read.
    TooLarge(u64),
    /// What the system says.
    Unreadable(String),
}

impl Outputs {
    /// Lists a folder; one that is not there has no files.
    pub(super) fn list(root: &Path) -> Result<Self, OutputsError> {
        let mut outputs = Self::none(root);
        let real_root = match fs_err::canonicalize(root) {
            Ok(real_root) => real_root,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(outputs),
            Err(error) => return Err(OutputsError::Unreadable(error)),
        };
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let entries = fs_err::read_dir(root.join(&folder)).map_err(OutputsError::Unreadable)?;
            for entry in entries {
                let entry = entry.map_err(OutputsError::Unreadable)?;
                let kind = entry.file_type().map_err(OutputsError::Unreadable)?;
                let path = folder.join(entry.file_name());
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file()
                    || (kind.is_symlink() && stays_inside(&real_root, &entry.path()))
                {
                    outputs.files.push(path);
                } else if kind.is_symlink() {
                    outputs.links.push(path);
                }
            }
            if outputs.files.len() + outputs.links.len() + folders.len() > MOST_FILES {
                return Err(OutputsError::TooMany { folder: root.to_owned() });
            }
        }
        outputs.files.sort_unstable();
        outputs.links.sort_unstable();
        Ok(outputs)
    }

    /// A folder that nobody looks into.
    pub(super) fn none(root: &Path) -> Self {
        Self { root: root.to_owned(), files: Vec::new(), links: Vec::new() }
    }

    /// All files.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files that a glob means.
    pub(super) fn matching<'o>(&'o self, glob: &'o Glob) -> impl Iterator<Item = &'o Path> {
        self.files.iter().map(PathBuf::as_path).filter(|path| glob.matches(path))
    }

    /// Where a file is.
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

    /// Says which links a glob would have meant, had they not led out.
    pub(super) fn note_links(&self, glob: &Glob, evidence: &mut Evidence) {
        for link in self.links.iter().filter(|link| glob.matches(link)).take(2) {
            evidence.note(format!(
                "{} is a link that leads out of outputs/ and is not followed",
                name(link)
            ));
        }
    }

    /// At least one file matches.
    pub(super) fn exists(&self, glob: &Glob) -> Finding {
        let mut evidence = Evidence::new();
        let mut files = self.matching(glob).peekable();
        if files.peek().is_none() {
            evidence.note(format!("No file matches `{}`", glob.as_str()));
            self.note_links(glob, &mut evidence);
            return Finding::new(Verdict::Fails, evidence);
        }
        evidence.note("Found");
        files.for_each(|path| evidence.add(name(path)));
        Finding::new(Verdict::Holds, evidence)
    }

    /// So many files match.
    pub(super) fn count(&self, glob: &Glob, operator: Operator, count: u64) -> Finding {
        let mut evidence = Evidence::new();
        let found = self.matching(glob).count() as u64;
        let files = if found == 1 { "file matches" } else { "files match" };
        evidence.note(format!(
            "{found} {files} `{}`, expected {} {count}",
            glob.as_str(),
            operator.as_str()
        ));
        self.note_links(glob, &mut evidence);
        self.matching(glob).for_each(|path| evidence.add(name(path)));
        Finding::new(Verdict::of(operator.holds(found, count)), evidence)
    }
}

fn stays_inside(real_root: &Path, link: &Path) -> bool {
    fs_err::canonicalize(link).is_ok_and(|target| target.starts_with(real_root) && target.is_file())
}

/// Bytes as Python reads a text file: one kind of line end, and a sign where a byte makes no sense.
fn text(bytes: Vec<u8>) -> Content {
    if memchr::memchr(0, &bytes[..bytes.len().min(LOOKED_AT)]).is_some() {
        return Content::Binary;
    }
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Content::Text(text);
    }
    Content::Text(text.replace("\r\n", "\n").replace('\r', "\n"))
}
