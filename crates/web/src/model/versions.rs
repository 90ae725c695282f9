//! The versions of a skill: the history, their gradings, comparisons and analyses.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use skillgauge_core::improve::{self, Round};
use skillgauge_core::version::{GRADED_CONTENT, GRADED_IN, VersionScores, hash_of_version};
use skillgauge_core::workspace::Workspace;

use super::json::{Problem, as_text, items, load, number, text, truth};
use super::listing::{files, folders};
use super::statistics::{mean, mean_interval};

/// The versions of a skill and what is known of them.
#[derive(Debug, Clone, Default)]
pub struct Versions {
    /// The versions, the oldest first.
    pub versions: Vec<Version>,
    /// The one that is being worked on.
    pub current: Option<String>,
    pub comparisons: Vec<Comparison>,
    pub analyses: Vec<Analysis>,
    /// How the newest improve loop ended, in words.
    pub conclusion: Option<String>,
    /// Files that could not be used.
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, Default)]
pub struct Version {
    /// Its name, such as `v1`.
    pub name: String,
    pub description: String,
    pub timestamp: String,
    pub git_hash: Option<String>,
    /// Its score, and the highest that it can be.
    pub score: Option<f64>,
    /// The highest possible score: 5 for scores, 1 for rates.
    pub scale: f64,
    /// The 95 % interval over cases.
    pub interval: Option<(f64, f64)>,
    /// How many gradings it rests on.
    pub gradings: usize,
    /// What an improve loop changed to make it, a line each.
    pub changes: Vec<String>,
}

/// A blind comparison, unblinded by its key if that is there.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    pub file: String,
    pub prompt: String,
    /// The winner: a version, or a label when there is no key.
    pub winner: String,
    pub reasoning: String,
    /// The names of A and B.
    pub names: (String, String),
    /// Dimension, score of A, score of B.
    pub scores: Vec<(String, Option<f64>, Option<f64>)>,
    /// Whether the comparator preferred a position.
    pub disagreement: Option<bool>,
}

/// What made the winner win, and what to change.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    pub file: String,
    pub winner: String,
    pub loser: String,
    /// What the winner did better.
    pub strengths: Vec<String>,
    /// What the loser got wrong.
    pub weaknesses: Vec<String>,
    /// Area, reason, text before and after.
    pub suggestions: Vec<[String; 4]>,
}

impl Versions {
    /// Reads the history, the gradings, the newest improve loop, and comparisons: in the workspace, one level below, and
    /// where `compare` puts them (`comparison/v0-v1/<case>/`).
    pub fn read(workspace: &Path) -> Self {
        let mut found = Self::default();
        let history = load(&workspace.join("history.json"))
            .or_problem("history.json", &mut found.problems)
            .unwrap_or_default();
        let mut scores = grading_scores(workspace, &mut found.problems);
        found.current = ["current_version", "current_best"]
            .into_iter()
            .find_map(|key| history.get(key).and_then(as_text))
            .map(|name| version_name(&name));
        let listed = ["versions", "iterations"].into_iter().flat_map(|key| items(&history, key));
        for item in listed {
            let Some(name) = item.get("version").and_then(as_text) else { continue };
            let name = version_name(&name);
            found.versions.push(Version::new(item, scores.remove(&name).unwrap_or_default(), name));
        }
        for (name, scores) in scores {
            found.versions.push(Version::new(&Value::Null, scores, name));
        }
        found.read_comparisons(workspace, "");
        for folder in folders(workspace) {
            found.read_comparisons(&workspace.join(&folder), &format!("{folder}/"));
        }
        for pair in folders(&workspace.join("comparison")) {
            let pair = format!("comparison/{pair}");
            found.read_comparisons(&workspace.join(&pair), &format!("{pair}/"));
            for case in folders(&workspace.join(&pair)) {
                let case = format!("{pair}/{case}");
                found.read_comparisons(&workspace.join(&case), &format!("{case}/"));
            }
        }
        found.read_improvement(workspace);
        found.read_runs(workspace);
        found
    }

    /// Adds what the graded runs say of versions that have no gradings of their own.
    fn read_runs(&mut self, workspace: &Path) {
        match skillgauge_core::version::Scores::read(&Workspace::at(workspace))
            .map(|found| found.versions)
        {
            Ok(mut scores) => {
                for version in self.versions.iter_mut().filter(|version| version.gradings == 0) {
                    let number = version.name.parse().ok();
                    if let Some(scores) = number.and_then(|number| scores.remove(&number)) {
                        version.take(&scores);
                    }
                }
            }
            Err(error) => {
                let (file, message) = ("iterations".to_owned(), error.to_string());
                self.problems.push(Problem { file, message });
            }
        }
    }

