//! `SKILL_PATH_NOT_DIR`.

use crate::finding::Place;
use crate::rule::{Context, rule};
use crate::skill::State;

rule! {
    /// The path is not a folder
    ///
    /// ## What it does
    /// Reports a path to a file that is not a SKILL.md. A path to a SKILL.md means the folder around it.
    ///
    /// ## Why is this bad?
    /// A skill is a folder; agents do not load single files.
    ///
    /// ## Example
    /// ```console
    /// skillgauge validate skills/pdf-forms/reference.md
    /// ```
    ///
    /// ## Use instead
    /// ```console
    /// skillgauge validate skills/pdf-forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `SKILL_PATH_NOT_DIR`
    SKILL_PATH_NOT_DIR, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    if matches!(context.skill.state, State::NotFolder) {
        let path = context.skill.path.display();
        context
            .report(Place::folder(), format!("path is not a directory: {path}"))
            .hint("give the skill's folder, or a folder that holds skills");
    }
}
