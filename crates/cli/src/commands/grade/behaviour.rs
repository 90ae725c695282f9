//! `skillgauge grade --transcript FILE --assertions FILE`.

use std::path::Path;

use serde::Deserialize as _;
use serde_json::Value;
use skillgauge_format::part::Statement;
use skillgauge_format::transcript::Transcript;
use skillgauge_format::write;
use skillgauge_run::agent::adapter::{Context, Exit, adapter};
use skillgauge_run::grade::grade_behaviour;

use crate::args::GradeArgs;
use crate::commands::Outcome;
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer, judge};

/// A file larger than this is neither a transcript nor a list of assertions.
const MAX_BYTES: u64 = 1 << 30;

pub(super) fn run(
    args: &GradeArgs,
    transcript: &Path,
    assertions: &Path,
    session: &Session,
    printer: &Printer,
) -> Outcome {
    let assertions = read_assertions(assertions)?;
    let transcript = read_transcript(transcript, args.agent.as_deref())?;
    let judge = judge::open(
        session,
        args.judge.as_deref(),
        None,
        (args.judge_votes, args.judge_context, &args.budget),
    )?;
    let work = grade_behaviour(&transcript, &assertions, &judge, &session.cancel);
    let (grading, cautions) = session.block_on(printer, work)?;
    for warning in &cautions {
        printer.say(&format!("warning: {warning}"));
    }
    let grading = match grading {
        Ok(grading) => grading,
        Err(_) if session.cancel.is_cancelled() => return Ok(ExitCode::Interrupted),
        Err(reason) => {
            printer.say(&format!("error: {reason}"));
            return Ok(ExitCode::Incomplete);
        }
    };
    let text = write::to_text(&grading).or_bug()?;
    printer.print(&text)?;
    let is_passed = grading.assertions.iter().all(|assertion| assertion.passed);
    Ok(if is_passed { ExitCode::Success } else { ExitCode::Failure })
}

fn read_transcript(path: &Path, agent: Option<&str>) -> Result<Transcript, CommandError> {
    let bytes = read(path)?;
    if let Some(kind) = agent.and_then(adapter) {
        return Ok(kind.read(Context::default(), &bytes, Exit::unknown()));
    }
    Transcript::from_jsonl(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        CommandError::usage(
            format!("{}: {error}", path.display()),
            "--agent NAME reads the raw event stream of an agent",
        )
    })
}

/// A JSON array of texts or objects with a text, alone or as `assertions` of an object; or one text on each line.
fn read_assertions(path: &Path) -> Result<Vec<Statement>, CommandError> {
    let bytes = read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    let statements = if text.starts_with(['[', '{']) {
        json_assertions(text).map_err(|message| {
            CommandError::usage(
                format!("{}: {message}", path.display()),
                "write [\"The agent ...\", {\"text\": \"It ...\"}] or {\"assertions\": [...]}, or one assertion on each line",
            )
        })?
    } else {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Statement::from).collect()
    };
    if statements.is_empty() || statements.iter().any(|it| it.text().trim().is_empty()) {
        let message = format!("{} has no assertion, or one without a text", path.display());
        return Err(CommandError::usage(message, "write one assertion on each line"));
    }
    Ok(statements)
}

/// What is wrong with it is said for people.
fn json_assertions(text: &str) -> Result<Vec<Statement>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let items = match value {
        Value::Array(items) => items,
        Value::Object(mut fields) => match fields.remove("assertions") {
            Some(Value::Array(items)) => items,
            Some(_) => return Err("`assertions` is not a list".to_owned()),
            None => return Err("the object has no list `assertions`".to_owned()),
        },
        _ => return Err("expected a list of assertions".to_owned()),
    };
    let statement = |(item, number): (Value, usize)| {
        Statement::deserialize(item)
            .map_err(|_| format!("assertion {number} is neither a text nor an object with a text"))
    };
    items.into_iter().zip(1..).map(statement).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let hint = "check the path and the permissions";
    if fs_err::metadata(path).or_hint(hint)?.len() > MAX_BYTES {
        let message = format!("{} has more than {MAX_BYTES} bytes", path.display());
        return Err(CommandError::usage(message, "cut it to the part that matters"));
    }
    fs_err::read(path).or_hint(hint)
}
