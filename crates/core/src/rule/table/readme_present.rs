//! `README_PRESENT`.

use crate::finding::Place;
use crate::rule::value::and_more;
use crate::rule::{Context, rule};
use crate::skill::{FileEntry, FileKind};

rule! {
    /// The skill's folder has a README.md
    ///
    /// ## What it does
    /// Reports the first README.md, in any case, anywhere below the folder, and how many more there are. Nested
    /// skills, ignored files and `node_modules` do not count. Under `--strict` it is an error.
    ///
    /// ## Why is this bad?
    /// Agents read SKILL.md. A README.md beside it says the same things to people, drifts apart, and is sometimes
    /// read by the agent as well.
    ///
    /// ## Example
    /// ```text
    /// pdf-forms/
    ///   README.md
    ///   SKILL.md
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// README.md        of the repository, for people
    /// pdf-forms/
    ///   SKILL.md
    /// ```
    ///
    /// ## References
    /// - Validation contract, `README_PRESENT`
    README_PRESENT, level: WarningOrStrictError, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let skill = context.skill;
    let mut readmes = skill.files.iter().filter(|file| is_readme(file));
    let Some(first) = readmes.next() else { return };
    let more = and_more(readmes.count(), "file");
    context
        .report(
            Place::file(&first.path),
            format!("README.md found in the skill folder: `{}`{more}", first.path.display()),
        )
        .hint("keep instructions in SKILL.md; a page for people belongs outside of the skill");
}

fn is_readme(file: &FileEntry) -> bool {
    file.kind != FileKind::Folder
        && file.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("README.md"))
}
