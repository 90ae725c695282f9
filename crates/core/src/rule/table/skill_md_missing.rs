//! `SKILL_MD_MISSING`.

use std::path::Path;

use crate::finding::{Fix, Place};
use crate::rule::{Context, rule};
use crate::skill::{SKILL_MD, State};

rule! {
    /// The folder has no SKILL.md
    ///
    /// ## What it does
    /// Reports a folder without a file of exactly this name, and says so when a file differs only in case.
    ///
    /// ## Why is this bad?
    /// Claude Code, Codex and Gemini CLI look for `SKILL.md` in exactly this spelling. A `skill.md` works on a
    /// file system that ignores case and is silently not found on one that does not.
    ///
    /// ## Example
    /// ```text
    /// pdf-forms/
    ///   skill.md
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// pdf-forms/
    ///   SKILL.md
    /// ```
    ///
    /// ## Fix
    /// `--fix` renames the file when there is exactly one that differs only in case.
    ///
    /// ## References
    /// - Validation contract, `SKILL_MD_MISSING`
    /// - agentskills.io, guide for client implementers: a file named exactly `SKILL.md`
    SKILL_MD_MISSING, level: Error, origin: Contract, since: "0.1.0", fixable: Yes, check: check
}

fn check(context: &mut Context<'_>) {
    let State::NoSkillMd { near } = &context.skill.state else { return };
    match near.as_slice() {
        [] => {
            context
                .report(Place::folder(), "missing SKILL.md")
                .hint("a skill is a folder with a SKILL.md; no skill was found below this folder either");
        }
        [only] => {
            context
                .report(Place::file(Path::new(only)), format!("missing SKILL.md; found `{only}`"))
                .hint(format!("rename `{only}` to `{SKILL_MD}`: agents look for exactly this name"))
                .fix(Fix::RenameToSkillMd { from: only.clone() });
        }
        [first, ..] => {
            let names = near.join("`, `");
            context
                .report(Place::file(Path::new(first)), format!("missing SKILL.md; found `{names}`"))
                .hint(format!("keep one of them and name it `{SKILL_MD}`"));
        }
    }
}
