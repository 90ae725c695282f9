//! Finds the runs of an iteration, in our layout and in those of the public skill-creator.
//!
//! ```text
//! <iteration>/[runs/]eval-<id>[-<name>]|<any name>/<configuration>/[run-<k>/]grading.json
//! <iteration>/<configuration>/[run-<k>/]grading.json                                      a single case
//! ```
//!
//! The invariant: a folder that might hold runs and gives none is named in the problems. Links are never followed: they
//! lead out of the iteration, or count runs twice.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use skillgauge_format::part::{Configuration, EvalId};
use skillgauge_format::record::IterationRecord;

use super::{Problem, role};

/// Nobody runs a case more often than this; a record that says so is broken.
const MOST_RUNS: u64 = 100_000;

/// The key of a case whose folder is the iteration itself.
const WHOLE: &str = "-";

/// Folders of an iteration that are known to hold no case.
const OTHERS: [&str; 3] = ["grading", "outputs", "trigger"];

/// A folder that may hold the runs of a case.
#[derive(Clone, Debug)]
pub struct CaseFolder {
    /// Below the iteration, with `/`; `-` when the iteration itself is the case.
    pub key: String,
    pub path: PathBuf,
    /// What its name says; `eval_metadata.json` may say something else.
    pub id: EvalId,
    /// The words behind the number in `eval-1-some-words`.
    pub name: Option<String>,
    /// Whether it was planned; then the runs that are not there are known.
    is_planned: bool,
}

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    /// Below the iteration, with `/`.
    pub folder: String,
    pub path: PathBuf,
    pub configuration: Configuration,
    pub number: u64,
    /// False when the run was planned and is not there.
    pub exists: bool,
}

/// A run that is there, and the iteration that it belongs to.
#[derive(Clone, Debug)]
pub struct StoredRun {
    pub iteration: PathBuf,
    pub case: EvalId,
    pub run: RunFolder,
}

/// The runs that a path means: a run, or all of a configuration, a case, an iteration or a workspace.
pub fn stored_runs(path: &Path) -> io::Result<Vec<StoredRun>> {
    // The real path has the names of all folders above it, also for `.`.
    let path = fs_err::canonicalize(path)?;
    let folders = list(&path)?.into_iter().filter(|entry| entry.is_folder);
    let iterations = folders.filter(|entry| iteration_number(&entry.name).is_some());
    let iterations: Vec<PathBuf> = iterations.map(|entry| path.join(entry.name)).collect();
    if !iterations.is_empty() {
        let runs: io::Result<Vec<Vec<StoredRun>>> =
            iterations.iter().map(|iteration| runs_of(iteration, &path)).collect();
        return Ok(runs?.concat());
    }
    if let Some(iteration) = iteration_above(&path) {
        return runs_of(&iteration, &path);
    }
    // Nothing tells what the folders are: the first that reads as an iteration is one.
    for folder in path.ancestors().take(DEPTH) {
        let runs = runs_of(folder, &path)?;
        if !runs.is_empty() {
            return Ok(runs);
        }
    }
    Ok(Vec::new())
}

/// An iteration, `runs/`, a case, a configuration, a run.
const DEPTH: usize = 5;

/// The iteration that a folder is or lies in, as far as names and files tell.
fn iteration_above(path: &Path) -> Option<PathBuf> {
    let name = |folder: &Path| folder.file_name()?.to_str().map(str::to_owned);
    let is_iteration = |folder: &&Path| {
        name(folder).is_some_and(|name| iteration_number(&name).is_some())
            || ["iteration.json", "suite.json", "benchmark.json"]
                .into_iter()
                .any(|file| folder.join(file).is_file())
    };
    let is_case = |folder: &&Path| {
        name(folder).is_some_and(|name| name.starts_with("eval-") || name.starts_with("eval_"))
    };
    let above = || path.ancestors().take(DEPTH);
    let known = above().find(is_iteration);
    let parent = || above().find(is_case).and_then(Path::parent);
    let found = known.or_else(parent)?;
    let is_inner = name(found).is_some_and(|name| name == "runs");
    Some(if is_inner { found.parent().unwrap_or(found) } else { found }.to_owned())
}

fn runs_of(iteration: &Path, below: &Path) -> io::Result<Vec<StoredRun>> {
    let record = crate::workspace::Iteration::at(iteration).record().ok();
    let mut found = Vec::new();
    for case in cases(iteration, record.as_ref())? {
        let (runs, _) = case.runs(record.as_ref());
        let here = runs.into_iter().filter(|run| run.exists && run.path.starts_with(below));
        found.extend(here.map(|run| {
            let (iteration, case) = (iteration.to_owned(), case.id.clone());
            StoredRun { iteration, case, run }
        }));
    }
    Ok(found)
}

