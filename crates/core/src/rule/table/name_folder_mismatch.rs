//! `NAME_FOLDER_MISMATCH`.

use unicode_normalization::UnicodeNormalization as _;

use crate::rule::{Context, rule};

rule! {
    /// `name` differs from the folder's name
    ///
    /// ## What it does
    /// Compares the name with the folder's real name, also when the path was given as `.`, with a trailing slash
    /// or through a link; the link's own name is accepted too. Different ways to write the same Unicode text
    /// count as equal.
    ///
    /// ## Why is this bad?
    /// The specification requires them to be equal. VS Code does not load such a skill; Claude Code goes by the
    /// folder, Codex by the name, so that the same skill answers to two names.
    ///
    /// ## Example
    /// ```text
    /// forms/SKILL.md        name: pdf-forms
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// pdf-forms/SKILL.md    name: pdf-forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `NAME_FOLDER_MISMATCH`
    NAME_FOLDER_MISMATCH, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, name)) = context.string("name") else { return };
    // The usual case costs no system call.
    if name.is_empty() || context.skill.path.file_name().is_some_and(|folder| folder == name) {
        return;
    }
    let folders = context.skill.folder_names();
    let Some(folder) = folders.first() else { return };
    if folders.iter().any(|folder| folder.nfkc().eq(name.nfkc())) {
        return;
    }
    context
        .report_at(node.span, format!("name `{name}` does not match folder name `{folder}`"))
        .hint("rename the folder or change the name");
}
