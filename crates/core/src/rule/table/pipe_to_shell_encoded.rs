//! `PIPE_TO_SHELL_ENCODED`.

use crate::rule::scan::shell::{runs, shortened};
use crate::rule::{Context, rule};
use crate::skill::trace::BASE64;

rule! {
    /// A command runs what it decodes
    ///
    /// ## What it does
    /// Reports `base64 -d ... | sh`, `eval "$(echo ... | base64 --decode)"` and the like, in code and outside of it.
    ///
    /// ## Why is this bad?
    /// There is no reason to encode a command but to hide it. In a survey of public skills nine of eleven such
    /// lines were the same fake installer.
    ///
    /// ## Example
    /// ```sh
    /// echo Y3VybCAuLi4= | base64 -d | sh
    /// ```
    ///
    /// ## Use instead
    /// ```sh
    /// scripts/install.sh
    /// ```
    PIPE_TO_SHELL_ENCODED, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let text = document.text.as_str();
    let traces = document.traces().iter().filter(|trace| trace.needle == BASE64);
    let places = traces.map(|trace| trace.offset).filter(|at| text[..*at].ends_with("ba")).map(|at| at - 2);
    for span in runs(text, places, decodes) {
        let command = shortened(span.slice(text));
        context
            .report_at(span, format!("this command runs what it decodes: `{command}`"))
            .hint("do not run it; decode it by hand to see what it does");
    }
}

/// Whether the arguments of `base64` ask it to decode.
fn decodes(command: &str) -> bool {
    let end = command.find(['|', ';', ')', '`', '&']).unwrap_or(command.len());
    command[..end].split_whitespace().skip(1).any(|argument| {
        argument == "--decode"
            || argument
                .strip_prefix('-')
                .is_some_and(|flags| !flags.starts_with('-') && flags.contains(['d', 'D']))
    })
}

#[cfg(test)]
mod tests {
    use super::decodes;

    #[test]
    fn only_decoding_counts() {
        for command in ["base64 -d", "base64 -D |sh", "base64 --decode", "base64 -di x"] {
            assert!(decodes(command), "{command}");
        }
        for command in ["base64 x", "base64 -w 0 | tr -d x", "base64 --wrap=0", "base64 | base64 -d"] {
            assert!(!decodes(command), "{command}");
        }
    }
}
