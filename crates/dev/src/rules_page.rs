//! docs/rules.md: the documentation comments of the rules.

use std::fmt::Write as _;

use skillgauge_core::finding::Level;
use skillgauge_core::output::explain;
use skillgauge_core::profile::PROFILES;
use skillgauge_core::rule::{Fixable, Origin, RULES, Rule};

use crate::{Generated, NOTICE};

pub(crate) fn generate() -> Generated {
    let mut page = format!("{NOTICE}\n\n# Rules of `skillgauge validate`\n\n");
    page.push_str(
        "`skillgauge explain CODE` shows one of these texts. A level `warning/error` is a warning, and an error \
         under `--strict`; `off` rules report only in a profile that turns them on.\n\n",
    );
    table(&mut page, "The 30 codes of the validation contract", Origin::Contract);
    table(&mut page, "Extra rules", Origin::Extra);
    profiles(&mut page);
    for rule in RULES {
        section(&mut page, rule);
    }
    Generated { path: "docs/rules.md".into(), content: page }
}

fn table(page: &mut String, title: &str, origin: Origin) {
    let _ = writeln!(
        page,
        "## {title}\n\n| Code | Level | What it is about | `--fix` |\n|---|---|---|---|"
    );
    for rule in RULES.iter().filter(|rule| rule.origin == origin) {
        let anchor = rule.code.to_lowercase();
        let (level, title) = (explain::level(rule.level), rule.title());
        let fix = if rule.fixable == Fixable::Yes { "yes" } else { "" };
        let _ = writeln!(page, "| [`{}`](#{anchor}) | {level} | {title} | {fix} |", rule.code);
    }
    page.push('\n');
}

/// What each profile sees differently, and why.
fn profiles(page: &mut String) {
    page.push_str("## Profiles\n\nWith several profiles, the most serious level counts.\n\n");
    for profile in PROFILES {
        let _ = writeln!(page, "### `--profile {}`\n\n{}.\n", profile.name, profile.summary);
        let _ = writeln!(page, "Keys: `{}`\n", profile.keys.join("`, `"));
        if profile.differences.is_empty() {
            continue;
        }
        page.push_str("| Code | Level here | Why |\n|---|---|---|\n");
        for difference in profile.differences {
            let level = difference.level.map_or("off", Level::as_str);
            let _ = writeln!(page, "| `{}` | {level} | {} |", difference.code, difference.reason);
        }
        page.push('\n');
    }
}

/// A rule's documentation, its headings two levels further down.
fn section(page: &mut String, rule: &Rule) {
    let _ = writeln!(page, "## {}\n\n{}. {}\n", rule.code, rule.title(), explain::facts(rule));
    let mut in_code = false;
    for line in rule.body().lines() {
        in_code ^= line.starts_with("```");
        let heading = line.starts_with("## ") && !in_code;
        let _ = writeln!(page, "{}{line}", if heading { "#" } else { "" });
    }
    page.push('\n');
}
