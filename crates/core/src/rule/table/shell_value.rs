//! `SHELL_VALUE`.

use crate::rule::value::expect_one_of;
use crate::rule::{Context, rule};

rule! {
    /// `shell` is not a known shell
    ///
    /// ## What it does
    /// Reports a `shell` other than `bash` and `powershell`.
    ///
    /// ## Why is this bad?
    /// Claude Code ignores the key then, and commands in the skill run in a shell that they were not written for.
    ///
    /// ## Example
    /// ```yaml
    /// shell: zsh
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// shell: bash
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills, `shell`
    SHELL_VALUE, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    expect_one_of(context, "shell", &["bash", "powershell"]);
}
