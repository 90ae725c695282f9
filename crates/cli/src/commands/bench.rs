//! `skillgauge bench`.

use std::io::Write as _;
use std::time::SystemTime;

use skillgauge_core::benchmark::{self, Aggregate, BenchmarkError, Settings, Standing};
use skillgauge_format::part::Timestamp;
use skillgauge_run::agent::timestamp;

use super::Outcome;
use crate::args::{BenchArgs, BenchFormat};
use crate::printer::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &BenchArgs, printer: &Printer) -> Outcome {
    let settings = Settings {
        skill_name: args.skill_name.clone(),
        skill_path: args.skill_path.clone(),
        timestamp: Some(Timestamp::new(timestamp(SystemTime::now()))),
        seed: args.seed,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..Settings::default()
    };
    let (aggregate, written) = benchmark::write(&args.iteration, &settings).map_err(failure)?;
    let mut out = printer.stdout();
    out.write_all(shown(&aggregate, args.out_format, printer)?.as_bytes())?;
    out.flush()?;
    for path in written {
        printer.say(&format!("wrote {}", path.display()));
    }
    let standing = aggregate.standing();
    // The process ends here, and with it all memory at once; giving back each of many small texts would only take time.
    std::mem::forget(aggregate);
    Ok(match standing {
        Standing::Fine => ExitCode::Success,
        Standing::Worse => ExitCode::Failure,
        Standing::Broken => {
            printer.say(
                "error: nothing was measured that could tell; see the runs that are not measured",
            );
            ExitCode::Incomplete
        }
    })
}

fn shown(
    aggregate: &Aggregate,
    format: BenchFormat,
    printer: &Printer,
) -> Result<String, CommandError> {
    match format {
        BenchFormat::Text => Ok(aggregate.summary_text(printer.style())),
        BenchFormat::Markdown => Ok(aggregate.to_markdown()),
        BenchFormat::Json => aggregate.to_json().map_err(failure),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is made for `map_err`")]
fn failure(error: BenchmarkError) -> CommandError {
    CommandError::usage(error.to_string(), error.hint())
}
