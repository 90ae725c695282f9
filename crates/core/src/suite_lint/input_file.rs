//! The input files of cases: are they there, and inside of the skill or its workspace.

use std::path::Path;

use skillgauge_format::Dialect;

use super::report::Report;
use super::table::suite::MISSING_INPUT;
use super::text::quoted;
use super::view::{SuiteView, Text, TriggerView};

/// Looks for the files of those cases whose ids are wanted.
pub(super) fn check(
    suite: &SuiteView<'_>,
    skill: &Path,
    workspace: Option<&Path>,
    is_wanted: impl Fn(&str) -> bool,
    report: &mut Report<'_>,
) {
    // The order in which `run` looks: the seeds differ in what a path is relative to.
    let skill = Some(skill);
    let roots = match suite.dialect {
        Dialect::Cases => [workspace, skill],
        Dialect::Evals | Dialect::Trigger => [skill, workspace],
    };
    let roots: Vec<&Path> = roots.into_iter().flatten().collect();
    let cases = suite.cases.iter().filter(|case| is_wanted(&case.id));
    for file in cases.flat_map(|case| &case.files) {
        check_one(file, &roots, report);
    }
}

/// Looks for the files of a trigger set.
pub(super) fn check_queries(
    set: &TriggerView<'_>,
    skill: &Path,
    workspace: Option<&Path>,
    report: &mut Report<'_>,
) {
    let roots: Vec<&Path> = [Some(skill), workspace].into_iter().flatten().collect();
    for file in set.queries.iter().flat_map(|query| &query.files) {
        check_one(file, &roots, report);
    }
}

fn check_one(file: &Text<'_>, roots: &[&Path], report: &mut Report<'_>) {
    let path = Path::new(file.text);
    // Paths that lead out as they are written are the reader's to report, and are not looked up.
    if path.is_absolute()
        || file.text.trim().is_empty()
        || file.text.split(['/', '\\']).any(|part| part == "..")
    {
        return;
    }
    let Some(found) = roots.iter().map(|root| root.join(path)).find(|path| path.exists()) else {
        let places: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        let message = format!("the input file {} does not exist", quoted(file.text));
        report.add(
            &MISSING_INPUT,
            &file.spot,
            message,
            format!("looked in {}", places.join(" and ")),
        );
        return;
    };
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    let is_inside = real(&found).is_some_and(|file| {
        roots.iter().filter_map(|root| real(root)).any(|root| file.starts_with(root))
    });
    if !is_inside {
        let message =
            format!("the input file {} is a link that leads out of the skill", quoted(file.text));
        report.add(&MISSING_INPUT, &file.spot, message, "copy the file into the skill".to_owned());
    }
}
