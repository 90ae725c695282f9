//! Reads the cases of an iteration, several at a time, and decides what each run counts for.
//!
//! A run is a few small files; most of the time goes into opening them, so only those are opened that can matter:
//! `metrics.json` when the grading has no metrics, `structural.json` when there is no grading or a rubric is missing, and of
//! a transcript one line, when no record says whether the skill was loaded.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZero;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use skillgauge_format::Suite;
use skillgauge_format::evals::{Dimension, PrimaryOutcome};
use skillgauge_format::json::{Node, Number};
use skillgauge_format::part::{Configuration, EvalId};
use skillgauge_format::record::IterationRecord;
use skillgauge_format::transcript::{Outcome, Reason, names_skill};

use super::file::{self, Found, amount, text, whole};
use super::grading::{Graded, checks};
use super::layout::{self, CaseFolder, RunFolder};
use super::{About, Case, Iteration, NotMeasured, Preference, Problem, Run, Standing, role};
use crate::calibration;
use crate::comparison::ComparisonStore;
use crate::text::plural;
use crate::workspace;

/// More threads than this only wait for each other in the kernel.
const MOST_THREADS: usize = 8;

impl Iteration {
    /// Reads an iteration's folder. Only a folder that cannot be listed is an error; what is wrong inside is a problem.
    pub fn read(folder: &Path) -> io::Result<Self> {
        Self::read_as(folder, None)
    }

    /// The same; `skill` is its name where the folder does not tell.
    pub fn read_as(folder: &Path, skill: Option<&str>) -> io::Result<Self> {
        let mut iteration = Self::read_cases(folder, skill, |_| true)?;
        iteration.end_when_over();
        Ok(iteration)
    }

    /// Reads an iteration with one case only, by its key.
    pub fn read_case(folder: &Path, key: &str) -> io::Result<Self> {
        // A name from outside is only ever compared with what is there.
        Self::read_cases(folder, None, |case| case.key == key)
    }

    fn read_cases(
        folder: &Path,
        skill: Option<&str>,
        is_wanted: impl Fn(&CaseFolder) -> bool,
    ) -> io::Result<Self> {
        let mut iteration = Self { folder: folder.to_owned(), ..Self::default() };
        let source = Source::read(folder, skill, &mut iteration.problems);
        let mut places = layout::cases(folder, source.record.as_ref())?;
        places.retain(is_wanted);
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let share = places.len().div_ceil(threads.min(MOST_THREADS)).max(1);
        let parts: Vec<Vec<(Case, Vec<Problem>)>> = std::thread::scope(|scope| {
            let source = &source;
            let read = |places| scope.spawn(move || source.cases(places));
            let readers: Vec<_> = places.chunks(share).map(read).collect();
            let join = |reader: std::thread::ScopedJoinHandle<'_, _>| {
                reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            readers.into_iter().map(join).collect()
        });
        for (case, problems) in parts.into_iter().flatten() {
            iteration.problems.extend(problems);
            if !case.runs.is_empty() {
                iteration.cases.push(case);
            }
        }
        let has_criteria = iteration.runs().any(|run| run.overall_score.is_some());
        for run in iteration.cases.iter_mut().flat_map(|case| &mut case.runs) {
            run.scored_by.criteria = has_criteria;
        }
        iteration.sort();
        iteration.about = source.about(&iteration);
        iteration.record = source.record;
        match calibration::load(&folder.join("..")) {
            Ok(found) => iteration.calibrations = found.calibrations,
            Err(error) => {
                iteration.problems.push(Problem::new("calibration.json", error.to_string()));
            }
        }
        Ok(iteration)
    }

    /// Puts the cases in the order of their ids, which their folders need not have.
    fn sort(&mut self) {
        self.cases.sort_by(|a, b| (&a.id, &a.key).cmp(&(&b.id, &b.key)));
        for pair in self.cases.windows(2).filter(|pair| pair[0].id == pair[1].id) {
            self.problems.push(Problem::new(
                &*pair[1].key,
                format!(
                    "says that it is the case {}, as does {}; they are counted as two cases",
                    pair[1].id, pair[0].key
                ),
            ));
        }
        let mut found: Vec<Configuration> = Vec::new();
        for run in self.cases.iter().flat_map(|case| &case.runs) {
            if !found.contains(&run.configuration) {
                found.push(run.configuration.clone());
            }
        }
        found.sort_by(|a, b| role::order(a).cmp(&role::order(b)));
        self.configurations = found;
    }
}

