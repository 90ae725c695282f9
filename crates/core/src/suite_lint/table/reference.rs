//! Rules for the trial with reference answers, `--reference DIR`.

use crate::suite_lint::rule::lint_rules;

lint_rules! { Reference:
    /// A reference answer fails a check
    ///
    /// ## What it does
    /// Carries out the checks of a case on `DIR/<case id>/`, which holds the files as a good run would leave them in
    /// `outputs/`. Checks that look at the transcript are left out, because a reference has none.
    ///
    /// ## Why is this bad?
    /// The check fails good work. Every rate that it counts in is too low.
    ///
    /// ## Use instead
    /// A check that accepts every good answer; the evidence in the message says what it stumbled over. Or the reference is
    /// wrong.
    REFERENCE_FAILS, Error, "reference-fails";

    /// A case has no reference answer
    ///
    /// ## What it does
    /// Looks for a folder `DIR/<case id>` for each case that has checks which look at files.
    ///
    /// ## Why is this bad?
    /// Nothing shows that these checks can pass at all.
    ///
    /// ## Use instead
    /// The `outputs/` of a run that you have looked at and found good.
    REFERENCE_MISSING, Warning, "reference-missing";

    /// A reference answer belongs to no case
    ///
    /// ## What it does
    /// Reports folders in `DIR` whose name is the id of no case.
    ///
    /// ## Why is this bad?
    /// The case was renamed or removed, and its reference is no longer tried.
    ///
    /// ## Use instead
    /// The id of the case as the name of the folder.
    REFERENCE_UNUSED, Warning, "reference-unused";
}
