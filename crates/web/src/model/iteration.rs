//! One iteration of a workspace: its cases, its benchmark, what people said.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use skillgauge_core::benchmark::{Settings, aggregate};
use skillgauge_core::mixture::Mixture;

use super::case::{Case, configuration_order};
use super::feedback::Feedback;
use super::json::{self, Problem, as_text, load, load_without, text};
use super::listing::folders;
use super::run::Run;
use super::statistics;

/// How many threads read the cases of an iteration.
const READERS: usize = 4;

#[derive(Debug, Clone, Default)]
pub struct Iteration {
    /// The name of its folder; `-` when the workspace itself is the iteration.
    pub key: String,
    pub path: PathBuf,
    /// What `iteration.json` says, or the metadata of the benchmark.
    pub about: About,
    /// The cases in the order of their folders.
    pub cases: Vec<Case>,
    /// The configurations that have runs, with the skill first.
    pub configurations: Vec<String>,
    /// The benchmark as it is in the file.
    pub benchmark: Option<Value>,
    pub feedback: Feedback,
    /// Files that could not be used.
    pub problems: Vec<Problem>,
}

/// How much of an iteration is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'k> {
    All,
    /// One case, by the name of its folder.
    Case(&'k str),
}

#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct About {
    pub skill_name: Option<String>,
    pub skill_path: Option<String>,
    /// The version of the skill.
    pub version: Option<String>,
    /// The agent that did the work.
    pub agent: Option<String>,
    /// The model that did the work.
    pub executor_model: Option<String>,
    pub judge_model: Option<String>,
    pub timestamp: Option<String>,
    /// Why not everything was run.
    pub partial: Option<String>,
}

impl Iteration {
    /// Reads an iteration's folder.
    pub fn read(path: &Path, key: &str) -> Self {
        Self::read_part(path, key, Part::All)
    }

    /// Reads an iteration's folder, or only what one case needs.
    pub fn read_part(path: &Path, key: &str, part: Part<'_>) -> Self {
        let mut iteration = Self { key: key.to_owned(), path: path.to_owned(), ..Self::default() };
        let mut problems = Vec::new();
        let mut read = |name: &str| load(&path.join(name)).or_problem(name, &mut problems);
        let record = read("iteration.json").unwrap_or_default();
        let suite = suite_cases(&read("suite.json").unwrap_or_default());
        iteration.benchmark = load_without(&path.join("benchmark.json"), &["expectations"])
            .or_problem("benchmark.json", &mut problems);
        let metadata = iteration.benchmark.as_ref().and_then(|file| file.get("metadata"));
        iteration.about = About::read(&record, metadata.unwrap_or(&Value::Null));
        iteration.feedback = Feedback::read(&path.join("feedback.json"), &mut problems);
        iteration.problems = problems;
        iteration.cases = read_cases(path, &suite, part);
        let used: BTreeSet<&String> = iteration
            .cases
            .iter()
            .flat_map(|case| &case.runs)
            .map(|run| &run.configuration)
            .collect();
        let mut configurations: Vec<String> = used.into_iter().cloned().collect();
        configurations
            .sort_by(|left, right| configuration_order(left).cmp(&configuration_order(right)));
        iteration.configurations = configurations;
        iteration
    }

    /// Adds intervals and a verdict where the benchmark has none: it is missing, or from another tool. Writes nothing.
    #[must_use]
    pub fn with_statistics(mut self) -> Self {
        let has = |file: &Value| file.get("statistics").is_some();
        if self.cases.is_empty() || self.benchmark.as_ref().is_some_and(has) {
            return self;
        }
        let Ok(aggregate) = aggregate(&self.path, &Settings::default()) else { return self };
        let statistics = serde_json::to_value(&aggregate.summary.statistics).unwrap_or_default();
        let benchmark = self.benchmark.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(fields) = benchmark {
            fields.insert("statistics".to_owned(), statistics);
        }
        self
    }

    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.cases.iter().flat_map(|case| &case.runs)
    }

    /// What the runs that count were made with, told when it was not the same for all of them.
    pub fn mixtures(&self) -> Vec<String> {
        let mut mixture = Mixture::default();
        for run in self.runs().filter(|run| run.pass_rate.is_some()) {
            mixture.add(run.skillgauge_version.as_deref(), run.agent_version.as_deref());
        }
        mixture.warnings()
    }

    /// The case in a folder.
    pub fn case(&self, key: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.key == key)
    }

    pub fn run(&self, folder: &str) -> Option<(&Case, &Run)> {
        self.cases.iter().find_map(|case| {
            case.runs.iter().find(|run| run.folder == folder).map(|run| (case, run))
        })
    }

    /// What all runs of a configuration come to.
    pub fn summary(&self, configuration: &str) -> Summary {
        let runs: Vec<&Run> =
            self.runs().filter(|run| run.configuration == configuration).collect();
        let by_case: Vec<f64> =
            self.cases.iter().filter_map(|case| case.pass_rate(configuration)).collect();
        let of = |value: fn(&Run) -> Option<f64>| {
            statistics::mean(&runs.iter().filter_map(|run| value(run)).collect::<Vec<f64>>())
        };
        let stated = self.benchmark.as_ref().and_then(|file| {
            let statistics = file.get("statistics").and_then(|found| found.get("configurations"));
            let estimate = statistics.and_then(|found| found.get(configuration)?.get("pass_rate"));
            estimate.or_else(|| file.get("run_summary")?.get(configuration)?.get("pass_rate"))
        });
        let costs: Vec<f64> = runs.iter().filter_map(|run| run.cost).collect();
        Summary {
            configuration: configuration.to_owned(),
            runs: runs.len(),
            graded: runs.iter().filter(|run| run.pass_rate.is_some()).count(),
            // Repeated runs of one case are not independent: the interval is one over cases.
            pass_rate: stated
                .and_then(|stated| json::number(stated, "mean"))
                .or_else(|| of(|run| run.pass_rate)),
            interval: stated
                .and_then(|stated| json::interval_of(stated).or_else(|| json::low_high(stated)))
                .or_else(|| statistics::mean_interval(&by_case)),
            rubric: of(|run| run.rubric_normalized),
            seconds: of(|run| run.seconds),
            tokens: of(|run| run.tokens),
            // A sum of what is known would be read as the whole.
            cost: (!runs.is_empty() && costs.len() == runs.len()).then(|| costs.iter().sum()),
            dimensions: dimensions(&runs),
        }
    }
}