/// What is known of an iteration before one of its runs is read. Those of other tools have neither record nor suite.
struct Source {
    skill_name: Option<String>,
    record: Option<IterationRecord>,
    suite: Option<BTreeMap<String, SuiteCase>>,
    /// The metadata of another tool's benchmark.
    stated: About,
}

/// What the suite says of a case.
struct SuiteCase {
    name: Option<String>,
    prompt: String,
    expected_output: Option<String>,
    /// The dimensions of its rubric.
    weights: Vec<(String, f64)>,
}

impl Source {
    fn read(folder: &Path, skill: Option<&str>, problems: &mut Vec<Problem>) -> Self {
        let iteration = workspace::Iteration::at(folder);
        let mut record = None;
        if iteration.record_file().is_file() {
            match iteration.record() {
                Ok(found) => record = Some(found),
                Err(error) => problems.push(Problem::new("iteration.json", error.to_string())),
            }
        }
        let stated = if record.is_none() { stated(folder) } else { About::default() };
        let planned = || record.as_ref().map(|record| record.skill_name.clone());
        let skill_name = skill.map(str::to_owned).or_else(planned);
        let skill_name = skill_name.or_else(|| name_of_workspace(folder));
        Self {
            skill_name: skill_name.or_else(|| stated.skill_name.clone()),
            suite: suite(&iteration.suite_file()),
            record,
            stated,
        }
    }

    fn about(&self, iteration: &Iteration) -> About {
        let (record, stated) = (self.record.as_ref(), &self.stated);
        let of = |field: fn(&IterationRecord) -> Option<String>| record.and_then(field);
        let first = |field: fn(&Run) -> &Option<String>| {
            iteration.runs().find_map(|run| field(run).clone())
        };
        let transcript = || {
            let run = iteration.runs().next()?;
            model_of_transcript(&iteration.folder.join(&run.folder))
        };
        About {
            skill_name: self.skill_name.clone(),
            skill_path: of(|record| Some(record.skill_path.clone()))
                .or_else(|| self.skill_beside(&iteration.folder))
                .or_else(|| stated.skill_path.clone()),
            version: record.and_then(|record| record.version),
            agent: of(|record| Some(record.agent.clone())),
            executor_model: of(|record| record.executor_model.clone())
                .or_else(|| first(|run| &run.model))
                .or_else(|| of(|record| record.model.clone()))
                .or_else(transcript)
                .or_else(|| stated.executor_model.clone()),
            // What was graded again was judged by somebody else than the record says.
            judge_model: judges(iteration)
                .or_else(|| of(|record| record.judge.clone()))
                .or_else(|| first(|run| &run.judge))
                .or_else(|| stated.judge_model.clone()),
            timestamp: of(|record| Some(record.started.to_string()))
                .or_else(|| stated.timestamp.clone()),
            partial: of(|record| record.partial.clone()),
            primary_outcome: stated.primary_outcome,
            margin: stated.margin,
        }
    }

    /// The skill beside the workspace, if it is one.
    fn skill_beside(&self, folder: &Path) -> Option<String> {
        let skill = folder.parent()?.with_file_name(self.skill_name.as_ref()?);
        skill.join("SKILL.md").is_file().then(|| skill.display().to_string())
    }

    fn cases(&self, places: &[CaseFolder]) -> Vec<(Case, Vec<Problem>)> {
        places.iter().map(|place| self.case(place)).collect()
    }