    /// Adds what an improve loop knows of its versions, where the gradings do not say it.
    fn read_improvement(&mut self, workspace: &Path) {
        let improvement = match improve::load(&Workspace::at(workspace)) {
            Ok(Some(improvement)) => improvement,
            Ok(None) => return,
            Err(error) => {
                let (file, message) = ("improve.json".to_owned(), error.to_string());
                return self.problems.push(Problem { file, message });
            }
        };
        self.conclusion = improvement.conclusion.as_ref().map(improve::sentence);
        for round in improvement.rounds {
            let name = format!("v{}", round.version);
            if let Some(version) = self.versions.iter_mut().find(|version| version.name == name) {
                version.add(round);
            }
        }
    }

    fn read_comparisons(&mut self, folder: &Path, prefix: &str) {
        for name in files(folder) {
            let Some(stem) = name.strip_suffix(".json") else { continue };
            let file = format!("{prefix}{name}");
            if stem.starts_with("comparison") && !stem.contains("key") {
                let Some(value) = load(&folder.join(&name)).or_problem(&file, &mut self.problems)
                else {
                    continue;
                };
                let key = stem.replacen("comparison", "comparison_key", 1);
                let key =
                    load(&folder.join(format!("{key}.json"))).or_problem(&key, &mut self.problems);
                self.comparisons.push(Comparison::parse(file, &value, key.as_ref()));
            } else if stem.starts_with("analysis") {
                let value = load(&folder.join(&name)).or_problem(&file, &mut self.problems);
                self.analyses.extend(value.map(|value| Analysis::parse(file, &value)));
            }
        }
    }
}

/// `1` and `v1` are the same version.
pub(crate) fn version_name(name: &str) -> String {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("v{name}")
    } else {
        name.to_owned()
    }
}

