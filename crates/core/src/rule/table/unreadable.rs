//! `UNREADABLE`.

use crate::finding::Place;
use crate::rule::{Context, rule};
use crate::skill::State;

rule! {
    /// The folder or its SKILL.md cannot be read
    ///
    /// ## What it does
    /// Reports a folder that cannot be listed, and a SKILL.md that cannot be opened, is a folder or a pipe, or is
    /// larger than 8 MiB. The other skills of the same call are still checked.
    ///
    /// ## Why is this bad?
    /// What cannot be read was not checked; counting it as fine would be wrong.
    ///
    /// ## Example
    /// ```console
    /// chmod 000 pdf-forms/SKILL.md
    /// ```
    ///
    /// ## Use instead
    /// ```console
    /// chmod 644 pdf-forms/SKILL.md
    /// ```
    UNREADABLE, level: Error, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    match &context.skill.state {
        State::Unreadable(error) => {
            context
                .report(Place::folder(), format!("the folder cannot be read: {error}"))
                .hint("check the permissions of the folder");
        }
        State::BadSkillMd(error) => {
            context
                .report(Place::skill_md_file(), format!("SKILL.md {error}"))
                .hint("SKILL.md must be a readable text file");
        }
        State::Missing | State::NotFolder | State::NoSkillMd { .. } | State::Read(_) => {}
    }
}
