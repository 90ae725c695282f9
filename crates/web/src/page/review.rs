//! The page of review: what people think of runs, and how far they agree with the judge.

use minijinja::{Value, context};
use serde::Serialize;

use super::case::title;
use super::cases::state;
use super::links::{Links, Target};
use super::table::Tone;
use super::view;
use crate::model::case::Case;
use crate::model::feedback::Mark;
use crate::model::iteration::Iteration;
use crate::model::run::{Run, RunState};
use crate::model::statistics::Agreement;

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
    mark: Option<&'static str>,
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
pub(crate) fn review(iteration: &Iteration, page: usize, links: &Links) -> Value {
    let mut runs: Vec<(&Case, &Run)> = iteration
        .cases
        .iter()
        .flat_map(|case| case.runs.iter().map(move |run| (case, run)))
        .collect();
    // What nobody has looked at and what failed comes first.
    runs.sort_by_key(|(_, run)| {
        let order = match run.state() {
            RunState::Failed => 0,
            RunState::Broken => 1,
            RunState::Ungraded => 2,
            RunState::Passed => 3,
        };
        (iteration.feedback.of(&run.id).is_some(), order)
    });
    let count = match links.target {
        Target::Server => RUNS_PER_PAGE,
        Target::File => RUNS_IN_FILE,
    };
    let total = runs.len();
    let first = page.saturating_sub(1).saturating_mul(count);
    let shown = runs.into_iter().skip(first).take(count);
    let views: Vec<ReviewView> =
        shown.map(|(case, run)| review_view(iteration, case, run, links)).collect();
    let (marks, verdicts) = iteration.feedback.agreement(iteration.runs());
    let pages = total.div_ceil(count).max(1);
    let link = |page: usize| format!("{}?page={page}", links.page("review"));
    context! {
        runs => view(views),
        total => total,
        reviewed => iteration.feedback.reviews().len(),
        agreement => view([
            ("whole runs", agreement_words(marks)),
            ("single expectations", agreement_words(verdicts)),
        ]),
        feedback => iteration.feedback.to_json().to_string(),
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

fn review_view(iteration: &Iteration, case: &Case, run: &Run, links: &Links) -> ReviewView {
    let (symbol, tone, word) = state(run);
    let review = iteration.feedback.of(&run.id);
    let decided = |text: &str| {
        review?.verdicts.iter().find(|verdict| verdict.text == text).map(|verdict| verdict.passed)
    };
    ReviewView {
        run: run.id.clone(),
        folder: run.folder.clone(),
        title: format!("{}, {}", case.name, title(run)),
        href: links.case(&case.key, Some(&run.id)),
        transcript: links.transcript(&run.folder, &run.id, None),
        symbol,
        tone,
        word,
        mark: review.and_then(|review| review.mark).map(Mark::as_str),
        comment: review.map(|review| review.comment.clone()).unwrap_or_default(),
        when: review.and_then(|review| review.timestamp.clone()),
        verdicts: run
            .verdicts
            .iter()
            .map(|verdict| VerdictView {
                text: verdict.text.clone(),
                judged: verdict.passed,
                decided: decided(&verdict.text),
            })
            .collect(),
    }
}
