//! `skillgauge schema`.

use std::io::Write as _;
use std::path::Path;

use skillgauge_core::finding::Level;
use skillgauge_core::output::snippet::{Drawing, draw};
use skillgauge_core::text::{Span, table};
use skillgauge_format::json::{self, LIMITS};
use skillgauge_format::transcript::{Transcript, TranscriptError};
use skillgauge_format::{Kind, Problem, problem};

use super::Outcome;
use crate::args::SchemaArgs;
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &SchemaArgs, printer: &Printer) -> Outcome {
    let kind = args.kind.as_deref().map(kind_named).transpose()?;
    let mut out = printer.stdout();
    if args.check.is_empty() {
        let text = kind.map_or_else(listing, |kind| kind.schema_text().to_owned());
        out.write_all(text.as_bytes())?;
        out.flush()?;
        return Ok(ExitCode::Success);
    }
    let mut code = ExitCode::Success;
    for file in &args.check {
        if check(file, kind, &mut out, printer)? > 0 {
            code = ExitCode::Failure;
        }
    }
    out.flush()?;
    Ok(code)
}

/// Writes every problem of a file and a verdict; the number of errors.
fn check(
    file: &Path,
    kind: Option<Kind>,
    out: &mut impl std::io::Write,
    printer: &Printer,
) -> Result<usize, CommandError> {
    let bytes = read(file)?;
    if let Some(transcript) = transcript_lines(kind, &bytes) {
        return Ok(match transcript {
            Ok(_) => {
                writeln!(out, "{} is a valid transcript file", file.display())?;
                0
            }
            Err(error) => {
                let path = file.display();
                writeln!(out, "error: {path}: {error}\n\n{path} is not a valid transcript file")?;
                1
            }
        });
    }
    let detected = kind.map_or_else(|| detect(file, &bytes), |kind| Ok(Some(kind)))?;
    // What is not JSON is not JSON for any kind.
    let problems =
        detected.or_else(|| Kind::all().next()).map(|kind| kind.check(&bytes)).unwrap_or_default();
    for problem in &problems {
        out.write_all(shown(problem, file, &bytes, printer).as_bytes())?;
    }
    if problems.omitted() > 0 {
        writeln!(out, "and {} more problems\n", problems.omitted())?;
    }
    let verdict = if problems.errors() > 0 { "is not a valid" } else { "is a valid" };
    let name = detected.map_or("JSON", Kind::name);
    writeln!(out, "{} {verdict} {name} file", file.display())?;
    Ok(problems.errors())
}

/// A transcript as it is stored, a line for each event; nothing for any other file.
fn transcript_lines(
    kind: Option<Kind>,
    bytes: &[u8],
) -> Option<Result<Transcript, TranscriptError>> {
    if kind.is_some_and(|kind| kind != Kind::Transcript) {
        return None;
    }
    let text = str::from_utf8(bytes).ok()?;
    let (header, _) = text.split_once('\n')?;
    let header = json::parse(header.as_bytes()).ok()?;
    let is_header =
        Kind::detect(&header.root) == Some(Kind::Transcript) && !header.root.has("events");
    is_header.then(|| Transcript::from_jsonl(text))
}

fn listing() -> String {
    let row =
        |kind: Kind| [kind.name(), kind.usual_place(), kind.title()].map(str::to_owned).to_vec();
    table(&Kind::all().map(row).collect::<Vec<_>>(), &[0, 1, 2])
}

fn kind_named(name: &str) -> Result<Kind, CommandError> {
    Kind::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Kind::all().map(Kind::name).collect();
        let hint = format!("there are {}", names.join(", "));
        CommandError::usage(format!("there is no file kind `{name}`"), hint)
    })
}

/// A file that is too large is refused before it is read into memory.
fn read(file: &Path) -> Result<Vec<u8>, CommandError> {
    let hint = "check the path and the permissions of the file";
    let size = fs_err::metadata(file).or_hint(hint)?.len();
    LIMITS.check_size(size).map_err(|issue| {
        CommandError::usage(format!("{}: {issue}", file.display()), "split the file")
    })?;
    fs_err::read(file).or_hint(hint)
}

/// The kind that the file has the shape of; none when it is not JSON at all.
fn detect(file: &Path, bytes: &[u8]) -> Result<Option<Kind>, CommandError> {
    let Ok(document) = json::parse(bytes) else { return Ok(None) };
    Kind::detect(&document.root).map(Some).ok_or_else(|| {
        CommandError::usage(
            format!("{} has the shape of no known file", file.display()),
            "name the kind, as in `skillgauge schema evals-suite --check FILE`",
        )
    })
}

fn shown(problem: &Problem, file: &Path, bytes: &[u8], printer: &Printer) -> String {
    let span = Span::new(problem.span.start, problem.span.end);
    // Bytes that are not text cannot be shown.
    let place = str::from_utf8(bytes).ok().map(|text| (text, span));
    let path = match place {
        Some(_) => file.display().to_string(),
        None => format!("{}:{}:{}", file.display(), problem.place.line, problem.place.column),
    };
    let drawing = Drawing {
        level: match problem.level() {
            problem::Level::Error => Level::Error,
            problem::Level::Warning => Level::Warning,
        },
        code: problem.code(),
        message: &format!("{}: {problem}", problem.path),
        path: &path,
        place,
        hint: None,
    };
    draw(&drawing, printer.style())
}
