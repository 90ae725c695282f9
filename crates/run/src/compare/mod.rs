//! Has a comparator say which of two versions did better, case by case.
//!
//! ```text
//! pairs of stored runs -- core::comparison: blinded --> questions in both orders (model) --> comparison.json, the key apart
//! ```
//!
//! What is asked and what follows is `core::comparison`'s business; here is who is asked, and what becomes of failures. The
//! one invariant: a case that the comparator did not decide has no comparison; it counts for nobody.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::comparison::{
    Blinding, CasePair, ComparatorAnswer, ComparisonFiles, ComparisonStore, Decision, Draw,
    question, show,
};
use skillgauge_format::cases::Label;
use tokio_util::sync::CancellationToken;

use crate::ask_once::{self, Unanswered, fence_key};
use crate::budget::Budget;
use crate::model::{Model, Purpose};
use crate::pool::Bounded;

#[derive(Clone, Debug)]
pub struct Comparator {
    pub model: Arc<dyn Model>,
    /// The seed of what is drawn.
    pub seed: u64,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How many cases are compared at once, at most.
    pub jobs: usize,
}

/// What became of one case.
#[derive(Clone, Debug)]
pub struct ComparedCase {
    pub case: String,
    /// The files; or why there are none.
    pub result: Result<ComparisonFiles, String>,
    /// Whether they were there already, from the same runs and the same comparator.
    pub is_kept: bool,
}

/// Whether comparisons that are there already are made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    #[default]
    No,
    Yes,
}

#[derive(Debug)]
pub struct CompareRequest<'r> {
    pub pairs: Vec<CasePair>,
    /// What the key calls the two sides, in the order of the runs of each pair: versions, or configurations.
    pub names: [String; 2],
    /// The skill, whose path is taken out of what is shown.
    pub skill: &'r Path,
    /// What is taken out as well.
    pub blinding: Blinding,
    pub store: ComparisonStore,
    /// Whether to make them again.
    pub again: Again,
}

/// Compares all cases, each as soon as there is room; gives them in the order of the pairs.
pub async fn compare(
    request: CompareRequest<'_>,
    comparator: &Comparator,
    budget: &Arc<Budget>,
    cancel: &CancellationToken,
) -> Vec<ComparedCase> {
    let shared = Arc::new(Shared {
        names: request.names,
        skill: request.skill.to_owned(),
        blinding: request.blinding,
        store: request.store,
        again: request.again,
        comparator: comparator.clone(),
        budget: Arc::clone(budget),
        cancel: cancel.clone(),
    });
    shared.all(request.pairs).await
}

struct Shared {
    names: [String; 2],
    skill: PathBuf,
    blinding: Blinding,
    store: ComparisonStore,
    again: Again,
    comparator: Comparator,
    budget: Arc<Budget>,
    cancel: CancellationToken,
}

impl Shared {
    async fn all(self: Arc<Self>, pairs: Vec<CasePair>) -> Vec<ComparedCase> {
        let mut under_way = Bounded::new(self.comparator.jobs);
        for (place, pair) in pairs.into_iter().enumerate() {
            let shared = Arc::clone(&self);
            under_way.begin(place, async move { shared.case(&pair).await });
        }
        let mut done = under_way.all().await;
        done.sort_by_key(|(place, _)| *place);
        // A task of ours that broke: its case is missing, which the caller sees.
        done.into_iter().filter_map(|(_, case)| case.ok()).collect()
    }

    async fn case(&self, pair: &CasePair) -> ComparedCase {
        let case = pair.case.clone();
        let decision = Decision::new(Draw::new(self.comparator.seed, &case));
        if self.again == Again::No
            && let Some(found) = self.kept(pair, &decision)
        {
            return ComparedCase { case, result: Ok(found), is_kept: true };
        }
        let result = match self.ask(pair, decision).await {
            Ok(files) => match self.store.save(&case, &files) {
                Ok(()) => Ok(files),
                Err(error) => Err(error.to_string()),
            },
            Err(reason) => Err(reason.to_string()),
        };
        ComparedCase { case, result, is_kept: false }
    }

    /// A comparison of the same runs with the same draw by the same comparator.
    fn kept(&self, pair: &CasePair, decision: &Decision) -> Option<ComparisonFiles> {
        let found = self.store.load(&pair.case)?.files;
        let is_same = found.key.seed == self.comparator.seed
            && found.key.runs.as_ref() == Some(&decision.runs(pair))
            && found.key.comparator == Some(self.comparator.model.name().to_string());
        is_same.then_some(found)
    }

    async fn ask(
        &self,
        pair: &CasePair,
        mut decision: Decision,
    ) -> Result<ComparisonFiles, Unanswered> {
        let draw = Draw::new(self.comparator.seed, &pair.case);
        // Only bounded amounts are read, so this may happen between two waits.
        let [a, b] = [Label::A, Label::B].map(|label| {
            let dir = &pair.runs[draw.side(label)].dir;
            show(dir, &self.skill, &self.blinding, &pair.prompt, fence_key())
        });
        let mut is_swapped = false;
        while let Some(first) = decision.next_order() {
            // In the second order the labels change with the places: a comparator that follows a label is found out, too.
            let (results, shown_first) =
                if is_swapped { ([&b, &a], first.other()) } else { ([&a, &b], first) };
            let question = question(&pair.prompt, results, shown_first, fence_key())
                .map_err(|error| Unanswered::Failed(error.to_string()))?;
            let answer: ComparatorAnswer = ask_once::ask(
                self.comparator.model.as_ref(),
                &ask_once::request(Purpose::new("compare"), &question, self.comparator.timeout),
                &self.budget,
                &self.cancel,
            )
            .await?;
            decision.add(if is_swapped { answer.relabelled() } else { answer });
            is_swapped = true;
        }
        let comparator = self.comparator.model.name().to_string();
        decision
            .conclude(pair, &self.names, &comparator)
            .ok_or_else(|| Unanswered::Failed("nothing was decided".to_owned()))
    }
}
