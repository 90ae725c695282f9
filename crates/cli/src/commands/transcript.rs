//! `skillgauge transcript`.

use std::io::Read as _;
use std::path::Path;

use skillgauge_core::output::transcript_text::render_text;
use skillgauge_format::write;
use skillgauge_run::agent::adapter::{Context, Exit, adapter};

use super::Outcome;
use crate::args::{PlainFormat, TranscriptArgs};
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer};

/// A stream larger than this is not an agent's output.
const MAX_BYTES: u64 = 1 << 30;

pub(crate) fn run(args: &TranscriptArgs, printer: &Printer) -> Outcome {
    let stream = read(&args.file)?;
    let kind = adapter(&args.agent).ok_or_else(|| {
        CommandError::usage(
            format!("there is no agent `{}`", args.agent),
            "see `skillgauge transcript --help`",
        )
    })?;
    let exit = args.exit_code.map_or_else(Exit::unknown, Exit::code);
    let transcript = kind.read(Context::default(), &stream, exit);
    args.output.write(printer, |format| match format {
        PlainFormat::Text => Ok(render_text(&transcript)),
        PlainFormat::Json => write::to_text(&transcript).or_bug(),
    })?;
    Ok(ExitCode::Success)
}

fn read(file: &Path) -> Result<Vec<u8>, CommandError> {
    let mut stream = Vec::new();
    let count = if file == Path::new("-") {
        std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut stream)
    } else {
        fs_err::File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut stream))
    };
    if count.or_hint("check the path and the permissions")? as u64 > MAX_BYTES {
        let message = format!("{} has more than {MAX_BYTES} bytes", file.display());
        return Err(CommandError::usage(message, "cut it to the part that matters"));
    }
    Ok(stream)
}
