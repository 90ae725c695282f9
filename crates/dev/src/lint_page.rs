//! docs/lint-evals.md: the documentation comments of the lint rules.

use std::fmt::Write as _;

use skillgauge_core::output::explain;
use skillgauge_core::suite_lint::{LintGroup, LintRule, lint_rules};

use crate::{Generated, NOTICE};

const INTRODUCTION: &str = "\
# Rules of `skillgauge lint-evals`

`skillgauge lint-evals SKILL` looks at `evals/evals.json` and `evals/triggers.json` and needs no model. \
`skillgauge explain CODE` shows one of these texts. A level `warning/error` is a warning, and an error under `--strict`; \
`--strict` also makes the command exit with 1 when there are only warnings.

`--reference DIR` tries the checks: `DIR/<case id>/` holds the files of a good answer, as they would be in `outputs/`, and must \
pass all checks of its case that look at files; an empty answer must fail every case. What only a judge or a transcript could \
tell is named in a note.

`--format json` writes one object (`skillgauge schema lint-report`): `format`, `files`, `findings` (each with `file`, `code`, `level`, `path`, `line`, `column`, \
`message` and, where there is one, `hint`), `notes`, and a `summary` with `cases`, `queries`, `errors`, `warnings` and \
`omitted`. Paths are relative to the working folder, lines and columns count from 1.
";

pub(crate) fn generate() -> Generated {
    let mut page = format!("{NOTICE}\n\n{INTRODUCTION}\n");
    for group in LintGroup::ALL {
        let _ = writeln!(
            page,
            "## {}\n\n| Code | Level | What it is about |\n|---|---|---|",
            group.title()
        );
        for rule in lint_rules().filter(|rule| rule.group == group) {
            let (code, level, title) = (rule.code, explain::level(rule.level), rule.title());
            let _ = writeln!(page, "| [`{code}`](#{code}) | {level} | {title} |");
        }
        page.push('\n');
    }
    for rule in lint_rules() {
        section(&mut page, rule);
    }
    Generated { path: "docs/lint-evals.md".into(), content: page }
}

/// A rule's documentation, its headings two levels further down.
fn section(page: &mut String, rule: &LintRule) {
    let _ = writeln!(page, "## {}\n\n{}. {}\n", rule.code, rule.title(), explain::lint_facts(rule));
    let mut in_code = false;
    for line in rule.body().lines() {
        in_code ^= line.starts_with("```");
        let heading = line.starts_with("## ") && !in_code;
        let _ = writeln!(page, "{}{line}", if heading { "#" } else { "" });
    }
    page.push('\n');
}
