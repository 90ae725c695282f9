//! What a cassette keeps of one attempt: enough to tell it again without the agent.
//!
//! The raw lines are kept, not the transcript: a better adapter understands an old recording better. The request is the
//! task without paths: what counts of a file is its digest.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use skillgauge_core::files::{ContentHash, normal};
use skillgauge_core::trigger::not_understood;
use skillgauge_format::transcript::{ExitStatus, Transcript};

use super::super::adapter::{Context, InstalledSkill};
use super::super::descriptor::{AgentName, BundledSkills, Version};
use super::super::run::{AgentRun, AttemptRecord, CallRecord, RunNote, RunOrigin, RunTiming};
use super::super::task::{AgentTask, StopCondition};
use crate::outputs::{OutputPath, Outputs};

/// What is asked, as it decides the answer.
#[derive(Debug, Serialize)]
pub(super) struct TapeRequest<'t> {
    agent: &'t AgentName,
    model: Option<&'t str>,
    prompt: &'t str,
    skills: Vec<SkillRequest<'t>>,
    inputs: Vec<InputRequest<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'t str>,
    bundled_skills: BundledSkills,
    stop: &'t StopCondition,
    max_turns: Option<u32>,
    max_cost_usd: Option<f64>,
    outputs: OutputPolicy,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'t str>,
}

#[derive(Debug, Serialize)]
struct SkillRequest<'t> {
    name: &'t str,
    digest: &'t ContentHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'t str>,
}

#[derive(Debug, Serialize)]
struct InputRequest<'t> {
    path: String,
    digest: &'t ContentHash,
}

/// Whether what the agent leaves behind is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputPolicy {
    Kept,
    Ignored,
}

impl<'t> TapeRequest<'t> {
    pub(super) fn new(task: &'t AgentTask, attempt: u32, outputs: OutputPolicy) -> Self {
        let skills = task.skills.iter().map(|skill| SkillRequest {
            name: &skill.name,
            digest: &skill.digest,
            description: skill.description.as_deref(),
        });
        let inputs = task.inputs.iter().map(|input| InputRequest {
            path: input.path.to_string_lossy().into_owned(),
            digest: &input.digest,
        });
        Self {
            agent: &task.agent,
            model: task.model.as_deref(),
            prompt: &task.prompt,
            skills: skills.collect(),
            inputs: inputs.collect(),
            context: task.context.as_deref(),
            bundled_skills: task.bundled_skills,
            stop: &task.stop,
            max_turns: task.limits.max_turns,
            max_cost_usd: task.limits.max_cost_usd,
            outputs,
            attempt,
            run: task.run.as_deref(),
        }
    }
}

/// One attempt as a recording keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tape {
    #[serde(flatten)]
    pub(super) facts: AttemptFacts,
    /// The files of the outputs.
    #[serde(default)]
    pub(super) files: Vec<TapedFile>,
    /// Standard output.
    #[serde(default)]
    pub(super) lines: Vec<String>,
}

/// One attempt as it happened, without secrets and private paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AttemptFacts {
    #[serde(flatten)]
    pub(super) seen: SeenAgent,
    pub(super) started: String,
    pub(super) ended: String,
    pub(super) total_ms: u64,
    pub(super) agent_started: String,
    pub(super) agent_ms: u64,
    pub(super) peak_rss: Option<u64>,
    pub(super) cpu_ms: Option<u64>,
    pub(super) exit: ExitStatus,
    pub(super) stderr: String,
    pub(super) notes: Vec<RunNote>,
    pub(super) outputs: Outputs,
}

/// Who was called, and how: what is known before it says anything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SeenAgent {
    /// The agent that `auto` may have chosen.
    pub(super) agent: AgentName,
    pub(super) adapter: String,
    pub(super) agent_version: Option<Version>,
    pub(super) skillgauge_version: String,
    pub(super) model: Option<String>,
    pub(super) call: CallRecord,
    /// The skills as the agent saw them.
    pub(super) skills: Vec<InstalledSkill>,
}

impl SeenAgent {
    /// What an adapter needs to know beside the stream.
    pub(super) fn context(&self) -> Context {
        Context {
            agent: Some(self.agent.to_string()),
            agent_version: self.agent_version.as_ref().map(ToString::to_string),
            model: self.model.clone(),
            skills: self.skills.clone(),
            ..Context::default()
        }
    }
}

impl AttemptFacts {
    pub(super) fn into_run(self, transcript: Transcript) -> AgentRun {
        let record = AttemptRecord {
            delay_ms: 0,
            started: self.agent_started,
            duration_ms: self.agent_ms,
            outcome: transcript.outcome(),
            reason: transcript.end.reason,
            message: transcript.end.message.clone(),
            peak_rss: self.peak_rss,
            cpu_ms: self.cpu_ms,
        };
        let mut notes = self.notes;
        let unknown = not_understood(&transcript).into_iter();
        notes.extend(unknown.map(|text| RunNote::UnknownEvent { text }));
        let timing = RunTiming {
            started: self.started,
            ended: self.ended,
            total_ms: self.total_ms,
            agent_ms: self.agent_ms,
            all_agents_ms: self.agent_ms,
            waited_ms: 0,
            overhead_ms: self.total_ms.saturating_sub(self.agent_ms),
        };
        AgentRun {
            transcript,
            outputs: self.outputs,
            timing,
            attempts: vec![record],
            agent_version: self.seen.agent_version,
            skillgauge_version: self.seen.skillgauge_version,
            call: self.seen.call,
            stderr: self.stderr,
            notes,
            origin: RunOrigin::Live,
        }
    }
}

/// A file that the agent left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TapedFile {
    path: OutputPath,
    kind: TapedKind,
    content: TapedContent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TapedKind {
    File,
    Program,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TapedContent {
    Text(String),
    Base64(String),
}

impl TapedFile {
    /// Reads all files of some outputs.
    pub(super) fn read_all(outputs: &Outputs, folder: &Path) -> std::io::Result<Vec<Self>> {
        outputs.copied().map(|file| Self::read(&file.path, folder)).collect()
    }

    fn read(path: &OutputPath, folder: &Path) -> std::io::Result<Self> {
        let place = folder.join(path.as_path());
        let content = match String::from_utf8(fs_err::read(&place)?) {
            Ok(text) => TapedContent::Text(text),
            Err(error) => TapedContent::Base64(STANDARD.encode(error.as_bytes())),
        };
        let is_program = fs_err::metadata(&place)?.permissions().mode() & 0o111 != 0;
        let kind = if is_program { TapedKind::Program } else { TapedKind::File };
        Ok(Self { path: path.clone(), kind, content })
    }

    /// Writes it below a folder again.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let relative = normal(self.path.as_path());
        // A recording is a file like any other: somebody may have put a path into it that leads elsewhere.
        let place = relative
            .map(|path| folder.join(path))
            .ok_or_else(|| bad("a path that leaves its folder"))?;
        place.parent().map_or(Ok(()), fs_err::create_dir_all)?;
        let bytes = match &self.content {
            TapedContent::Text(text) => text.clone().into_bytes(),
            TapedContent::Base64(text) => {
                STANDARD.decode(text).map_err(|_| bad("text that is not base64"))?
            }
        };
        fs_err::write(&place, bytes)?;
        let mode = match self.kind {
            TapedKind::File => 0o644,
            TapedKind::Program => 0o755,
        };
        fs_err::set_permissions(&place, std::fs::Permissions::from_mode(mode))
    }
}

fn bad(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, format!("the recording holds {what}"))
}
