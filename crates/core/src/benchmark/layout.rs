//! Finds the runs of an iteration, in our layout and in those of the public skill-creator.
//!
//! ```text
//! <iteration>/[runs/]eval-<id>|<any name>/<configuration>/[run-<k>/]grading.json
//! <iteration>/<configuration>/[run-<k>/]grading.json                                 a single case
//! ```
//!
//! The invariant: a folder that might hold runs and gives none is named in the problems.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use skillgauge_format::json;
use skillgauge_format::part::{Configuration, EvalId};

use super::file::{self, Parsed, Reader};
use super::{BenchmarkError, parallel, role};
use crate::skill::{Entries, FileKind};

/// The folder's runs.
pub(super) struct Layout {
    /// The cases in the order of their ids.
    pub(super) cases: Vec<CaseFolder>,
    /// What was not understood.
    pub(super) problems: Vec<String>,
}

/// The runs of one case.
pub(super) struct CaseFolder {
    pub(super) id: EvalId,
    pub(super) name: Option<String>,
    /// Whether `eval_metadata.json` says that a rubric is scored.
    pub(super) has_rubric: bool,
    pub(super) runs: Vec<RunFolder>,
    /// The name of its folder.
    pub(super) folder: String,
    problems: Vec<String>,
}

/// One run.
pub(super) struct RunFolder {
    pub(super) path: PathBuf,
    pub(super) configuration: Configuration,
    pub(super) number: u64,
}

/// One entry of a listing.
struct Entry {
    file_name: OsString,
    is_folder: bool,
}

impl Entry {
    fn name(&self) -> Cow<'_, str> {
        self.file_name.to_string_lossy()
    }
}

/// The iteration that a path means: itself, or the newest iteration of a workspace.
pub fn find_iteration(path: &Path) -> Result<PathBuf, BenchmarkError> {
    let entries = list(path).map_err(|source| BenchmarkError::Unreadable { source })?;
    let newest = entries
        .into_iter()
        .filter(|entry| entry.is_folder)
        .filter_map(|entry| {
            Some((entry.name().strip_prefix("iteration-")?.parse::<u64>().ok()?, entry))
        })
        .max_by_key(|(number, _)| *number);
    Ok(newest.map_or_else(|| path.to_owned(), |(_, entry)| path.join(entry.file_name)))
}

/// Finds all runs.
pub(super) fn read(folder: &Path, threads: usize) -> Result<Layout, BenchmarkError> {
    let unreadable = |source| BenchmarkError::Unreadable { source };
    let mut entries = list(folder).map_err(unreadable)?;
    let mut around = Cow::Borrowed(folder);
    if entries.iter().any(|entry| entry.is_folder && entry.file_name == "runs") {
        around = Cow::Owned(folder.join("runs"));
        entries = list(&around).map_err(unreadable)?;
    }
    entries.retain(|entry| entry.is_folder && !entry.name().starts_with('.'));
    let mut cases = if entries.iter().any(|entry| role::is_known(&entry.name())) {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        vec![case(folder, name.unwrap_or_default(), &mut Reader::new())]
    } else {
        parallel::map_with(&entries, threads, Reader::new, |reader, entry| {
            case(&around.join(&entry.file_name), entry.name().into_owned(), reader)
        })
    };
    let mut problems: Vec<String> =
        cases.iter_mut().flat_map(|case| std::mem::take(&mut case.problems)).collect();
    cases.retain(|case| !case.runs.is_empty());
    cases.sort_by(|a, b| (&a.id, &a.folder).cmp(&(&b.id, &b.folder)));
    for pair in cases.windows(2).filter(|pair| pair[0].id == pair[1].id) {
        problems.push(format!(
            "{} and {} both say that they are the case {}; they are counted as two cases",
            pair[0].folder, pair[1].folder, pair[0].id
        ));
    }
    Ok(Layout { cases, problems })
}

fn case(path: &Path, folder: String, reader: &mut Reader) -> CaseFolder {
    let id = id_from_name(&folder);
    let mut case = CaseFolder { folder, ..CaseFolder::new(id, None) };
    let children = match list(path) {
        Ok(children) => children,
        Err(error) => {
            case.problems.push(format!("{} cannot be listed: {error}", case.folder));
            return case;
        }
    };
    case.read_metadata(path, reader);
    for child in children.iter().filter(|child| child.is_folder && !child.name().starts_with('.')) {
        case.read_configuration(path, child);
    }
    if case.runs.is_empty() {
        case.problems.push(format!("{} holds no runs and is left out", case.folder));
    }
    case.runs.sort_by(|a, b| {
        (role::order(&a.configuration), a.number).cmp(&(role::order(&b.configuration), b.number))
    });
    case
}

