//! `AGENT_WITHOUT_FORK`.

use crate::rule::value::is_set;
use crate::rule::{Context, rule};

rule! {
    /// `agent` without `context: fork`
    ///
    /// ## What it does
    /// Reports a skill that names an agent and does not run in a forked context.
    ///
    /// ## Why is this bad?
    /// Claude Code uses `agent` only together with `context: fork`, so the key has no effect.
    ///
    /// ## Example
    /// ```yaml
    /// agent: Explore
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// context: fork
    /// agent: Explore
    /// ```
    ///
    /// ## References
    /// - Validation contract, `AGENT_WITHOUT_FORK`
    AGENT_WITHOUT_FORK, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(entry) = context.entry("agent").filter(|entry| is_set(&entry.value)) else { return };
    if !matches!(context.string("context"), Some((_, "fork"))) {
        context
            .report_at(entry.key.span, "agent is set but context is not `fork`")
            .hint("add `context: fork`, or remove `agent`");
    }
}