fn iteration_number(name: &str) -> Option<u64> {
    name.strip_prefix("iteration-")?.parse().ok()
}

/// The iteration that a path means: itself, or the newest iteration of a workspace.
pub fn find_iteration(path: &Path) -> io::Result<PathBuf> {
    let folders = list(path)?.into_iter().filter(|entry| entry.is_folder);
    let numbered = folders.filter_map(|entry| Some((iteration_number(&entry.name)?, entry)));
    let newest = numbered.max_by_key(|(number, _)| *number);
    Ok(newest.map_or_else(|| path.to_owned(), |(_, entry)| path.join(entry.name)))
}

/// The folders of cases in the order of their ids, those that were planned and are not there included.
pub fn cases(iteration: &Path, record: Option<&IterationRecord>) -> io::Result<Vec<CaseFolder>> {
    let planned: BTreeSet<&str> =
        record.into_iter().flat_map(|record| &record.case_ids).map(String::as_str).collect();
    let mut folders = list(iteration)?;
    let mut prefix = "";
    if folders.iter().any(|entry| entry.is_folder && entry.name == "runs") {
        prefix = "runs/";
        folders = list(&iteration.join("runs"))?;
    }
    folders.retain(|entry| entry.is_folder && !entry.name.starts_with('.'));
    if folders.iter().any(|entry| role::is_known(&entry.name)) {
        let name = iteration.file_name().map(|name| name.to_string_lossy().into_owned());
        let (id, _) = id_from_name(&name.unwrap_or_default(), &planned);
        let (key, path) = (WHOLE.to_owned(), iteration.to_owned());
        return Ok(vec![CaseFolder { key, path, id, name: None, is_planned: false }]);
    }
    folders.retain(|entry| !OTHERS.contains(&entry.name.as_str()));
    let here: BTreeSet<String> = folders.into_iter().map(|entry| entry.name).collect();
    let absent = planned.iter().map(|id| format!("eval-{id}")).filter(|name| !here.contains(name));
    let mut cases: Vec<CaseFolder> = here
        .iter()
        .cloned()
        .chain(absent)
        .map(|folder| {
            let (id, name) = id_from_name(&folder, &planned);
            let is_planned = folder.strip_prefix("eval-").is_some_and(|id| planned.contains(id));
            let key = format!("{prefix}{folder}");
            CaseFolder { path: iteration.join(&key), key, id, name, is_planned }
        })
        .collect();
    cases.sort_by(|a, b| (&a.id, &a.key).cmp(&(&b.id, &b.key)));
    Ok(cases)
}

/// `eval-3` is 3, `eval-3-login-flow` is 3 with a name unless somebody planned it as it stands, `eval-login` is `login`,
/// and another name is itself.
fn id_from_name(folder: &str, planned: &BTreeSet<&str>) -> (EvalId, Option<String>) {
    let rest = folder.strip_prefix("eval-").or_else(|| folder.strip_prefix("eval_"));
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        return (EvalId::from(folder), None);
    };
    if let Ok(number) = rest.parse() {
        return (EvalId::Number(number), None);
    }
    let numbered = rest.split_once(['-', '_']).filter(|_| !planned.contains(rest));
    match numbered.and_then(|(number, name)| Some((number.parse().ok()?, name))) {
        Some((number, name)) if !name.is_empty() => {
            (EvalId::Number(number), Some(name.replace(['-', '_'], " ")))
        }
        _ => (EvalId::from(rest), None),
    }
}

impl CaseFolder {
    fn inside(&self, name: &str) -> String {
        if self.key == WHOLE { name.to_owned() } else { format!("{}/{name}", self.key) }
    }