    fn case(&self, place: &CaseFolder) -> (Case, Vec<Problem>) {
        let (folders, mut problems) = place.runs(self.record.as_ref());
        let mut case = Case {
            preferences: Vec::new(),
            key: place.key.clone(),
            id: place.id.clone(),
            name: None,
            prompt: None,
            expected_output: None,
            runs: Vec::with_capacity(folders.len()),
        };
        let mut has_rubric = false;
        let metadata = file::read(&place.path.join("eval_metadata.json")).parse(|root| {
            let id = root.get("eval_id").and_then(|id| id.deserialize::<EvalId>().ok());
            case.id = id.unwrap_or_else(|| case.id.clone());
            (case.name, case.prompt) = (text(root, "eval_name"), text(root, "prompt"));
            let rubric = root.get("quality_rubric");
            has_rubric = rubric.is_some_and(|rubric| !rubric.members().is_empty());
            Ok(())
        });
        if let Found::Unusable(reason) = metadata {
            problems.push(Problem::new(format!("{}/eval_metadata.json", place.key), reason));
        }
        let planned = self.suite.as_ref().and_then(|suite| suite.get(&case.id.to_string()));
        if let Some(planned) = planned {
            case.name = case.name.or_else(|| planned.name.clone());
            case.prompt = case.prompt.or_else(|| Some(planned.prompt.clone()));
            case.expected_output.clone_from(&planned.expected_output);
        }
        case.name = case.name.or_else(|| place.name.clone());
        let weights = planned.map(|planned| planned.weights.as_slice()).unwrap_or_default();
        case.runs.extend(folders.iter().map(|folder| self.run(folder, weights)));
        // Without a suite, only the metadata or the other runs tell whether a rubric is to be expected.
        let expects_rubric = match &self.suite {
            Some(_) => !weights.is_empty(),
            None => has_rubric || case.runs.iter().any(|run| run.rubric.is_some()),
        };
        case.preferences = preferences(&place.path, &case.runs);
        for (run, folder) in case.runs.iter_mut().zip(&folders) {
            run.scored_by.rubric = expects_rubric;
            if expects_rubric {
                run.stop_at_gate(&folder.path);
            }
        }
        (case, problems)
    }

    fn run(&self, place: &RunFolder, weights: &[(String, f64)]) -> Run {
        let mut run = Run {
            id: place.folder.replace('/', "-"),
            folder: place.folder.clone(),
            configuration: place.configuration.clone(),
            number: place.number,
            ..Run::default()
        };
        if !place.exists {
            return run;
        }
        let path = place.path.as_path();
        let end = run.read_record(path);
        let graded = run.read_grading(path, weights);
        run.read_times(path, &graded);
        run.read_metrics(path);
        if run.skill_loaded.is_none() && end.is_ok() {
            run.skill_loaded = skills_loaded(path).map(|loads| match &self.skill_name {
                Some(name) => loads.iter().any(|loaded| names_skill(loaded, name)),
                None => !loads.is_empty(),
            });
        }
        let is_compared = self.record.as_ref().and_then(|record| record.primary_outcome)
            == Some(PrimaryOutcome::Preference);
        run.settle(end, graded, is_compared);
        run
    }
}

/// How the agent brought a run to its end.
enum End {
    Completed,
    /// By its own doing, so the run failed.
    Failed,
}

impl Run {
    /// What became of the run; runs of other tools have no record, and count as completed.
    fn read_record(&mut self, path: &Path) -> Result<End, NotMeasured> {
        let unreadable = |reason: String| NotMeasured {
            kind: Cow::Borrowed("unreadable"),
            reason: Some(format!("run.json: {reason}")),
        };
        let read = file::read(&path.join("run.json")).parse(|root| {
            self.outcome = text(root, "outcome");
            self.reason = text(root, "reason");
            self.message = text(root, "message");
            self.model = text(root, "model");
            self.skill_loaded = root.get("skill_loaded").and_then(Node::as_bool);
            self.agent_version = text(root, "agent_version");
            self.skillgauge_version = text(root, "skillgauge_version");
            self.cost_usd = amount(Some(root), "cost_usd").map(Number::as_f64);
            self.seconds = amount(Some(root), "seconds").map(Number::as_f64);
            self.tokens = whole(Some(root), "total_tokens").filter(|tokens| *tokens > 0);
            self.usage_basis =
                text(root, "usage_basis").and_then(|basis| named(&basis)).unwrap_or_default();
            Ok(())
        });
        match read {
            Found::Missing => return Ok(End::Completed),
            Found::Unusable(reason) => {
                self.problems.push(Problem::new("run.json", reason.clone()));
                return Err(unreadable(reason));
            }
            Found::Value(()) => {}
        }
        let Some(name) = &self.outcome else {
            return Err(unreadable("there is no `outcome`".to_owned()));
        };
        let is_result =
            || self.reason.as_deref().and_then(named::<Reason>).is_some_and(Reason::is_result);
        match named::<Outcome>(name) {
            Some(Outcome::Completed) => Ok(End::Completed),
            Some(Outcome::TimedOut) => Ok(End::Failed),
            Some(_) if is_result() => Ok(End::Failed),
            _ => {
                let parts = [self.reason.as_deref(), self.message.as_deref()];
                let reason = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
                let reason = Some(reason).filter(|reason| !reason.is_empty());
                Err(NotMeasured { kind: Cow::Owned(name.clone()), reason })
            }
        }
    }

