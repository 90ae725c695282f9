//! `LISTING_BUDGET`.

use std::path::Path;

use crate::finding::Place;
use crate::rule::{Context, rule};
use crate::validate::listing::{Group, HINT};

rule! {
    /// The skills of a folder do not fit together into Claude Code's list
    ///
    /// ## What it does
    /// Adds up what the skills of one folder need in the list of skills that Claude Code shows to its model: names,
    /// descriptions and `when_to_use`. It reports once for a folder, not for each skill. A single skill is checked
    /// together with its neighbours when it lies in a folder called `skills`, which is where agents look for them.
    ///
    /// ## Why is this bad?
    /// The list may have 1 % of the context window: 8,000 characters for 200,000 tokens. What does not fit is listed by
    /// name only, without a word, and those skills hardly ever trigger. The skills that are used least lose their
    /// descriptions first, so a new one does. (Skills that Claude Code brings along need room as well.)
    ///
    /// A folder from which people take one skill at a time has no such problem: ignore the code there.
    ///
    /// ## Example
    /// ```text
    /// .claude/skills/    60 skills with descriptions of 200 characters
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// .claude/skills/    60 skills with descriptions of 100 characters, or 30 skills
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills, `skillListingBudgetFraction`
    LISTING_BUDGET, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// The folder that agents look for skills in is called so, whatever stands before it.
const INSTALLED: &str = "skills";

/// Looks at one skill together with its neighbours; whoever checks many at once adds them up as they come.
fn check(context: &mut Context<'_>) {
    let path = &context.skill.path;
    let Some(folder) = path.parent() else { return };
    if folder.file_name() != Some(Path::new(INSTALLED).as_os_str()) || context.document().is_none() {
        return;
    }
    if let Some(over) = Group::read(folder).over() {
        context.report(Place::folder(), over.message("in its folder")).hint(HINT);
    }
}