/// What the runs of one configuration come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    pub configuration: String,
    pub runs: usize,
    pub graded: usize,
    /// Mean share of the expectations that passed.
    pub pass_rate: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Mean of the rubric, 0 to 1.
    pub rubric: Option<f64>,
    pub seconds: Option<f64>,
    pub tokens: Option<f64>,
    /// Cost of all runs together; absent when that of any run is unknown.
    pub cost: Option<f64>,
    /// Rubric dimension, mean score, lowest and highest.
    pub dimensions: Vec<Dimension>,
}

/// The scores of one dimension of the rubric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dimension {
    pub name: String,
    pub mean: f64,
    pub range: (f64, f64),
}

fn dimensions(runs: &[&Run]) -> Vec<Dimension> {
    let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, score) in runs.iter().flat_map(|run| &run.rubric) {
        scores.entry(name).or_default().push(*score);
    }
    scores
        .into_iter()
        .filter_map(|(name, scores)| {
            let mean = statistics::mean(&scores)?;
            let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
            let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Some(Dimension { name: name.to_owned(), mean, range: (low, high) })
        })
        .collect()
}

impl About {
    fn read(record: &Value, metadata: &Value) -> Self {
        let of = |key: &str| {
            let known = |value: &String| !value.is_empty() && !value.starts_with('<');
            text(record, key).or_else(|| text(metadata, key)).filter(known)
        };
        Self {
            skill_name: of("skill_name"),
            skill_path: of("skill_path"),
            version: of("version").map(|version| super::versions::version_name(&version)),
            agent: of("agent"),
            executor_model: of("executor_model").or_else(|| of("model")),
            judge_model: of("judge_model").or_else(|| of("judge")).or_else(|| of("analyzer_model")),
            timestamp: of("timestamp").or_else(|| of("started")),
            partial: of("partial"),
        }
    }
}

/// The cases of the suite by id.
fn suite_cases(suite: &Value) -> BTreeMap<String, Value> {
    ["evals", "cases"]
        .into_iter()
        .flat_map(|key| json::items(suite, key))
        .filter_map(|case| Some((as_text(case.get("id")?)?, case.clone())))
        .collect()
}

fn read_cases(path: &Path, suite: &BTreeMap<String, Value>, part: Part<'_>) -> Vec<Case> {
    let nested = path.join("runs");
    let mut keys = folders(path);
    if keys.iter().any(|key| key == "runs") {
        keys.extend(folders(&nested).into_iter().map(|key| format!("runs/{key}")));
    }
    let keys: Vec<String> = keys
        .into_iter()
        .filter(|key| !matches!(key.as_str(), "runs" | "trigger" | "grading" | "outputs"))
        // A name from outside is only ever compared with what is there.
        .filter(|key| part == Part::All || part == Part::Case(key))
        .collect();
    // Reading thousands of small files is waiting for the kernel: a few threads halve it.
    let share = keys.len().div_ceil(READERS).max(1);
    std::thread::scope(|scope| {
        let readers: Vec<_> = keys
            .chunks(share)
            .map(|keys| {
                scope.spawn(move || {
                    keys.iter().filter_map(|key| Case::read(path, key, suite)).collect::<Vec<_>>()
                })
            })
            .collect();
        readers.into_iter().flat_map(|reader| reader.join().unwrap_or_default()).collect()
    })
}