    /// Takes the grading, or at least the checks.
    fn read_grading(&mut self, path: &Path, weights: &[(String, f64)]) -> Found<Graded> {
        let mut found = file::read(&path.join("grading.json")).parse(Graded::read);
        if let Found::Missing = found {
            // Some graders put it beside the outputs that they looked at.
            found = file::read_output(&path.join("outputs/grading.json")).parse(Graded::read);
        }
        match &mut found {
            Found::Value(graded) => {
                if let Some(rubric) = &mut graded.rubric {
                    rubric.sharpen(weights);
                }
                self.take_grading(graded);
            }
            Found::Missing => {
                let checked = file::read(&path.join("structural.json")).parse(|root| {
                    self.gate_passed = root.get("gate_passed").and_then(Node::as_bool);
                    Ok(checks(root))
                });
                if let Found::Value(verdicts) = checked {
                    self.verdicts = verdicts;
                }
            }
            Found::Unusable(reason) => {
                self.problems.push(Problem::new("grading.json", reason.clone()));
            }
        }
        found
    }

    fn take_grading(&mut self, graded: &mut Graded) {
        self.verdicts = std::mem::take(&mut graded.verdicts);
        self.counts = (graded.counts.total > 0).then_some(graded.counts);
        self.rubric.clone_from(&graded.rubric);
        (self.overall_score, self.required_score) = (graded.overall_score, graded.required_score);
        self.gate_passed = graded.gate_passed;
        self.judge_errors = std::mem::take(&mut graded.judge_errors);
        self.judge = graded.judge.take();
        self.judged_by = graded.judged_by.take();
        self.suggestions = std::mem::take(&mut graded.suggestions);
        self.claims = std::mem::take(&mut graded.claims);
        self.notes = std::mem::take(&mut graded.notes);
        (self.tool_calls, self.errors) = (graded.tool_calls, graded.errors);
        let problems = graded.problems.drain(..);
        self.problems.extend(problems.map(|problem| Problem::new("grading.json", problem)));
        self.is_unjudged = graded.is_unjudged;
        self.judged = graded.judged;
    }

    /// Where the grading tells the times, they are what the public script takes; else `timing.json`, else the record.
    fn read_times(&mut self, path: &Path, graded: &Found<Graded>) {
        let (mut seconds, mut tokens) = match graded {
            Found::Value(graded) => (graded.seconds, graded.tokens),
            Found::Missing | Found::Unusable(_) => (None, None),
        };
        if seconds.is_none() || tokens.is_none() {
            let read = file::read(&path.join("timing.json")).parse(|root| {
                let number = |key| amount(Some(root), key).map(Number::as_f64);
                seconds = seconds
                    .or_else(|| number("total_duration_seconds"))
                    .or_else(|| number("executor_duration_seconds"))
                    .or_else(|| number("duration_ms").map(|time| time / 1000.0));
                // No agent works without tokens: a zero means that nobody counted.
                let counted = || whole(Some(root), "total_tokens").filter(|tokens| *tokens > 0);
                tokens = tokens.or_else(counted);
                self.cost_usd = self.cost_usd.or_else(|| number("cost_usd"));
                Ok(())
            });
            if let Found::Unusable(reason) = read {
                self.problems.push(Problem::new("timing.json", reason));
            }
        }
        self.seconds = seconds.or(self.seconds);
        self.tokens = tokens.or(self.tokens);
    }

