//! `CONTEXT_FORK_NO_AGENT`.

use crate::rule::value::is_set;
use crate::rule::{Context, rule};

rule! {
    /// `context: fork` without `agent`
    ///
    /// ## What it does
    /// Reports a skill that runs in a forked context and does not say which agent runs it.
    ///
    /// ## Why is this bad?
    /// Claude Code takes the `general-purpose` agent then, which has every tool. Naming the agent makes that a
    /// decision.
    ///
    /// ## Example
    /// ```yaml
    /// context: fork
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// context: fork
    /// agent: Explore
    /// ```
    ///
    /// ## References
    /// - Validation contract, `CONTEXT_FORK_NO_AGENT`
    CONTEXT_FORK_NO_AGENT, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, "fork")) = context.string("context") else { return };
    if !context.entry("agent").is_some_and(|entry| is_set(&entry.value)) {
        context
            .report_at(node.span, "context is `fork` but no agent is set")
            .hint("add `agent:`; without it the agent is `general-purpose`");
    }
}
