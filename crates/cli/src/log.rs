//! What happens inside, for those who want to know: `-v` on standard error, `--log-file` in full.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use skillgauge_run::model::Secret;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

use crate::error::{CommandError, Explain as _};
use crate::session;

/// What our own crates are called.
const OURS: &str = "skillgauge";
const SAID: &str = "skillgauge::printer";

/// Begins to log: so many `-v` to standard error, and everything to a file.
pub(crate) fn start(verbosity: u8, file: Option<&Path>) -> Result<(), CommandError> {
    if verbosity == 0 && file.is_none() {
        return Ok(());
    }
    let secrets: Arc<[Secret]> = session::environment().secrets().into();
    let level = match verbosity {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let to_stderr = {
        let secrets = Arc::clone(&secrets);
        fmt::layer()
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .with_writer(move || Scrubbed { to: io::stderr(), secrets: Arc::clone(&secrets) })
            // What the printer says is on standard error already.
            .with_filter(
                Targets::new().with_target(OURS, level).with_target(SAID, LevelFilter::OFF),
            )
    };
    let file = file.map(|file| {
        let options = fs_err::OpenOptions::new().create(true).append(true).open(file);
        options.map(|file| Arc::new(file.into_file())).or_hint("name another file with --log-file")
    });
    let to_file = file.transpose()?.map(|file| {
        let filter =
            Targets::new().with_target(OURS, LevelFilter::TRACE).with_default(LevelFilter::INFO);
        fmt::layer()
            .with_ansi(false)
            .with_writer(move || Scrubbed { to: Arc::clone(&file), secrets: Arc::clone(&secrets) })
            .with_filter(filter)
    });
    // Only a test can have begun before.
    let _ = registry().with(to_stderr).with(to_file).try_init();
    Ok(())
}

/// Keeps what the user's variables hold as secrets out of a log. Each line comes in one piece.
struct Scrubbed<W> {
    to: W,
    secrets: Arc<[Secret]>,
}

impl<W: Write> Write for Scrubbed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for secret in self.secrets.iter() {
            text = text.replace(secret.expose(), skillgauge_run::model::REDACTED);
        }
        self.to.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
