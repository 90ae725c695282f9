//! The page of a case: the task, two runs side by side, their difference, and the verdicts of every run.

use minijinja::{Value, context};
use serde::Serialize;
use serde_json::Value as Json;

use super::cases::state;
use super::diff::{FileDiff, diff_files};
use super::evidence::{Evidence, evidence_of};
use super::links::{Links, Target, case_anchor, run_anchor};
use super::outputs::{OutputView, outputs};
use super::show;
use super::table::Tone;
use super::view;
use crate::model::case::Case;
use crate::model::iteration::Iteration;
use crate::model::json::{Problem, items, number, text, truth};
use crate::model::run::{Run, RunDetail};

/// Which two runs are side by side, by folder below the case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pair {
    pub(crate) left: Option<String>,
    pub(crate) right: Option<String>,
}

#[derive(Debug, Serialize)]
struct Side {
    run: String,
    title: String,
    transcript: String,
    outputs: Vec<OutputView>,
    left_out: usize,
}

#[derive(Debug, Serialize)]
struct RunView {
    anchor: String,
    title: String,
    symbol: &'static str,
    tone: Tone,
    word: String,
    facts: Vec<(&'static str, String)>,
    transcript: String,
    compare: Option<String>,
    checks: Vec<VerdictView>,
    rubric: Vec<RubricView>,
    claims: Vec<VerdictView>,
    suggestions: Vec<String>,
    judge_errors: Vec<String>,
    problems: Vec<Problem>,
    /// Only in the one-file report, for runs that are not side by side.
    outputs: Vec<OutputView>,
    comment: Option<String>,
    is_open: bool,
}

#[derive(Debug, Serialize)]
struct VerdictView {
    text: String,
    passed: bool,
    critical: bool,
    evidence: Evidence,
}

#[derive(Debug, Serialize)]
struct RubricView {
    name: String,
    score: String,
    evidence: Evidence,
}

/// What the page of a case shows.
pub(crate) fn case(iteration: &Iteration, case: &Case, pair: &Pair, links: &Links) -> Value {
    let (left, right) = choose(case, pair);
    let side = |run: Option<&Run>| run.map(|run| side(iteration, run, links));
    let diffs: Vec<FileDiff> = match (left, right) {
        (Some(left), Some(right)) if left.folder != right.folder => {
            diff_files(&iteration.path.join(&left.folder), &iteration.path.join(&right.folder))
        }
        _ => Vec::new(),
    };
    let shown = [left, right].map(|run| run.map(|run| run.folder.as_str()));
    let runs: Vec<RunView> =
        case.runs.iter().map(|run| run_view(iteration, case, run, (shown, right), links)).collect();
    let names: Vec<(String, String)> =
        case.runs.iter().map(|run| (short_folder(case, run), title(run))).collect();
    context! {
        anchor => case_anchor(&case.key),
        name => case.name.clone(),
        id => case.id.clone(),
        prompt => case.prompt.clone(),
        expected => case.expected_output.clone(),
        problems => view(&case.problems),
        left => view(side(left)),
        right => view(side(right).filter(|_| shown[0] != shown[1])),
        diffs => view(diffs),
        runs => view(runs),
        choices => view(names),
        chosen => [left, right].map(|run| run.map(|run| short_folder(case, run))).to_vec(),
        action => links.case(&case.key, None),
        can_choose => links.target == Target::Server && case.runs.len() > 1,
    }
}

/// With the skill on the left and the baseline on the right, unless others are asked for.
fn choose<'c>(case: &'c Case, pair: &Pair) -> (Option<&'c Run>, Option<&'c Run>) {
    let wanted = |folder: &Option<String>| {
        let folder = folder.as_ref()?;
        case.runs.iter().find(|run| short_folder(case, run) == *folder)
    };
    let first = case.runs.first();
    let other = first.and_then(|first| {
        let differs = |run: &&Run| run.configuration != first.configuration;
        case.runs.iter().find(differs).or_else(|| case.runs.get(1))
    });
    (wanted(&pair.left).or(first), wanted(&pair.right).or(other))
}

fn short_folder(case: &Case, run: &Run) -> String {
    let prefix = format!("{}/", case.key);
    run.folder.strip_prefix(&prefix).unwrap_or(&run.folder).to_owned()
}

pub(crate) fn title(run: &Run) -> String {
    format!("{}, run {}", show::words(&run.configuration), run.number)
}

fn side(iteration: &Iteration, run: &Run, links: &Links) -> Side {
    let (outputs, left_out) = outputs(iteration, run, links);
    Side {
        run: run.id.clone(),
        title: title(run),
        transcript: links.transcript(&run.folder, &run.id, None),
        outputs,
        left_out,
    }
}

