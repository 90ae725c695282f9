//! Trigger reports, routing reports and tuning loops of a workspace, by the shape of the files.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use skillgauge_format::trigger::RouteReport;

use super::json::{Problem, count, interval_of, items, load, number, text, truth};
use super::listing::{files, folders};
use super::statistics::wilson;

/// How many files of reports are read.
const MAX_FILES: usize = 200;

#[derive(Debug, Clone, Default)]
pub struct Triggering {
    pub reports: Vec<TriggerReport>,
    pub routes: Vec<Route>,
    pub loops: Vec<TuningLoop>,
    /// Files that could not be used.
    pub problems: Vec<Problem>,
}

/// How often a skill triggered for each query.
#[derive(Debug, Clone, Default)]
pub struct TriggerReport {
    /// The file, relative to the workspace.
    pub file: String,
    pub skill_name: String,
    /// The description that was measured.
    pub description: String,
    /// The threshold of the rate.
    pub threshold: f64,
    /// How the rates were found: through an agent, by a request; absent when the report does not say.
    pub via: Option<String>,
    /// What the reader should know before believing the rates.
    pub warnings: Vec<String>,
    pub queries: Vec<Query>,
}

#[derive(Debug, Clone, Default)]
pub struct Query {
    pub query: String,
    /// Whether the skill should trigger.
    pub should_trigger: bool,
    /// Runs in which it did, runs in all, and runs that ended with an error.
    pub counts: (u64, u64, u64),
    /// The rate, and its interval over the runs that completed.
    pub rate: Option<f64>,
    /// The 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Whether it is on the right side.
    pub pass: bool,
}

/// Which skill was picked for queries that belong to a skill.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// The file, relative to the workspace.
    pub file: String,
    /// The names of rows and columns.
    pub labels: Vec<String>,
    /// Completed runs by the skill that wants the query (row) and the one that took it (column).
    pub counts: Vec<Vec<u64>>,
    /// Whether the words were compared and nothing was measured.
    pub is_estimate: bool,
    /// What the reader should know before believing the numbers.
    pub warnings: Vec<String>,
    /// The whole report, if it is one of ours.
    pub report: Option<Box<RouteReport>>,
}

/// The rounds of a loop that improves a description.
#[derive(Debug, Clone, Default)]
pub struct TuningLoop {
    /// The file, relative to the workspace.
    pub file: String,
    pub original: String,
    /// The description that the loop stands by.
    pub best: String,
    pub rounds: Vec<Round>,
    /// Signs that the numbers should not be trusted.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Round {
    pub round: u64,
    /// The description that was evaluated.
    pub description: String,
    /// Share of the training queries that passed, and how many there are.
    pub train: (Option<f64>, u64),
    /// Share of the held-out queries that passed, and how many there are.
    pub test: (Option<f64>, u64),
}

impl Triggering {
    /// Looks through the workspace, one level deep.
    pub fn read(workspace: &Path) -> Self {
        let mut found = Self::default();
        let mut paths: Vec<String> = files(workspace);
        for folder in folders(workspace) {
            let wanted = ["trigger", "route", "routing", "tune", "tuning", "loop"];
            if wanted.iter().any(|name| folder.starts_with(name)) {
                paths.extend(
                    files(&workspace.join(&folder)).iter().map(|name| format!("{folder}/{name}")),
                );
            }
        }
        paths.retain(|path| path.strip_suffix(".json").is_some());
        paths.truncate(MAX_FILES);
        for file in paths {
            let Some(value) = load(&workspace.join(&file)).or_problem(&file, &mut found.problems)
            else {
                continue;
            };
            if let Some(tuning) = TuningLoop::parse(&file, &value) {
                found.loops.push(tuning);
            } else if let Some(route) = Route::parse(&file, &value) {
                found.routes.push(route);
            } else if let Some(report) = TriggerReport::parse(&file, &value) {
                found.reports.push(report);
            }
        }
        found
    }
}

impl TriggerReport {
    fn parse(file: &str, value: &Value) -> Option<Self> {
        let queries: Vec<Query> = items(value, "results").iter().filter_map(Query::parse).collect();
        // An estimate from words is no measurement, and must not look like one.
        if queries.is_empty() || text(value, "format").as_deref() == Some("trigger-estimate") {
            return None;
        }
        let measurement = value.get("measurement").unwrap_or(&Value::Null);
        let how = ["via", "agent", "model"].map(|key| text(measurement, key));
        let how: Vec<String> = how.into_iter().flatten().collect();
        let summary = value.get("summary").unwrap_or(&Value::Null);
        Some(Self {
            file: file.to_owned(),
            skill_name: text(value, "skill_name").unwrap_or_default(),
            description: text(value, "description").unwrap_or_default(),
            threshold: number(summary, "threshold").unwrap_or(0.5),
            via: (!how.is_empty()).then(|| how.join(", ")),
            warnings: texts(value, "warnings"),
            queries,
        })
    }
}

impl Query {
    fn parse(value: &Value) -> Option<Self> {
        let should_trigger = truth(value, "should_trigger")?;
        let runs = count(value, "runs").unwrap_or_default();
        let triggers = count(value, "triggers").unwrap_or_default();
        let errors = count(value, "errors").unwrap_or_default();
        let completed = runs.saturating_sub(errors);
        Some(Self {
            query: text(value, "query")?,
            should_trigger,
            counts: (triggers, runs, errors),
            rate: if completed == 0 { None } else { number(value, "trigger_rate") },
            interval: interval_of(value).or_else(|| wilson(triggers, completed)),
            pass: truth(value, "pass")?,
        })
    }
}