    fn read_metrics(&mut self, path: &Path) {
        if self.tool_calls.is_some() {
            return;
        }
        let found = match file::read(&path.join("metrics.json")) {
            Found::Missing => file::read_output(&path.join("outputs/metrics.json")),
            found => found,
        };
        let read = found.parse(|root| {
            self.tool_calls = whole(Some(root), "total_tool_calls");
            self.errors = self.errors.or_else(|| whole(Some(root), "errors_encountered"));
            Ok(())
        });
        if let Found::Unusable(reason) = read {
            self.problems.push(Problem::new("metrics.json", reason));
        }
    }

    /// Decides what the run counts for.
    /// One that is compared with another needs nothing to be graded by: then it passes by completing.
    fn settle(&mut self, end: Result<End, NotMeasured>, graded: Found<Graded>, is_compared: bool) {
        let end = match end {
            Ok(end) => end,
            Err(why) => return self.standing = Standing::NotMeasured(why),
        };
        self.standing = match (end, graded) {
            (_, Found::Unusable(reason)) => {
                Standing::not_measured("unreadable", format!("grading.json: {reason}"))
            }
            _ if !self.judge_errors.is_empty() => Standing::not_measured(
                "judge_error",
                format!(
                    "the judge left {} undecided; `skillgauge grade` asks again",
                    plural(self.judge_errors.len(), "expectation")
                ),
            ),
            // It came to an end that leaves nothing to grade.
            (End::Failed, Found::Missing) => self.measure(Standing::Failed, &Graded::default()),
            // What it left behind may hold (nothing forbidden is in a file that was never written), and it failed all the same.
            (End::Failed, Found::Value(graded)) => {
                let standing = self.measure(Standing::Failed, &graded);
                (self.pass_rate, self.overall_efficiency) = (Some(0.0), Some(0.0));
                standing
            }
            (End::Completed, Found::Missing) => {
                Standing::not_measured("not_graded", "there is no grading.json")
            }
            (End::Completed, Found::Value(graded))
                if graded.is_empty() && is_compared && !graded.is_unjudged =>
            {
                let standing = self.measure(Standing::Passed, &graded);
                self.stated_rate = Some(Number::Float(1.0));
                (self.pass_rate, self.overall_efficiency) = (Some(1.0), Some(1.0));
                standing
            }
            (End::Completed, Found::Value(graded)) if graded.is_empty() => {
                let why = if graded.is_unjudged {
                    "there was no judge, and the case has no checks"
                } else {
                    "no expectation has a verdict"
                };
                Standing::not_measured("not_graded", why)
            }
            (End::Completed, Found::Value(graded)) => {
                let is_passed = graded.is_passed();
                self.measure(if is_passed { Standing::Passed } else { Standing::Failed }, &graded)
            }
        };
    }

    fn measure(&mut self, standing: Standing, graded: &Graded) -> Standing {
        let rate = graded.exact_rate();
        self.pass_rate = Some(rate);
        self.stated_rate = Some(match graded.counts.total {
            0 => Number::Float(rate),
            _ => graded.pass_rate,
        });
        self.overall_efficiency = Some(match &self.rubric {
            Some(rubric) if graded.counts.total > 0 => f64::midpoint(rate, rubric.normalized),
            _ => rate,
        });
        standing
    }

    /// A rubric that nobody scored because the gate was closed counts 0. Where there was no judge at all, it is in no arm.
    fn stop_at_gate(&mut self, path: &Path) {
        let Some(rate) = self.pass_rate else { return };
        if self.rubric.is_some() || self.is_unjudged {
            return;
        }
        if self.gate_passed.is_none() {
            let structural = file::read(&path.join("structural.json"));
            let gate = structural.parse(|root| Ok(root.get("gate_passed").and_then(Node::as_bool)));
            if let Found::Value(gate) = gate {
                self.gate_passed = gate;
            }
        }
        if self.gate_passed == Some(false) {
            self.overall_efficiency = Some(rate / 2.0);
        }
    }
}

