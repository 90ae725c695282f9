//! The file `improve.json`: what a loop has done so far.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use skillgauge_format::LIMITS;
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::part::Timestamp;
use skillgauge_format::record::{IterationRecord, RecordVersion};

use super::{Conclusion, Measured};
use crate::comparison::Overall;
use crate::version::VersionNumber;
use crate::workspace::{Workspace, WorkspaceError, write_json};

const FILE: &str = "improve.json";
const FORMAT: &str = "improve";

/// What a loop has done so far. Written after each step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    /// Always `improve`.
    pub format: String,
    /// The version of the format.
    pub version: RecordVersion,
    /// The program that wrote it.
    pub skillgauge_version: String,
    /// When the loop began.
    pub started: Timestamp,
    /// What decides the scores; a loop with another one is another loop.
    pub setting: Setting,
    /// The newest iteration when the loop began: what was measured before is not taken for a result of the loop.
    pub after_iteration: u64,
    /// The rounds. The first one is the baseline.
    pub rounds: Vec<Round>,
    /// Why no further version can be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_end: Option<String>,
    /// How it ended; absent while there is something left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<Conclusion>,
}

/// What decides the scores of a version, apart from the version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The suite's content.
    pub suite_digest: String,
    /// The cases.
    pub case_ids: Vec<String>,
    /// How often each is run.
    pub runs: u64,
    /// The agent.
    pub agent: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// How often the judge is asked.
    pub judge_votes: u64,
    /// The seed.
    pub seed: u64,
}

impl Setting {
    /// That of an iteration.
    pub fn of(record: &IterationRecord) -> Self {
        Self {
            suite_digest: record.suite_digest.clone(),
            case_ids: record.case_ids.clone(),
            runs: record.runs_per_configuration,
            agent: record.agent.clone(),
            agent_version: record.agent_version.clone(),
            model: record.model.clone(),
            judge: record.judge.clone(),
            judge_votes: record.judge_votes,
            seed: record.seed,
        }
    }
}

/// One version, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The version.
    pub version: u64,
    /// The version that it was made from; absent for the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// What was changed, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Suggestions that were not applied, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The analysis that the next version is made by, below the workspace, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// Its scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// The blind comparison with the version that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
}

impl Round {
    /// A round of a version that nothing is known of yet.
    pub fn new(version: VersionNumber) -> Self {
        Self { version: version.0, ..Self::default() }
    }

    /// The version.
    pub fn number(&self) -> VersionNumber {
        VersionNumber(self.version)
    }
}

/// What a blind comparison came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Cases that the version before won.
    pub old_wins: u64,
    /// Cases that the new version won.
    pub new_wins: u64,
    /// Cases that could not be compared.
    pub missing: u64,
    /// The sign test.
    pub p_value: f64,
    /// What follows for the new version.
    pub verdict: DifferenceVerdict,
}

impl Compared {
    /// From the verdict over all cases, and how many there should have been.
    pub fn new(overall: &Overall, cases: usize) -> Self {
        let compared = overall.old_wins + overall.new_wins;
        Self {
            old_wins: overall.old_wins as u64,
            new_wins: overall.new_wins as u64,
            missing: cases.saturating_sub(compared) as u64,
            p_value: overall.p_value,
            verdict: overall.verdict,
        }
    }
}

impl Improvement {
    /// A loop that has done nothing yet.
    pub fn new(setting: Setting, started: Timestamp, program: &str, after_iteration: u64) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: RecordVersion::current(),
            skillgauge_version: program.to_owned(),
            started,
            setting,
            after_iteration,
            rounds: Vec::new(),
            dead_end: None,
            conclusion: None,
        }
    }

    /// The file of a workspace.
    pub fn file(workspace: &Workspace) -> PathBuf {
        workspace.root().join(FILE)
    }

    /// Reads it; none when there is none. One that is broken or newer is an error, and stays as it is.
    pub fn load(workspace: &Workspace) -> Result<Option<Self>, WorkspaceError> {
        let path = Self::file(workspace);
        let bad = |message: String| WorkspaceError::Unreadable { path: path.clone(), message };
        let size = match fs_err::symlink_metadata(&path) {
            Ok(found) if found.is_file() => found.len(),
            // A link may lead anywhere.
            Ok(_) => return Err(bad("it is no file of its own".to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(WorkspaceError::Io { path, source }),
        };
        LIMITS.check_size(size).map_err(|issue| bad(issue.to_string()))?;
        let bytes = fs_err::read(&path)
            .map_err(|source| WorkspaceError::Io { path: path.clone(), source })?;
        let found: Self = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        if found.format != FORMAT {
            return Err(bad(format!("its format is `{}`, not `{FORMAT}`", found.format)));
        }
        if !found.version.is_readable() {
            return Err(WorkspaceError::Newer { path, major: found.version.major });
        }
        Ok(Some(found))
    }

    /// Writes it, in one step.
    pub fn save(&self, workspace: &Workspace) -> Result<(), WorkspaceError> {
        write_json(&Self::file(workspace), self)
    }
}
