//! `SKILL_DIR_MISSING`.

use crate::finding::Place;
use crate::rule::{Context, rule};
use crate::skill::State;

rule! {
    /// The skill's folder does not exist
    ///
    /// ## What it does
    /// Reports a path that leads nowhere, a dangling link included.
    ///
    /// ## Why is this bad?
    /// There is nothing to check. In CI it usually means a typing error or a folder that was moved.
    ///
    /// ## Example
    /// ```console
    /// skillgauge validate skills/pdf-fromS
    /// ```
    ///
    /// ## Use instead
    /// ```console
    /// skillgauge validate skills/pdf-forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `SKILL_DIR_MISSING`
    SKILL_DIR_MISSING, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    if matches!(context.skill.state, State::Missing) {
        let path = context.skill.path.display();
        context
            .report(Place::folder(), format!("skill directory does not exist: {path}"))
            .hint("check the path; relative paths start at the current folder");
    }
}