/// The overall scores in `grading/`, by version and case: those that are about the version's content, of each case those
/// of the newest iteration, as the history has it.
fn grading_scores(
    workspace: &Path,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, BTreeMap<String, Vec<f64>>> {
    let mut scores: BTreeMap<String, BTreeMap<String, BTreeMap<u64, Vec<f64>>>> = BTreeMap::new();
    let mut contents: BTreeMap<String, Option<String>> = BTreeMap::new();
    let folder = workspace.join("grading");
    for name in files(&folder).into_iter().filter(|name| name.strip_suffix(".json").is_some()) {
        let file = format!("grading/{name}");
        let Some(value) = load(&folder.join(&name)).or_problem(&file, problems) else { continue };
        let (Some(version), Some(score)) =
            (value.get("version").and_then(as_text), number(&value, "overall_score"))
        else {
            continue;
        };
        let version = version_name(&version);
        let content = contents.entry(version.clone()).or_insert_with(|| {
            // The name comes from a file, and must not lead anywhere else.
            let number: u64 = version.strip_prefix('v')?.parse().ok()?;
            hash_of_version(&workspace.join(format!("v{number}")).join("skill")).ok()
        });
        let graded = text(&value, GRADED_CONTENT);
        if graded.as_ref().zip(content.as_ref()).is_some_and(|(graded, content)| graded != content)
        {
            continue;
        }
        let iteration = value.get(GRADED_IN).and_then(Value::as_u64).unwrap_or_default();
        let case = text(&value, "case_id").unwrap_or_default();
        let found = scores.entry(version).or_default().entry(case).or_default();
        found.entry(iteration).or_default().push(score);
    }
    let newest = |mut found: BTreeMap<u64, Vec<f64>>| found.pop_last().map(|(_, scores)| scores);
    let of_version = |cases: BTreeMap<String, BTreeMap<u64, Vec<f64>>>| {
        cases.into_iter().filter_map(|(case, found)| Some((case, newest(found)?))).collect()
    };
    scores.into_iter().map(|(version, cases)| (version, of_version(cases))).collect()
}

impl Version {
    fn new(item: &Value, scores: BTreeMap<String, Vec<f64>>, name: String) -> Self {
        let gradings = scores.values().map(Vec::len).sum();
        let by_case: Vec<f64> = scores.into_values().filter_map(|scores| mean(&scores)).collect();
        let rate = number(item, "expectation_pass_rate");
        Self {
            name,
            description: text(item, "description")
                .or_else(|| text(item, "grading_result"))
                .unwrap_or_default(),
            timestamp: text(item, "timestamp").unwrap_or_default(),
            git_hash: text(item, "git_hash"),
            score: number(item, "average_score").or(rate).or_else(|| mean(&by_case)),
            scale: if rate.is_some() { 1.0 } else { 5.0 },
            interval: mean_interval(&by_case),
            gradings,
            changes: Vec::new(),
        }
    }

    /// Runs of the `evals` dialect have no gradings of versions: a mean score where they have rubrics, else a pass rate.
    fn take(&mut self, scores: &VersionScores) {
        let (score, scale, interval) = match scores.average() {
            Some(score) => (Some(score), 5.0, scores.average_interval()),
            None => (scores.pass_rate(), 1.0, scores.interval()),
        };
        (self.score, self.scale) = (score, scale);
        self.interval = interval.map(|interval| (interval.low, interval.high));
        self.gradings = usize::try_from(scores.gradings()).unwrap_or(usize::MAX);
    }

    /// What a loop knows of it.
    fn add(&mut self, round: Round) {
        self.changes = round.changes;
        if let (Some(measured), None) = (round.measured, self.score) {
            self.score = Some(measured.pass_rate);
            self.scale = 1.0;
            self.interval = Some((measured.low, measured.high));
            self.gradings = usize::try_from(measured.runs).unwrap_or(usize::MAX);
        }
    }
}

impl Comparison {
    fn parse(file: String, value: &Value, key: Option<&Value>) -> Self {
        let name =
            |label: &str| key.and_then(|key| text(key, label)).unwrap_or_else(|| label.to_owned());
        let winner = text(value, "winner").unwrap_or_default();
        let scores = value.get("scores").and_then(Value::as_object);
        Self {
            file,
            prompt: text(value, "eval_prompt").unwrap_or_default(),
            winner: name(&winner),
            reasoning: text(value, "reasoning").unwrap_or_default(),
            names: (name("A"), name("B")),
            scores: scores
                .into_iter()
                .flatten()
                .map(|(dimension, pair)| (dimension.clone(), number(pair, "A"), number(pair, "B")))
                .collect(),
            disagreement: key.and_then(|key| truth(key, "disagreement")),
        }
    }
}

impl Analysis {
    fn parse(file: String, value: &Value) -> Self {
        let list = |key: &str| items(value, key).iter().filter_map(as_text).collect();
        let suggestions = items(value, "suggestions").iter();
        Self {
            file,
            winner: text(value, "winner_version").unwrap_or_default(),
            loser: text(value, "loser_version").unwrap_or_default(),
            strengths: list("strengths"),
            weaknesses: list("weaknesses"),
            suggestions: suggestions
                .map(|item| {
                    ["area", "reasoning", "before", "after"]
                        .map(|key| text(item, key).unwrap_or_default())
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_have_scores_of_their_gradings_and_comparisons_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, value: Value| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, value.to_string()).unwrap();
        };
        write(
            "history.json",
            json!({"versions": [{"version": 0, "description": "baseline",
            "average_score": null}, {"version": 1, "average_score": 4.5}], "current_version": 1}),
        );
        for (case, score) in [("a", 3.0), ("b", 4.0)] {
            let grading = json!({"case_id": case, "version": 0, "run": 1, "overall_score": score});
            write(&format!("grading/{case}_v0_run1.json"), grading);
        }
        write(
            "v1/comparison.json",
            json!({"winner": "B", "scores": {"content_value": {"A": 3, "B": 8}}}),
        );
        write("v1/comparison_key.json", json!({"A": "v0", "B": "v1", "disagreement": true}));
        write("analysis.json", json!({"winner_version": "v1", "suggestions": [{"area": "x"}, 3]}));
        let found = Versions::read(folder.path());
        assert_eq!(found.current.as_deref(), Some("v1"));
        assert_eq!(found.versions[0].score, Some(3.5));
        assert_eq!(found.versions[0].gradings, 2);
        assert!(found.versions[0].interval.is_some());
        assert_eq!(found.versions[1].score, Some(4.5));
        assert_eq!(found.comparisons[0].winner, "v1");
        assert_eq!(found.comparisons[0].disagreement, Some(true));
        assert_eq!(found.analyses[0].suggestions.len(), 2);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }

    #[test]
    fn versions_of_the_evals_dialect_have_the_pass_rates_of_their_runs() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, value: &Value| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, value.to_string()).unwrap();
        };
        let versions = json!({"versions": [{"version": 0}, {"version": 1}], "current_version": 1});
        write("history.json", &versions);
        let text = include_str!("../../../format/testdata/skillgauge/iteration.json");
        let mut record: Value = serde_json::from_str(text).unwrap();
        record["version"] = 1.into();
        write("iteration-1/iteration.json", &record);
        let text = include_str!("../../../format/testdata/skillgauge/run.json");
        let mut run: Value = serde_json::from_str(text).unwrap();
        (run["outcome"], run["reason"]) = ("completed".into(), "completed".into());
        for (case, passed) in [("a", true), ("b", false)] {
            let run_folder = format!("iteration-1/eval-{case}/with_skill/run-1");
            write(&format!("{run_folder}/run.json"), &run);
            let grading = json!({"expectations": [{"text": "t", "passed": passed}]});
            write(&format!("{run_folder}/grading.json"), &grading);
        }
        let found = Versions::read(folder.path());
        assert_eq!((found.versions[0].score, found.versions[0].gradings), (None, 0));
        let version = &found.versions[1];
        assert_eq!((version.score, version.scale, version.gradings), (Some(0.5), 1.0, 2));
        assert!(version.interval.is_some_and(|(low, high)| low < 0.2 && high > 0.8));
    }
}
