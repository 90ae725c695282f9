//! `EVALS_FORMAT`.

use std::path::Path;
use std::sync::Arc;

use skillgauge_format::problem::MeaningIssue;
use skillgauge_format::trigger::TriggerSet;
use skillgauge_format::{Issue, Kind, Level, Problem, Problems, ReadError, Suite, read};

use crate::finding::Place;
use crate::rule::{Context, rule};
use crate::skill::{FileKind, Skill};
use crate::text::Span;

rule! {
    /// The evals of the skill cannot be read
    ///
    /// ## What it does
    /// Reads `evals/evals.json` (a suite in either dialect, or a trigger set) and `evals/triggers.json` (a trigger set),
    /// and reports each mistake with its line and column. What is only unwise, such as a vague criterion, is left to
    /// `skillgauge lint-evals`.
    ///
    /// ## Why is this bad?
    /// The skill cannot be measured, and other tools skip or misread the evals.
    ///
    /// ## Example
    /// ```json
    /// {"evals": [{"promt": "Fill in form.pdf"}]}
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {"evals": [{"id": 1, "prompt": "Fill in form.pdf", "expectations": ["form.pdf is filled in"]}]}
    /// ```
    ///
    /// ## References
    /// - `skillgauge schema` prints the JSON Schema of each file
    EVALS_FORMAT, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// Larger files are not read here.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

fn check(context: &mut Context<'_>) {
    look(context, "evals/evals.json", |bytes| errors(Suite::read(bytes), bytes));
    look(context, "evals/triggers.json", trigger_set_errors);
}

fn look(context: &mut Context<'_>, path: &str, errors: impl Fn(&[u8]) -> Option<Problems>) {
    let path = Path::new(path);
    if !has_file(context.skill, path) {
        return;
    }
    let bytes = match read_file(&context.skill.path.join(path)) {
        Ok(bytes) => bytes,
        Err(reason) => {
            context
                .report(Place::file(path), format!("the evals cannot be read: {reason}"))
                .hint("make it a readable JSON file");
            return;
        }
    };
    let Some(problems) = errors(&bytes) else { return };
    // Places are shown in the text without a byte order mark.
    let text = String::from_utf8_lossy(&bytes);
    let source: Arc<str> = Arc::from(text.strip_prefix('\u{feff}').unwrap_or(&text));
    let mark = text.len() - source.len();
    for problem in problems.iter().filter(|problem| problem.level() == Level::Error) {
        let span = span_of(problem, mark, &source);
        context
            .report_in(path, &source, span, format!("{}: {problem}", problem.path))
            .hint("`skillgauge schema` shows the expected format");
    }
}

/// What is wrong with a suite. A trigger set may have the same name and is read as one.
fn errors<T>(result: Result<T, ReadError>, bytes: &[u8]) -> Option<Problems> {
    let problems = result.err()?.problems;
    let is_trigger_set = problems.iter().any(|problem| {
        matches!(&problem.issue, Issue::Meaning(MeaningIssue::OtherKind { found: Kind::TriggerSet, .. }))
    });
    if is_trigger_set { trigger_set_errors(bytes) } else { Some(problems) }
}

fn trigger_set_errors(bytes: &[u8]) -> Option<Problems> {
    read::<TriggerSet>(bytes).err().map(|error| error.problems)
}

fn has_file(skill: &Skill, path: &Path) -> bool {
    let found = skill.files.binary_search_by(|file| file.path.as_path().cmp(path));
    found.is_ok_and(|at| skill.files[at].kind == FileKind::File)
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let size = fs_err::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("it has {size} bytes"));
    }
    fs_err::read(path).map_err(|error| error.to_string())
}

/// The bytes of a problem in the text without a byte order mark, on character boundaries.
fn span_of(problem: &Problem, mark: usize, source: &str) -> Span {
    let at = |offset: usize| source.floor_char_boundary(offset.saturating_sub(mark));
    Span::new(at(problem.span.start), at(problem.span.end))
}
