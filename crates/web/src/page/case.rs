//! The page of a case: the task, two runs side by side, their difference, and the verdicts of every run.

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::iteration::{Case, Problem, Run};
use skillgauge_core::text::at_least;
use skillgauge_format::evals::Structural;

use super::cases::standing;
use super::diff::{FileDiff, diff_files};
use super::evidence::{Claimed, Evidence, evidence_of};
use super::links::{Target, case_anchor, run_anchor};
use super::outputs::{OutputView, outputs};
use super::table::Tone;
use super::{Scene, show, view};
use crate::read::load;

/// Which two runs are side by side, by folder below the case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pair {
    pub(crate) left: Option<String>,
    pub(crate) right: Option<String>,
}

#[derive(Debug, Serialize)]
struct Side {
    title: String,
    transcript: String,
    outputs: Vec<OutputView>,
    left_out: usize,
}

#[derive(Debug, Serialize)]
struct RunView {
    anchor: String,
    configuration: String,
    number: u64,
    standing: &'static str,
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
    problems: Vec<(String, String)>,
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
pub(crate) fn case(scene: &Scene, case: &Case, pair: &Pair) -> Value {
    let links = &scene.links;
    let (left, right) = choose(case, pair);
    let right = right.filter(|right| left.is_none_or(|left| left.folder != right.folder));
    let diffs: Vec<FileDiff> = match (left, right) {
        (Some(left), Some(right)) => diff_files(&scene.run_folder(left), &scene.run_folder(right)),
        _ => Vec::new(),
    };
    let shown = [left, right].into_iter().flatten();
    let shown: Vec<&str> = shown.map(|run| run.folder.as_str()).collect();
    let runs = case.runs.iter().map(|run| run_view(scene, case, run, (&shown, right)));
    let names = case.runs.iter().map(|run| (short_folder(case, run), title(run)));
    context! {
        anchor => case_anchor(&case.key),
        name => case.title(),
        id => case.id.to_string(),
        prompt => case.prompt.clone(),
        expected => case.expected_output.clone(),
        left => view(left.map(|run| side(scene, run))),
        right => view(right.map(|run| side(scene, run))),
        diffs => view(diffs),
        runs => view(runs.collect::<Vec<RunView>>()),
        choices => view(names.collect::<Vec<(String, String)>>()),
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

pub(super) fn title(run: &Run) -> String {
    format!("{}, run {}", show::words(run.configuration.as_str()), run.number)
}

fn side(scene: &Scene, run: &Run) -> Side {
    let (outputs, left_out) = outputs(scene, run);
    let transcript = scene.links.transcript(&run.folder, &run.id, None);
    Side { title: title(run), transcript, outputs, left_out }
}

fn run_view(
    scene: &Scene,
    case: &Case,
    run: &Run,
    (shown, right): (&[&str], Option<&Run>),
) -> RunView {
    let links = &scene.links;
    let (symbol, tone, word) = standing(run);
    let mut problems: Vec<Problem> = run.problems.clone();
    let structural: Option<Structural> =
        load(&scene.run_folder(run), "structural.json", &mut problems);
    let scores = run.rubric.as_ref();
    let scores = scores.map(|rubric| rubric.scores.as_slice()).unwrap_or_default();
    let claimed = run
        .verdicts
        .iter()
        .map(Claimed::verdict)
        .chain(run.claims.iter().map(|claim| Claimed::text(claim.evidence.as_deref())))
        .chain(scores.iter().map(|score| Claimed::text(score.evidence.as_deref())));
    let mut evidence = evidence_of(scene, run, claimed.collect()).into_iter();
    let mut next = || evidence.next().unwrap_or_default();
    // Whether the gate depends on a check is known from the structural result.
    let is_critical = |text: &str| {
        let checks = structural.iter().flat_map(|found| &found.expectations);
        checks.into_iter().any(|check| check.text == text && check.critical)
    };
    let checks = run.verdicts.iter().map(|verdict| VerdictView {
        text: verdict.text.clone(),
        passed: verdict.passed,
        critical: is_critical(&verdict.text),
        evidence: next(),
    });
    let checks: Vec<VerdictView> = checks.collect();
    let claims = run.claims.iter().map(|claim| VerdictView {
        text: claim.claim.clone(),
        passed: claim.verified,
        critical: false,
        evidence: next(),
    });
    let claims: Vec<VerdictView> = claims.collect();
    let rubric = scores.iter().map(|score| RubricView {
        name: show::words(&score.dimension),
        score: show::score(Some(score.score)),
        evidence: next(),
    });
    let is_side = shown.contains(&run.folder.as_str());
    let in_file = links.target == Target::File;
    problems.dedup();
    RunView {
        anchor: run_anchor(&run.id),
        configuration: run.configuration.as_str().to_owned(),
        number: run.number,
        standing: run.standing.as_str(),
        title: title(run),
        symbol,
        tone,
        word,
        facts: facts(run),
        transcript: links.transcript(&run.folder, &run.id, None),
        compare: right.filter(|right| right.folder != run.folder).and_then(|right| {
            links.compare(&case.key, &short_folder(case, run), &short_folder(case, right))
        }),
        rubric: rubric.collect(),
        checks,
        claims,
        suggestions: run.suggestions.iter().map(|found| found.reason.clone()).collect(),
        judge_errors: run.judge_errors.clone(),
        problems: problems.iter().map(show::problem).collect(),
        outputs: if in_file && !is_side { outputs(scene, run).0 } else { Vec::new() },
        comment: scene.feedback.of(&run.id).map(|review| review.feedback.clone()),
        is_open: tone != Tone::Good,
    }
}

fn tokens(run: &Run) -> String {
    let Some(tokens) = run.tokens else { return show::UNKNOWN.to_owned() };
    format!("{}{}", at_least(!run.usage_basis.is_reported()), show::count(tokens))
}

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("time", show::seconds(run.seconds)),
        ("tokens", tokens(run)),
        ("cost", show::dollars(run.cost_usd)),
    ];
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    let rubric = run.rubric.as_ref().map(|rubric| rubric.normalized);
    add("rubric", rubric.map(|share| show::percent(Some(share))));
    add("tool calls", run.tool_calls.map(show::count));
    add(
        "outcome",
        run.outcome.as_ref().map(|outcome| {
            let reason = run.reason.as_ref().filter(|reason| *reason != outcome);
            let reason =
                reason.map(|reason| format!(" ({})", show::words(reason))).unwrap_or_default();
            format!("{}{reason}", show::words(outcome))
        }),
    );
    let why = run.not_measured().and_then(|why| why.reason.clone());
    add("not measured", why.or_else(|| run.message.clone().filter(|_| !run.is_measured())));
    let is_missed =
        run.skill_loaded == Some(false) && run.configuration.as_str() != "without_skill";
    add("skill", is_missed.then(|| "was not loaded".to_owned()));
    let is_closed = run.gate_passed == Some(false);
    add("gate", is_closed.then(|| "a critical check failed".to_owned()));
    facts
}
