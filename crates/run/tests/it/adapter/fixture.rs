//! Recorded streams: `testdata/transcripts/AGENT/CASE.jsonl` with `CASE.meta.json` beside it.

use std::path::PathBuf;

use serde_json::Value;
use skillgauge_format::transcript::{ExitStatus, Stop, Transcript};
use skillgauge_run::agent::adapter::{AdapterKind, Context, Exit, InstalledSkill, adapter};

/// The body of the skill that all recordings used.
pub(crate) const BODY: &str = "# csv-report\n\nRead the CSV, run `python3 scripts/sum.py`, write report.md. See references/style.md.\n";

#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    pub(crate) agent: String,
    pub(crate) case: String,
    pub(crate) stream: Vec<u8>,
    meta: Value,
}

impl Fixture {
    pub(crate) fn load(agent: &str, case: &str) -> Self {
        let folder = folder().join(agent);
        Self {
            agent: agent.to_owned(),
            case: case.to_owned(),
            stream: fs_err::read(folder.join(format!("{case}.jsonl"))).unwrap(),
            meta: serde_json::from_slice(
                &fs_err::read(folder.join(format!("{case}.meta.json"))).unwrap(),
            )
            .unwrap(),
        }
    }

    /// Every recorded stream of an agent, by name.
    pub(crate) fn all(agent: &str) -> Vec<Self> {
        let mut cases: Vec<String> = fs_err::read_dir(folder().join(agent))
            .unwrap()
            .filter_map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .into_string()
                    .unwrap()
                    .strip_suffix(".jsonl")
                    .map(ToOwned::to_owned)
            })
            .collect();
        cases.sort();
        cases.iter().map(|case| Self::load(agent, case)).collect()
    }

    pub(crate) fn kind(&self) -> &'static AdapterKind {
        adapter(&self.agent).unwrap()
    }

    /// What the harness saw of the process.
    pub(crate) fn exit(&self) -> Exit {
        let rc = i32::try_from(self.meta["rc"][0].as_i64().unwrap()).unwrap();
        let stop = (self.meta["killed"] == "timeout9").then_some(Stop::Timeout);
        let (code, signal) = if rc < 0 { (None, Some(-rc)) } else { (Some(rc), None) };
        Exit {
            status: Some(ExitStatus { code, signal, stop }),
            stderr: self.meta["stderr"].as_str().unwrap().to_owned(),
        }
    }

    /// The stream's lines as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.stream.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    pub(crate) fn read(&self) -> Transcript {
        self.kind().read(context(&self.agent), &self.stream, self.exit())
    }
}

/// The skill as it was installed for an agent.
pub(crate) fn context(agent: &str) -> Context {
    let root = match agent {
        "claude" => ".claude/skills",
        "codex" => ".agents/skills",
        "gemini" => ".gemini/skills",
        _ => ".opencode/skills",
    };
    let skill = InstalledSkill::new("csv-report", format!("/WORK/{root}/csv-report"), BODY);
    Context { skills: vec![skill], ..Context::default() }
}

/// Reads lines that were written by hand for a case that cannot be recorded.
pub(crate) fn read(agent: &str, lines: &[Value], exit: Exit) -> Transcript {
    let stream = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    adapter(agent).unwrap().read(context(agent), stream.as_bytes(), exit)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/transcripts")
}