impl Route {
    fn parse(file: &str, value: &Value) -> Option<Self> {
        let confusion = ["confusion", "confusion_matrix", "matrix"]
            .into_iter()
            .find_map(|key| value.get(key))?;
        let report = serde_json::from_value(value.clone()).ok().map(Box::new);
        // Ours has its labels beside its rows.
        let (labelled, confusion) = match confusion.get("rows") {
            Some(rows) => (confusion, rows),
            None => (value, confusion),
        };
        let mut table: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        let rows = confusion.as_array().or_else(|| confusion.get("rows")?.as_array());
        let mut order = label_names(confusion);
        if order.is_empty() {
            order = label_names(labelled);
        }
        if let (Some(rows), labels) = (rows, &order) {
            for (row, label) in rows.iter().zip(labels) {
                let counts = row.as_array()?.iter().map(|cell| cell.as_u64().unwrap_or_default());
                table.insert(label.clone(), labels.iter().cloned().zip(counts).collect());
            }
        } else {
            for (row, cells) in confusion.as_object()? {
                let cells = cells.as_object()?.iter();
                let cells =
                    cells.map(|(name, cell)| (name.clone(), cell.as_u64().unwrap_or_default()));
                table.insert(row.clone(), cells.collect());
            }
        }
        // The report's own order, in which `none` comes last.
        let mut labels: Vec<String> =
            order.into_iter().filter(|name| table.contains_key(name)).collect();
        for name in table.keys().chain(table.values().flat_map(BTreeMap::keys)) {
            if !labels.contains(name) {
                labels.push(name.clone());
            }
        }
        let cell = |row: &String, column: &String| {
            table.get(row).and_then(|row| row.get(column)).copied().unwrap_or_default()
        };
        let counts = labels
            .iter()
            .map(|row| labels.iter().map(|column| cell(row, column)).collect())
            .collect();
        (!labels.is_empty()).then(|| Self {
            file: file.to_owned(),
            labels,
            counts,
            is_estimate: text(value, "basis").as_deref() == Some("estimate"),
            warnings: texts(value, "warnings"),
            report,
        })
    }
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    items(value, key).iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn label_names(value: &Value) -> Vec<String> {
    let keys = ["labels", "skills", "names"];
    let listed = keys.iter().map(|key| items(value, key)).find(|listed| !listed.is_empty());
    let name = |item: &Value| item.as_str().map(str::to_owned).or_else(|| text(item, "name"));
    listed.unwrap_or_default().iter().filter_map(name).collect()
}

impl TuningLoop {
    fn parse(file: &str, value: &Value) -> Option<Self> {
        let original = text(value, "original_description")?;
        let rounds: Vec<Round> = items(value, "iterations")
            .iter()
            .filter_map(|round| {
                Some(Round {
                    round: count(round, "round")?,
                    description: text(round, "description")?,
                    train: (
                        number(round, "train_pass_rate"),
                        count(round, "train_total").unwrap_or_default(),
                    ),
                    test: (
                        number(round, "test_pass_rate"),
                        count(round, "test_total").unwrap_or_default(),
                    ),
                })
            })
            .collect();
        Some(Self {
            file: file.to_owned(),
            best: text(value, "final_description").unwrap_or_else(|| original.clone()),
            original,
            rounds,
            warnings: texts(value, "warnings"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_without_a_completed_run_has_no_rate() {
        let query = json!({"query": "q", "should_trigger": false, "triggers": 0, "runs": 3, "errors": 3,
            "trigger_rate": 0.0, "pass": false});
        let query = Query::parse(&query).unwrap();
        assert_eq!((query.rate, query.interval), (None, None));
    }

    #[test]
    fn a_confusion_matrix_is_read_as_lists_and_as_objects() {
        let lists = json!({"matrix": {"labels": ["a", "none"], "rows": [[3, 1], [0, 2]]}});
        let objects = json!({"confusion": {"a": {"a": 3, "none": 1}, "none": {"none": 2}}});
        let ours = json!({"matrix": {"labels": ["a", "none"], "rows": [[3, 1], [0, 2]]}});
        for value in [lists, objects, ours] {
            let route = Route::parse("route.json", &value).unwrap();
            assert_eq!(route.labels, ["a", "none"]);
            assert_eq!(route.counts, [[3, 1], [0, 2]]);
        }
    }

    #[test]
    fn files_are_known_by_their_shape_and_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, value: Value| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, value.to_string()).unwrap();
        };
        write("history.json", json!({"versions": []}));
        write(
            "loop_summary.json",
            json!({"original_description": "d", "iterations": [
            {"round": 1, "description": "d", "train_pass_rate": 0.5, "train_total": 4}]}),
        );
        write(
            "trigger/a.json",
            json!({"results": [{"query": "q", "should_trigger": true, "triggers": 3,
            "runs": 3, "errors": 0, "trigger_rate": 1.0, "pass": true}]}),
        );
        fs_err::write(folder.path().join("trigger/b.json"), "{").unwrap();
        let found = Triggering::read(folder.path());
        assert_eq!((found.reports.len(), found.loops.len(), found.routes.len()), (1, 1, 0));
        assert_eq!(found.problems[0].file, "trigger/b.json");
    }
}
