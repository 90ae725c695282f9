//! `DEEP_LINK_TARGET`.

use crate::rule::scan::link::{Destination, destination};
use crate::rule::{Context, rule};

rule! {
    /// A link leaves the skill's folder
    ///
    /// ## What it does
    /// Reports Markdown links, images and link definitions whose path, once normalised, leads out of the folder:
    /// `../`, an absolute path, `~/`, a `file:` address, also when written with `%2e` or `\`. Links in code do not
    /// count, and `a/../b` stays inside.
    ///
    /// ## Why is this bad?
    /// The link breaks as soon as the skill is installed on its own, packaged or copied.
    ///
    /// ## Example
    /// ```markdown
    /// See [the shared rules](../shared/rules.md).
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// See [the rules](references/rules.md).
    /// ```
    ///
    /// ## References
    /// - Validation contract, `DEEP_LINK_TARGET`
    DEEP_LINK_TARGET, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    for link in &document.markdown().links {
        if destination(&link.target) == Some(Destination::Outside) {
            context
                .report_at(link.span, format!("link escapes the skill directory: `{}`", link.target))
                .hint("it breaks when the skill is installed alone; copy the file into the skill");
        }
    }
}
