//! Finds the runs of an iteration, in our layout and in those of the public skill-creator.
//!
//! ```text
//! <iteration>/[runs/]eval-<id>|<any name>/<configuration>/[run-<k>/]grading.json
//! <iteration>/<configuration>/[run-<k>/]grading.json                                 a single case
//! ```
//!
//! The invariant: a folder that might hold runs and gives none is named in the problems.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use skillgauge_format::json;
use skillgauge_format::part::{Configuration, EvalId};

use super::file::{self, Found};
use super::{BenchmarkError, parallel, role};

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
    name: String,
    path: PathBuf,
    is_folder: bool,
}

/// The iteration that a path means: itself, or the newest iteration of a workspace.
pub fn find_iteration(path: &Path) -> Result<PathBuf, BenchmarkError> {
    let entries = list(path).map_err(|source| BenchmarkError::Unreadable { source })?;
    let newest = entries
        .into_iter()
        .filter(|entry| entry.is_folder)
        .filter_map(|entry| {
            Some((entry.name.strip_prefix("iteration-")?.parse::<u64>().ok()?, entry))
        })
        .max_by_key(|(number, _)| *number);
    Ok(newest.map_or_else(|| path.to_owned(), |(_, entry)| entry.path))
}

/// Finds all runs.
pub(super) fn read(folder: &Path, threads: usize) -> Result<Layout, BenchmarkError> {
    let unreadable = |source| BenchmarkError::Unreadable { source };
    let mut entries = list(folder).map_err(unreadable)?;
    if let Some(runs) = entries.iter().find(|entry| entry.is_folder && entry.name == "runs") {
        entries = list(&runs.path).map_err(unreadable)?;
    }
    entries.retain(|entry| entry.is_folder && !entry.name.starts_with('.'));
    let mut cases = if entries.iter().any(|entry| role::is_known(&entry.name)) {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let entry =
            Entry { name: name.unwrap_or_default(), path: folder.to_owned(), is_folder: true };
        vec![case(&entry)]
    } else {
        parallel::map(&entries, threads, case)
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

fn case(entry: &Entry) -> CaseFolder {
    let mut case = CaseFolder {
        id: id_from_name(&entry.name),
        name: None,
        has_rubric: false,
        runs: Vec::new(),
        folder: entry.name.clone(),
        problems: Vec::new(),
    };
    let children = match list(&entry.path) {
        Ok(children) => children,
        Err(error) => {
            case.problems.push(format!("{} cannot be listed: {error}", entry.name));
            return case;
        }
    };
    case.read_metadata(&entry.path);
    for child in children.iter().filter(|child| child.is_folder && !child.name.starts_with('.')) {
        case.read_configuration(child);
    }
    if case.runs.is_empty() {
        case.problems.push(format!("{} holds no runs and is left out", entry.name));
    }
    case.runs.sort_by(|a, b| {
        (role::order(&a.configuration), a.number).cmp(&(role::order(&b.configuration), b.number))
    });
    case
}

impl CaseFolder {
    fn read_metadata(&mut self, path: &Path) {
        match file::read(&path.join("eval_metadata.json")) {
            Found::Missing => {}
            Found::Unusable(reason) => self.metadata_problem(&reason),
            Found::Bytes(bytes) => match json::parse(&bytes) {
                Err(error) => self.metadata_problem(&error.to_string()),
                Ok(document) => {
                    let root = &document.root;
                    if let Some(id) = root.get("eval_id").and_then(|id| id.deserialize().ok()) {
                        self.id = id;
                    }
                    self.name = file::words(root, "eval_name").map(str::to_owned);
                    self.has_rubric = root
                        .get("quality_rubric")
                        .is_some_and(|rubric| !rubric.members().is_empty());
                }
            },
        }
    }

    fn metadata_problem(&mut self, reason: &str) {
        self.problems.push(format!("{}/eval_metadata.json: {reason}", self.folder));
    }

    fn read_configuration(&mut self, child: &Entry) {
        let place = format!("{}/{}", self.folder, child.name);
        let inside = match list(&child.path) {
            Ok(inside) => inside,
            Err(error) => return self.problems.push(format!("{place} cannot be listed: {error}")),
        };
        let configuration = Configuration::from(child.name.as_str());
        let runs: Vec<&Entry> =
            inside.iter().filter(|entry| entry.is_folder && is_run(&entry.name)).collect();
        if runs.is_empty() {
            // The agentskills.io layout has one run for each configuration and no folder for it.
            let is_run = inside.iter().any(|entry| entry.name == "grading.json");
            let is_configuration = role::is_known(&child.name);
            if is_run || (is_configuration && inside.iter().any(|entry| entry.name == "outputs")) {
                let path = child.path.clone();
                self.runs.push(RunFolder { path, configuration, number: 1 });
            } else if is_configuration {
                self.problems.push(format!("{place} holds no runs"));
            }
            return;
        }
        let mut taken = BTreeSet::new();
        for run in runs {
            let number = number_of(&run.name).filter(|number| !taken.contains(number));
            let number = number.unwrap_or_else(|| {
                let free = (1..u64::MAX).find(|number| !taken.contains(number)).unwrap_or(u64::MAX);
                self.problems.push(format!(
                    "{place}/{} has no number of its own and is counted as run {free}",
                    run.name
                ));
                free
            });
            taken.insert(number);
            let (path, configuration) = (run.path.clone(), configuration.clone());
            self.runs.push(RunFolder { path, configuration, number });
        }
    }
}

/// The entries of a folder in a stable order, numbered names before others.
fn list(path: &Path) -> std::io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs_err::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link is not followed: it leads out of the iteration, or counts runs twice.
        let is_folder = entry.file_type()?.is_dir();
        entries.push(Entry { name, path: entry.path(), is_folder });
    }
    let key = |entry: &Entry| (number_of(&entry.name).is_none(), number_of(&entry.name));
    entries.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name)));
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
