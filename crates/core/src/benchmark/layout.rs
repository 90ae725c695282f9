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
use super::{BenchmarkError, role};
use crate::skill::FileKind;

/// Nobody runs a case more often than this; a record that says so is broken.
const MOST_RUNS: u64 = 100_000;

/// Where the runs of a case may be.
#[derive(Debug)]
pub(super) struct CasePlace {
    /// Its folder; absent when the case was planned and is not there.
    path: Option<PathBuf>,
    /// The name of the folder.
    folder: String,
    /// What that name says; `eval_metadata.json` may say something else.
    pub(super) id: EvalId,
}

/// The runs of one case.
#[derive(Debug)]
pub(super) struct CaseFolder {
    pub(super) id: EvalId,
    pub(super) name: Option<String>,
    /// Whether `eval_metadata.json` says that a rubric is scored.
    pub(super) has_rubric: bool,
    pub(super) runs: Vec<RunFolder>,
    /// The name of its folder.
    pub(super) folder: String,
    /// What was not understood.
    pub(super) problems: Vec<String>,
}

#[derive(Debug)]
pub(super) struct RunFolder {
    /// Its folder; absent when the run was planned and is not there.
    pub(super) path: Option<PathBuf>,
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
    let entries = list(path, &mut Reader::default());
    let entries = entries.map_err(|source| BenchmarkError::Unreadable { source })?;
    let newest = entries
        .into_iter()
        .filter(|entry| entry.is_folder)
        .filter_map(|entry| {
            Some((entry.name().strip_prefix("iteration-")?.parse::<u64>().ok()?, entry))
        })
        .max_by_key(|(number, _)| *number);
    Ok(newest.map_or_else(|| path.to_owned(), |(_, entry)| path.join(entry.file_name)))
}

/// The folders that may hold cases, in the order of the ids in their names.
pub(super) fn places(folder: &Path) -> Result<Vec<CasePlace>, BenchmarkError> {
    let unreadable = |source| BenchmarkError::Unreadable { source };
    let mut reader = Reader::default();
    let mut entries = list(folder, &mut reader).map_err(unreadable)?;
    let mut around = Cow::Borrowed(folder);
    if entries.iter().any(|entry| entry.is_folder && entry.file_name == "runs") {
        around = Cow::Owned(folder.join("runs"));
        entries = list(&around, &mut reader).map_err(unreadable)?;
    }
    entries.retain(|entry| entry.is_folder && !entry.name().starts_with('.'));
    if entries.iter().any(|entry| role::is_known(&entry.name())) {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        return Ok(vec![CasePlace::new(Some(folder.to_owned()), name.unwrap_or_default())]);
    }
    let place = |entry: &Entry| {
        CasePlace::new(Some(around.join(&entry.file_name)), entry.name().into_owned())
    };
    let mut places: Vec<CasePlace> = entries.iter().map(place).collect();
    sort(&mut places);
    Ok(places)
}

/// Adds the cases that were planned and have no folder.
pub(super) fn add_planned<'c>(places: &mut Vec<CasePlace>, cases: impl Iterator<Item = &'c str>) {
    let known: BTreeSet<&str> = places.iter().map(|place| place.folder.as_str()).collect();
    let folders = cases.map(|case| format!("eval-{case}"));
    let missing: Vec<String> = folders.filter(|folder| !known.contains(folder.as_str())).collect();
    places.extend(missing.into_iter().map(|folder| CasePlace::new(None, folder)));
    sort(places);
}

fn sort(places: &mut [CasePlace]) {
    places.sort_by(|a, b| (&a.id, &a.folder).cmp(&(&b.id, &b.folder)));
}

impl CasePlace {
    fn new(path: Option<PathBuf>, folder: String) -> Self {
        Self { path, id: id_from_name(&folder), folder }
    }

    /// Finds the runs of the case.
    pub(super) fn read(&self, reader: &mut Reader) -> CaseFolder {
        let mut case = CaseFolder::new(self.id.clone(), None);
        case.folder.clone_from(&self.folder);
        let Some(path) = &self.path else { return case };
        let children = match list(path, reader) {
            Ok(children) => children,
            Err(error) => {
                case.problems.push(format!("{} cannot be listed: {error}", case.folder));
                return case;
            }
        };
        case.read_metadata(path, reader);
        let is_shown = |child: &&Entry| child.is_folder && !child.name().starts_with('.');
        for child in children.iter().filter(is_shown) {
            case.read_configuration(path, child, reader);
        }
        case.sort();
        case
    }
}

impl CaseFolder {
    pub(super) fn new(id: EvalId, name: Option<String>) -> Self {
        let (runs, folder, problems) = (Vec::new(), String::new(), Vec::new());
        Self { id, name, has_rubric: false, runs, folder, problems }
    }

    /// Adds the runs that were planned and are not there.
    pub(super) fn add_planned(&mut self, configurations: &[Configuration], runs: u64) {
        if runs > MOST_RUNS {
            return self.problems.push(format!(
                "iteration.json says that {} was to be run {runs} times, and nobody does that; only what is there is counted",
                self.folder
            ));
        }
        for configuration in configurations {
            let here = self.runs.iter().filter(|run| run.configuration == *configuration);
            let here: BTreeSet<u64> = here.map(|run| run.number).collect();
            let missing: Vec<u64> = (1..=runs).filter(|number| !here.contains(number)).collect();
            self.runs.extend(missing.into_iter().map(|number| RunFolder {
                path: None,
                configuration: configuration.clone(),
                number,
            }));
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.runs.sort_by(|a, b| {
            let order = role::order(&a.configuration).cmp(&role::order(&b.configuration));
            order.then_with(|| a.number.cmp(&b.number))
        });
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

    fn read_configuration(&mut self, path: &Path, child: &Entry, reader: &mut Reader) {
        let name = child.name();
        let place = format!("{}/{name}", self.folder);
        let path = path.join(&child.file_name);
        let inside = match list(&path, reader) {
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
                self.runs.push(RunFolder { path: Some(path), configuration, number: 1 });
            } else if is_configuration {
                self.problems.push(format!("{place} holds no runs"));
            }
            return;
        }
        // All that have a number of their own get it before the others: runs are paired by it.
        let mut taken = BTreeSet::new();
        let own = |run: &&Entry| number_of(&run.name()).filter(|number| taken.insert(*number));
        let numbers: Vec<Option<u64>> = runs.iter().map(own).collect();
        let mut free = 1;
        for (run, number) in runs.into_iter().zip(numbers) {
            let number = number.unwrap_or_else(|| {
                while !taken.insert(free) {
                    free += 1;
                }
                self.problems.push(format!(
                    "{place}/{} has no number of its own and is counted as run {free}",
                    run.name()
                ));
                free
            });
            let (path, configuration) = (Some(path.join(&run.file_name)), configuration.clone());
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
fn list(path: &Path, reader: &mut Reader) -> std::io::Result<Vec<Entry>> {
    let listed = reader.list(path)?;
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
fn id_from_name(name: &str) -> EvalId {
    let rest = name.strip_prefix("eval-").or_else(|| name.strip_prefix("eval_"));
    let rest = rest.filter(|rest| !rest.is_empty()).unwrap_or(name);
    rest.parse().map_or_else(|_| EvalId::from(rest), EvalId::Number)
}
