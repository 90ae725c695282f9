//! `MODEL_VALUE`.

use crate::rule::value::nearest;
use crate::rule::{Context, rule};

rule! {
    /// `model` names no model of Claude Code
    ///
    /// ## What it does
    /// Reports a `model` that is none of the short names, `inherit`, or the full name of a Claude model. Off by
    /// default, because other agents read the key too; the `claude-code` profile warns.
    ///
    /// ## Why is this bad?
    /// Claude Code fails when the skill is called, or takes another model than the one that was meant.
    ///
    /// ## Example
    /// ```yaml
    /// model: sonet
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// model: sonnet
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills, `model`: the values of `/model`, or `inherit`
    MODEL_VALUE, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// Short names.
const ALIASES: [&str; 7] = ["inherit", "default", "sonnet", "opus", "haiku", "opusplan", "best"];

/// How full names start: of the vendor, and of the clouds that offer its models.
const FULL_NAMES: [&str; 4] = ["claude-", "anthropic.claude-", "anthropic/claude-", "arn:aws:bedrock:"];

fn check(context: &mut Context<'_>) {
    let Some((node, model)) = context.string("model") else { return };
    if is_known(model) {
        return;
    }
    let reported = context.report_at(node.span, format!("model `{model}` is not known to Claude Code"));
    match nearest(model, &ALIASES) {
        Some(alias) => reported.hint(format!("did you mean `{alias}`?")),
        None => reported.hint(format!("use one of `{}`, or a full name", ALIASES.join("`, `"))),
    };
}

fn is_known(model: &str) -> bool {
    // `sonnet[1m]` asks for a longer context.
    let name = model.split('[').next().unwrap_or(model);
    let without_region = name.split_once('.').filter(|(region, _)| region.len() <= 6).map_or(name, |(_, rest)| rest);
    let starts = |name: &str| FULL_NAMES.iter().any(|full| name.starts_with(full));
    ALIASES.contains(&name) || starts(name) || starts(without_region)
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn short_and_full_names_are_known() {
        for model in [
            "sonnet",
            "inherit",
            "opus[1m]",
            "claude-sonnet-4-5",
            "us.anthropic.claude-opus-4-1-20250805-v1:0",
            "global.anthropic.claude-x",
        ] {
            assert!(is_known(model), "{model}");
        }
        for model in ["sonet", "gpt-5", "", "Sonnet", "claude"] {
            assert!(!is_known(model), "{model}");
        }
    }
}