impl CaseFolder {
    /// A case without runs.
    pub(super) fn new(id: EvalId, name: Option<String>) -> Self {
        let (runs, folder, problems) = (Vec::new(), String::new(), Vec::new());
        Self { id, name, has_rubric: false, runs, folder, problems }
    }

    fn read_metadata(&mut self, path: &Path, reader: &mut Reader) {
        match reader.parse(path, "eval_metadata.json", Metadata::read) {
            Parsed::Missing => {}
            Parsed::Unusable(reason) => self.metadata_problem(&reason),
            Parsed::Value(Metadata { id, name, has_rubric }) => {
                self.id = id.unwrap_or_else(|| self.id.clone());
                (self.name, self.has_rubric) = (name, has_rubric);
            }
        }
    }

    fn metadata_problem(&mut self, reason: &str) {
        self.problems.push(format!("{}/eval_metadata.json: {reason}", self.folder));
    }

    fn read_configuration(&mut self, path: &Path, child: &Entry) {
        let name = child.name();
        let place = format!("{}/{name}", self.folder);
        let path = path.join(&child.file_name);
        let inside = match list(&path) {
            Ok(inside) => inside,
            Err(error) => return self.problems.push(format!("{place} cannot be listed: {error}")),
        };
        let configuration = Configuration::from(&*name);
        let runs: Vec<&Entry> =
            inside.iter().filter(|entry| entry.is_folder && is_run(&entry.name())).collect();
        if runs.is_empty() {
            // The agentskills.io layout has one run for each configuration and no folder for it.
            let is_run = inside.iter().any(|entry| entry.file_name == "grading.json");
            let is_configuration = role::is_known(&name);
            if is_run
                || (is_configuration && inside.iter().any(|entry| entry.file_name == "outputs"))
            {
                self.runs.push(RunFolder { path, configuration, number: 1 });
            } else if is_configuration {
                self.problems.push(format!("{place} holds no runs"));
            }
            return;
        }
        let mut taken = BTreeSet::new();
        for run in runs {
            let number = number_of(&run.name()).filter(|number| !taken.contains(number));
            let number = number.unwrap_or_else(|| {
                let free = (1..u64::MAX).find(|number| !taken.contains(number)).unwrap_or(u64::MAX);
                self.problems.push(format!(
                    "{place}/{} has no number of its own and is counted as run {free}",
                    run.name()
                ));
                free
            });
            taken.insert(number);
            let (path, configuration) = (path.join(&run.file_name), configuration.clone());
            self.runs.push(RunFolder { path, configuration, number });
        }
    }
}

/// What a case says of itself.
struct Metadata {
    id: Option<EvalId>,
    name: Option<String>,
    has_rubric: bool,
}

impl Metadata {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let document = json::parse(bytes).map_err(|error| error.to_string())?;
        let root = &document.root;
        let rubric = root.get("quality_rubric");
        Ok(Self {
            id: root.get("eval_id").and_then(|id| id.deserialize().ok()),
            name: file::words(root, "eval_name").map(str::to_owned),
            has_rubric: rubric.is_some_and(|rubric| !rubric.members().is_empty()),
        })
    }
}

/// The entries of a folder in a stable order, numbered names before others.
fn list(path: &Path) -> std::io::Result<Vec<Entry>> {
    // The standard way says in its error which folder it is.
    let listed = Entries::read(path).or_else(|error| fs_err::read_dir(path).and(Err(error)))?;
    // A link is not followed: it leads out of the iteration, or counts runs twice.
    let entry = |(name, kind): (&OsStr, FileKind)| Entry {
        file_name: name.to_owned(),
        is_folder: kind == FileKind::Folder,
    };
    let mut entries: Vec<Entry> = listed.iter().map(entry).collect();
    // They are in the order of their names, and stay so among equals.
    entries.sort_by_cached_key(|entry| {
        let number = number_of(&entry.name());
        (number.is_none(), number)
    });
    Ok(entries)
}

fn is_run(name: &str) -> bool {
    name.strip_prefix("run").is_some_and(|rest| {
        rest.starts_with(['-', '_']) || rest.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The number of `run-3`, `run_3` and `run3`.
fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix("run")?.trim_start_matches(['-', '_']).parse().ok()
}

/// `eval-3` is 3, `eval-login` is `login`, and another name is itself.
pub(super) fn id_from_name(name: &str) -> EvalId {
    let rest = name.strip_prefix("eval-").or_else(|| name.strip_prefix("eval_"));
    let rest = rest.filter(|rest| !rest.is_empty()).unwrap_or(name);
    rest.parse().map_or_else(|_| EvalId::from(rest), EvalId::Number)
}