fn run_view(
    iteration: &Iteration,
    case: &Case,
    run: &Run,
    (shown, right): ([Option<&str>; 2], Option<&Run>),
    links: &Links,
) -> RunView {
    let folder = iteration.path.join(&run.folder);
    let detail = RunDetail::read(&folder);
    let (symbol, tone, word) = state(run);
    let graded = detail.grading.as_ref().or(detail.structural.as_ref());
    let none = Json::Null;
    let graded = graded.unwrap_or(&none);
    let listed: Vec<&Json> = ["expectations", "assertion_results", "results"]
        .into_iter()
        .flat_map(|key| items(graded, key))
        .collect();
    let claims = items(graded, "claims");
    let scores: Vec<(&String, &Json)> =
        graded.get("rubric_scores").and_then(Json::as_object).into_iter().flatten().collect();
    let texts: Vec<&Json> = listed
        .iter()
        .copied()
        .chain(claims)
        .chain(scores.iter().map(|(_, score)| *score))
        .collect();
    let mut evidence = evidence_of(&folder, run, &texts, links).into_iter();
    let mut next = || evidence.next().unwrap_or_default();
    let checks =
        listed.iter().filter_map(|item| verdict_view(item, detail.structural.as_ref(), next()));
    let checks: Vec<VerdictView> = checks.collect();
    let claims = claims.iter().filter_map(|claim| {
        let evidence = next();
        let claimed = text(claim, "claim")?;
        let passed = truth(claim, "verified").unwrap_or_default();
        Some(VerdictView { text: claimed, passed, critical: false, evidence })
    });
    let claims: Vec<VerdictView> = claims.collect();
    let rubric = scores.into_iter().map(|(name, score)| RubricView {
        name: show::words(name),
        score: show::score(number(score, "score")),
        evidence: next(),
    });
    let rubric = rubric.collect();
    let is_side = shown.contains(&Some(run.folder.as_str()));
    let in_file = links.target == Target::File;
    let suggestions = graded.get("eval_feedback").map(|found| items(found, "suggestions"));
    RunView {
        anchor: run_anchor(&run.id),
        title: title(run),
        symbol,
        tone,
        word,
        facts: facts(run, detail.metrics.as_ref()),
        transcript: links.transcript(&run.folder, &run.id, None),
        compare: right.filter(|right| right.folder != run.folder).and_then(|right| {
            links.compare(&case.key, &short_folder(case, run), &short_folder(case, right))
        }),
        checks,
        rubric,
        claims,
        suggestions: suggestions
            .unwrap_or_default()
            .iter()
            .filter_map(|found| text(found, "reason").or_else(|| found.as_str().map(str::to_owned)))
            .collect(),
        judge_errors: items(graded, "judge_errors")
            .iter()
            .filter_map(|item| text(item, "text").or_else(|| item.as_str().map(str::to_owned)))
            .collect(),
        problems: run.problems.iter().chain(&detail.problems).fold(Vec::new(), |mut all, found| {
            if !all.contains(found) {
                all.push(found.clone());
            }
            all
        }),
        outputs: if in_file && !is_side { outputs(iteration, run, links).0 } else { Vec::new() },
        comment: iteration.feedback.of(&run.id).map(|review| review.comment.clone()),
        is_open: tone != Tone::Good,
    }
}

/// A verdict; whether the gate depends on it is known from the structural result.
fn verdict_view(item: &Json, structural: Option<&Json>, evidence: Evidence) -> Option<VerdictView> {
    let what = text(item, "text").or_else(|| text(item, "criterion"))?;
    let checks = structural.map(|structural| items(structural, "expectations")).unwrap_or_default();
    let same = |check: &&Json| text(check, "text").as_deref() == Some(what.as_str());
    let critical = checks.iter().find(same).and_then(|check| truth(check, "critical"));
    Some(VerdictView {
        passed: truth(item, "passed")?,
        critical: critical.or_else(|| truth(item, "critical")).unwrap_or_default(),
        text: what,
        evidence,
    })
}

fn facts(run: &Run, metrics: Option<&Json>) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("time", show::seconds(run.seconds)),
        ("tokens", show::whole(run.tokens)),
        ("cost", show::dollars(run.cost)),
    ];
    if run.rubric_normalized.is_some() {
        facts.push(("rubric", show::percent(run.rubric_normalized)));
    }
    if let Some(calls) = metrics.and_then(|metrics| number(metrics, "total_tool_calls")) {
        facts.push(("tool calls", show::whole(Some(calls))));
    }
    if let Some(outcome) = &run.outcome {
        let reason = run.reason.as_ref().filter(|reason| *reason != outcome);
        let reason = reason.map(|reason| format!(" ({})", show::words(reason))).unwrap_or_default();
        facts.push(("outcome", format!("{}{reason}", show::words(outcome))));
    }
    if run.skill_loaded == Some(false) && run.configuration != "without_skill" {
        facts.push(("skill", "was not loaded".to_owned()));
    }
    if run.gate_passed == Some(false) {
        facts.push(("gate", "a critical check failed".to_owned()));
    }
    facts
}