/// Everybody who judged, by name.
fn judges(iteration: &Iteration) -> Option<String> {
    let models = iteration.runs().filter_map(|run| run.judged_by.as_ref());
    let models: BTreeSet<&str> = models.map(|judge| judge.model.as_str()).collect();
    (!models.is_empty()).then(|| models.into_iter().collect::<Vec<_>>().join(", "))
}

/// What a comparator preferred of the runs that are there.
fn preferences(case: &Path, runs: &[Run]) -> Vec<Preference> {
    if !case.join("preference").is_dir() {
        return Vec::new();
    }
    let of_run = |run: &Run| {
        let store = ComparisonStore::of_runs(case, &run.configuration);
        let found = store.load(&format!("run-{}", run.number))?.files;
        let winner = found.key.version(found.comparison.winner);
        Some(Preference {
            baseline: run.configuration.clone(),
            number: run.number,
            is_won: (!found.key.disagreement).then(|| winner != run.configuration.as_str()),
            position: found.key.preferred_position(),
        })
    };
    runs.iter().filter_map(of_run).collect()
}

/// The variant of an enum with that name.
pub(super) fn named<'t, T: Deserialize<'t>>(name: &'t str) -> Option<T> {
    T::deserialize(BorrowedStrDeserializer::<serde::de::value::Error>::new(name)).ok()
}

fn suite(path: &Path) -> Option<BTreeMap<String, SuiteCase>> {
    let Found::Value(bytes) = file::read(path) else { return None };
    let suite = Suite::read(&bytes).ok()?.value;
    let weight = |dimension: &Dimension| (dimension.name.clone(), dimension.weight());
    let cases = suite.cases().map(|case| {
        let dimensions = case.rubric().map_or(&[][..], |rubric| &rubric.dimensions);
        let found = SuiteCase {
            name: case.name().map(str::to_owned),
            prompt: case.prompt().to_owned(),
            expected_output: case.expected_output().map(str::to_owned),
            weights: dimensions.iter().map(weight).collect(),
        };
        (case.id().into_owned(), found)
    });
    Some(cases.collect())
}

/// What another tool's benchmark says of itself; placeholders such as `<model-name>` say nothing.
fn stated(folder: &Path) -> About {
    #[derive(Deserialize)]
    struct Stated {
        metadata: Option<serde_json::Map<String, serde_json::Value>>,
    }
    let Found::Value(bytes) = file::read(&folder.join("benchmark.json")) else {
        return About::default();
    };
    let metadata = serde_json::from_slice::<Stated>(&bytes).ok().and_then(|found| found.metadata);
    let of = |key: &str| {
        let text = metadata.as_ref()?.get(key)?.as_str()?;
        (!text.trim().is_empty() && !text.starts_with('<')).then(|| text.to_owned())
    };
    let value = |key: &str| metadata.as_ref()?.get(key).cloned();
    About {
        primary_outcome: value("primary_outcome").and_then(|it| serde_json::from_value(it).ok()),
        margin: value("margin").and_then(|it| it.as_f64()),
        skill_name: of("skill_name"),
        skill_path: of("skill_path"),
        executor_model: of("executor_model"),
        judge_model: of("analyzer_model"),
        timestamp: of("timestamp"),
        ..About::default()
    }
}

/// `testing-workspace/iteration-1` is about `testing`.
fn name_of_workspace(iteration: &Path) -> Option<String> {
    let workspace = iteration.parent()?.file_name()?.to_str()?;
    workspace.strip_suffix("-workspace").filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The skills whose body was given to the model; nothing when there is no complete transcript.
fn skills_loaded(run: &Path) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct End {
        #[serde(rename = "type")]
        kind: String,
        skills_loaded: Vec<String>,
    }
    let line = file::last_line(&run.join("transcript.jsonl"))?;
    let end: End = serde_json::from_slice(&line).ok()?;
    (end.kind == "end").then_some(end.skills_loaded)
}

/// The model that the transcript names in its first line.
fn model_of_transcript(run: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Header {
        model: Option<String>,
    }
    let line = file::first_line(&run.join("transcript.jsonl"))?;
    serde_json::from_slice::<Header>(&line).ok()?.model
}
