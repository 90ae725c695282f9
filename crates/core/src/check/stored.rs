//! A finished run, read from its folder: everything that checks need besides the outputs.

use std::path::{Path, PathBuf};

use skillgauge_format::evals::Timing;
use skillgauge_format::transcript::{EventKind, Transcript, TranscriptError};
use skillgauge_format::{Number, ReadError};

use super::context::{CheckContext, ScriptRunner};

/// Larger files are not read.
const MOST_BYTES: u64 = 512 << 20;

/// Why the folder of a run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoredRunError {
    /// There is no run there.
    #[error("{0:?} is not the folder of a run: it has neither outputs/ nor transcript.jsonl")]
    NoRun(PathBuf),
    /// A file cannot be read.
    #[error("a file of the run cannot be read")]
    Unreadable(#[source] std::io::Error),
    /// A file is too large.
    #[error("{path:?} has more than {MOST_BYTES} bytes")]
    TooLarge { path: PathBuf },
    #[error("{path:?} is not a transcript")]
    Transcript {
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: TranscriptError,
    },
    #[error("{path:?} is not right")]
    Timing {
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: ReadError,
    },
}

/// A run as its folder tells it.
#[derive(Debug)]
pub struct StoredRun {
    folder: PathBuf,
    outputs: PathBuf,
    transcript: Option<Transcript>,
    timing: Timing,
}

impl StoredRun {
    /// Reads `transcript.jsonl` and `timing.json`; either may be absent.
    pub fn read(folder: &Path) -> Result<Self, StoredRunError> {
        let outputs = folder.join("outputs");
        let path = folder.join("transcript.jsonl");
        let text = read(&path)?;
        if text.is_none() && !outputs.is_dir() {
            return Err(StoredRunError::NoRun(folder.to_owned()));
        }
        let transcript = match text {
            None => None,
            Some(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let transcript = Transcript::from_jsonl(&text);
                Some(transcript.map_err(|source| StoredRunError::Transcript { path, source })?)
            }
        };
        let path = folder.join("timing.json");
        let timing = match read(&path)? {
            None => Timing::default(),
            Some(bytes) => {
                let timing = skillgauge_format::read::<Timing>(&bytes);
                timing.map_err(|source| StoredRunError::Timing { path, source })?.value
            }
        };
        Ok(Self { folder: folder.to_owned(), outputs, transcript, timing })
    }

    pub fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    pub fn context<'r>(
        &'r self,
        skill_dir: Option<&'r Path>,
        skill_name: Option<&'r str>,
        inputs: &'r [PathBuf],
        scripts: &'r dyn ScriptRunner,
    ) -> CheckContext<'r> {
        CheckContext {
            run_dir: &self.folder,
            outputs: &self.outputs,
            skill_dir,
            skill_name,
            transcript: self.transcript.as_ref(),
            tokens: self.tokens(),
            seconds: self.seconds(),
            final_answer: self.final_answer(),
            inputs,
            scripts,
        }
    }

    fn tokens(&self) -> Option<u64> {
        let usage = self.transcript.as_ref().and_then(|transcript| transcript.end.usage);
        self.timing.total_tokens.or_else(|| usage.map(|usage| usage.total_tokens()))
    }

    fn seconds(&self) -> Option<f64> {
        let Timing { executor_duration_seconds, total_duration_seconds, duration_ms, .. } =
            &self.timing;
        let milliseconds = duration_ms.map(|duration| Number::as_f64(duration) / 1000.0);
        let agent = self.transcript.as_ref().and_then(|transcript| transcript.end.duration_ms);
        #[expect(clippy::cast_precision_loss, reason = "no run takes 2^53 milliseconds")]
        let agent = agent.map(|duration| duration as f64 / 1000.0);
        let timed = executor_duration_seconds.map(Number::as_f64).or(milliseconds);
        timed.or(total_duration_seconds.map(Number::as_f64)).or(agent)
    }

    fn final_answer(&self) -> Option<&str> {
        let transcript = self.transcript.as_ref()?;
        if let Some(text) = &transcript.end.final_text {
            return Some(text);
        }
        transcript.events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Text { text } if event.sub_agent.is_none() => Some(text.as_str()),
            _ => None,
        })
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, StoredRunError> {
    use std::io::Read as _;
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoredRunError::Unreadable(error)),
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(StoredRunError::Unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(StoredRunError::TooLarge { path: path.to_owned() });
    }
    Ok(Some(bytes))
}
