//! The page of review: what people think of runs, and how far they agree with the judge.

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::iteration::{Case, Run};
use skillgauge_format::evals::ReviewMark;

use super::case::title;
use super::cases::{order, standing};
use super::links::Target;
use super::table::Tone;
use super::{Scene, view};
use crate::feedback::Agreement;

/// Runs on one page of the server.
pub(crate) const RUNS_PER_PAGE: usize = 30;
/// Runs in the one-file report.
const RUNS_IN_FILE: usize = 200;

#[derive(Debug, Serialize)]
struct ReviewView {
    run: String,
    folder: String,
    title: String,
    href: String,
    transcript: String,
    symbol: &'static str,
    tone: Tone,
    word: String,
    mark: Option<ReviewMark>,
    comment: String,
    when: Option<String>,
    verdicts: Vec<VerdictView>,
}

#[derive(Debug, Serialize)]
struct VerdictView {
    text: String,
    judged: bool,
    /// What the person decided, if they did.
    decided: Option<bool>,
}

/// What the page of review shows; pages count from 1.
pub(crate) fn review(scene: &Scene, page: usize) -> Value {
    let Scene { iteration, feedback, links, .. } = scene;
    let mut runs: Vec<(&Case, &Run)> = iteration
        .cases
        .iter()
        .flat_map(|case| case.runs.iter().map(move |run| (case, run)))
        .collect();
    // What nobody has looked at and what failed comes first.
    runs.sort_by_key(|(_, run)| (feedback.of(&run.id).is_some(), order(&run.standing)));
    let count = match links.target {
        Target::Server => RUNS_PER_PAGE,
        Target::File => RUNS_IN_FILE,
    };
    let total = runs.len();
    let first = page.saturating_sub(1).saturating_mul(count);
    let shown = runs.into_iter().skip(first).take(count);
    let views: Vec<ReviewView> = shown.map(|(case, run)| review_view(scene, case, run)).collect();
    let (marks, verdicts) = feedback.agreement(iteration.runs());
    let pages = total.div_ceil(count).max(1);
    let link = |page: usize| format!("{}?page={page}", links.page("review"));
    context! {
        runs => view(views),
        total => total,
        reviewed => feedback.0.reviews.len(),
        agreement => view([
            ("whole runs", agreement_words(marks)),
            ("single expectations", agreement_words(verdicts)),
        ]),
        feedback => serde_json::to_string(&feedback.0).unwrap_or_default(),
        can_save => links.target == Target::Server,
        action => links.page("review"),
        page => page,
        pages => pages,
        before => (page > 1 && links.target == Target::Server).then(|| link(page - 1)),
        after => (page < pages && links.target == Target::Server).then(|| link(page + 1)),
        left_out => if links.target == Target::File { total.saturating_sub(count) } else { 0 },
    }
}

fn agreement_words(agreement: Agreement) -> String {
    let Agreement { pairs, alike, kappa } = agreement;
    match kappa {
        _ if pairs == 0 => "nothing decided by both yet".to_owned(),
        Some(kappa) => format!("κ = {kappa:.2}, alike in {alike} of {pairs}"),
        None => format!("alike in {alike} of {pairs}; κ needs both answers to occur"),
    }
}

fn review_view(scene: &Scene, case: &Case, run: &Run) -> ReviewView {
    let (symbol, tone, word) = standing(run);
    let review = scene.feedback.of(&run.id);
    let decided = |text: &str| {
        review?.verdicts.iter().find(|verdict| verdict.text == text).map(|verdict| verdict.passed)
    };
    let verdicts = run.verdicts.iter().map(|verdict| VerdictView {
        text: verdict.text.clone(),
        judged: verdict.passed,
        decided: decided(&verdict.text),
    });
    ReviewView {
        run: run.id.clone(),
        folder: run.folder.clone(),
        title: format!("{}, {}", case.title(), title(run)),
        href: scene.links.case(&case.key, Some(&run.id)),
        transcript: scene.links.transcript(&run.folder, &run.id, None),
        symbol,
        tone,
        word,
        mark: review.and_then(|review| review.mark),
        comment: review.map(|review| review.feedback.clone()).unwrap_or_default(),
        when: review.and_then(|review| Some(review.timestamp.as_ref()?.to_string())),
        verdicts: verdicts.collect(),
    }
}