    /// The runs by configuration and number, those that were planned and are not there included, and what was not understood.
    pub fn runs(&self, record: Option<&IterationRecord>) -> (Vec<RunFolder>, Vec<Problem>) {
        let (mut runs, mut problems) = (Vec::new(), Vec::new());
        match list(&self.path) {
            Ok(children) => {
                let shown = |child: &&Entry| child.is_folder && !child.name.starts_with('.');
                for child in children.iter().filter(shown) {
                    self.read_configuration(&child.name, &mut runs, &mut problems);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.is_planned => {}
            Err(error) => {
                problems.push(Problem::new(&*self.key, format!("cannot be listed: {error}")));
            }
        }
        if let Some(record) = record.filter(|_| self.is_planned) {
            self.add_planned(record, &mut runs, &mut problems);
        }
        if runs.is_empty() && problems.is_empty() {
            problems.push(Problem::new(&*self.key, "holds no runs and is left out"));
        }
        runs.sort_by(|a, b| {
            let order = role::order(&a.configuration).cmp(&role::order(&b.configuration));
            order.then_with(|| a.number.cmp(&b.number))
        });
        (runs, problems)
    }

    fn read_configuration(
        &self,
        name: &str,
        runs: &mut Vec<RunFolder>,
        problems: &mut Vec<Problem>,
    ) {
        let (place, path) = (self.inside(name), self.path.join(name));
        let inside = match list(&path) {
            Ok(inside) => inside,
            Err(error) => {
                return problems.push(Problem::new(place, format!("cannot be listed: {error}")));
            }
        };
        let configuration = Configuration::from(name);
        let run = |folder: String, path: PathBuf, number: u64| RunFolder {
            folder,
            path,
            configuration: configuration.clone(),
            number,
            exists: true,
        };
        let found: Vec<&str> = inside
            .iter()
            .filter(|entry| entry.is_folder && is_run(&entry.name))
            .map(|entry| entry.name.as_str())
            .collect();
        if found.is_empty() {
            // The agentskills.io layout has one run for each configuration and no folder for it.
            let has = |name: &str| inside.iter().any(|entry| entry.name == name);
            let is_configuration = role::is_known(name);
            if has("grading.json") || (is_configuration && has("outputs")) {
                runs.push(run(place, path, 1));
            } else if is_configuration {
                problems.push(Problem::new(place, "holds no runs"));
            }
            return;
        }
        // All that have a number of their own get it before the others.
        let mut taken = BTreeSet::new();
        let own = |name: &&str| number_of(name).filter(|number| taken.insert(*number));
        let numbers: Vec<Option<u64>> = found.iter().map(own).collect();
        let mut free = 1;
        for (name, number) in found.into_iter().zip(numbers) {
            let number = number.unwrap_or_else(|| {
                while !taken.insert(free) {
                    free += 1;
                }
                problems.push(Problem::new(
                    format!("{place}/{name}"),
                    format!("has no number of its own and is counted as run {free}"),
                ));
                free
            });
            runs.push(run(format!("{place}/{name}"), path.join(name), number));
        }
    }

    fn add_planned(
        &self,
        record: &IterationRecord,
        runs: &mut Vec<RunFolder>,
        problems: &mut Vec<Problem>,
    ) {
        let planned = record.runs_per_configuration;
        if planned > MOST_RUNS {
            return problems.push(Problem::new(
                "iteration.json",
                format!(
                    "{} was to be run {planned} times, and nobody does that; only what is there is counted",
                    self.key
                ),
            ));
        }
        for configuration in &record.configurations {
            let here = runs.iter().filter(|run| run.configuration == *configuration);
            let here: BTreeSet<u64> = here.map(|run| run.number).collect();
            runs.extend((1..=planned).filter(|number| !here.contains(number)).map(|number| {
                let place = format!("{configuration}/run-{number}");
                RunFolder {
                    folder: self.inside(&place),
                    path: self.path.join(place),
                    configuration: configuration.clone(),
                    number,
                    exists: false,
                }
            }));
        }
    }
}

struct Entry {
    name: String,
    is_folder: bool,
}

/// The entries of a folder in a stable order, numbered names before others. A name that is no text is no name of ours.
fn list(path: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs_err::read_dir(path)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            entries.push(Entry { name, is_folder: entry.file_type()?.is_dir() });
        }
    }
    entries.sort_by_cached_key(|entry| {
        let number = number_of(&entry.name);
        (number.is_none(), number, entry.name.clone())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_folder_tells_the_case() {
        let planned = BTreeSet::from(["2-fast"]);
        for (folder, id, name) in [
            ("eval-3", EvalId::Number(3), None),
            ("eval-3-login-flow", EvalId::Number(3), Some("login flow")),
            ("eval_3_login", EvalId::Number(3), Some("login")),
            ("eval-2-fast", EvalId::from("2-fast"), None),
            ("eval-login-3", EvalId::from("login-3"), None),
            ("login", EvalId::from("login"), None),
        ] {
            assert_eq!(id_from_name(folder, &planned), (id, name.map(str::to_owned)), "{folder}");
        }
    }
}
