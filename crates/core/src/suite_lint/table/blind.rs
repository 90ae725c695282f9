//! Rules for what a blind judge can't see.

use crate::suite_lint::rule::lint_rules;

lint_rules! { Suite:
    /// An expectation is about loading the skill
    ///
    /// ## What it does
    /// Reports an expectation such as "The skill was loaded" or "Uses the csv-report skill".
    ///
    /// ## Why is this bad?
    /// The judge is blind: it doesn't see whether a skill was there, so that it can't prefer the runs that had one. In an
    /// `evals` suite skillgauge decides such an expectation from the events of the run. In a `cases` suite nothing can.
    ///
    /// ## Use instead
    /// A structural check, which a program decides. `skillgauge trigger` measures how often a skill is loaded.
    /// ```json
    /// {"id": "S1", "type": "skill_loaded", "description": "The skill was loaded", "critical": false}
    /// ```
    LOADING_EXPECTATION, Warning, "loading-expectation";
}
