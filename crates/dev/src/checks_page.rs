//! docs/checks.md: the types of structural checks, from their table in `crates/format`.

use std::fmt::Write as _;

use skillgauge_format::evals::{CHECK_TYPES, CheckTypeInfo};

use crate::{Generated, NOTICE};

const INTRODUCTION: &str = "\
# Structural checks

A check is something about a finished run that a program can decide. It stands in a suite under `structural_expectations`; `skillgauge \
run` and `skillgauge check` evaluate it and write the result to the run's `structural.json`. What is wrong with a check (a pattern that \
cannot run, a keyword of a schema that is not understood) is said before anything is run.

Every check has an `id`, a `type` and a `description`. With `critical: true` the structural gate closes when it fails, and the judge is not \
asked. With `not: true` it passes when its statement is false. A check that could not be decided (a missing transcript, a file that is \
too large or was not kept) fails either way, and its evidence says why.

**Files.** A `pattern` is a glob over the run's `outputs/`: without `/` it matches file names at any depth, with `/` paths relative to \
`outputs/`; `*`, `?`, `[a-z]`, `**` and `{a,b}` work. Hidden files match only when the pattern names them, as in `.github/**`. Files that \
the run left and that were not kept (larger than 32 MiB, past the 5,000th, past 256 MiB in all) count as there: `run.json` has their names, and what \
is in them is not decided. Links are not followed out of `outputs/`, nor to folders; a link to a file of the work folder is kept as a copy of \
that file. Files are read as Python reads text: as UTF-8, with every line end as a newline and U+FFFD for bytes that are no text. Binary files \
are read in the same way, and the evidence says so. UTF-16 and files of more than 32 MiB are not searched, so a check that depends on them is not \
decided.

**Texts.** `match` is a text, `match_any` a list of which one is enough, `match_regex` a regular expression as Python's `re.search` reads it: \
`(?P<name>...)`, `(?P=name)`, look-around, conditionals, inline flags, `\\Z`. `$` matches before a final newline, `^` and `$` match at lines \
only with `(?m)`, and `\\d`, `\\w`, `\\s` know Unicode. Refused are `\\N{NAME}`, surrogates, and conditions on a group that is still open.

**Evidence** names files and lines, at most five.
";

pub(crate) fn generate() -> Generated {
    let mut page = format!("{NOTICE}\n\n{INTRODUCTION}\n");
    page.push_str("| Type | Fields | What it says |\n|---|---|---|\n");
    for info in CHECK_TYPES {
        let (name, fields, about) = (info.name, fields(info), info.about);
        let _ = writeln!(page, "| [`{name}`](#{name}) | {fields} | {about} |");
    }
    for info in CHECK_TYPES {
        let _ = write!(page, "\n## {}\n\n{}", info.name, info.about);
        if !info.details.is_empty() {
            let _ = write!(page, " {}", info.details);
        }
        let _ = write!(page, "\n\n```json\n{}\n```\n", info.example);
    }
    Generated { path: "docs/checks.md".into(), content: page }
}

fn fields(info: &CheckTypeInfo) -> String {
    let quoted = |fields: &[&str], between: &str| {
        let quoted: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
        quoted.join(between)
    };
    let optional = |fields: &[&str], between: &str| {
        if fields.is_empty() { String::new() } else { format!("[{}]", quoted(fields, between)) }
    };
    let parts = [
        quoted(info.required, ", "),
        quoted(info.exactly_one, " or "),
        optional(info.at_most_one, " or "),
        optional(info.optional, ", "),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "—".to_owned() } else { parts.join(", ") }
}
