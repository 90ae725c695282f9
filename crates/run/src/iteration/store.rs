//! From what an agent did to the files of a run folder.

use indexmap::IndexMap;
use serde_json::json;
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{PartialRun, RunDir, WorkspaceError};
use skillgauge_format::Extra;
use skillgauge_format::evals::{Metrics, Timing};
use skillgauge_format::part::Timestamp;
use skillgauge_format::record::{RecordVersion, RunAttempt, RunRecord};
use skillgauge_format::transcript::{EventKind, names_skill};

use crate::agent::{AgentRun, RunOrigin};
use crate::outputs::{Change, Kind, Stored};

/// Writes everything that a run left, and moves it to its place; attempts of earlier calls stay in its record. Blocks.
pub(super) fn store(
    partial: PartialRun,
    id: &RunId,
    skill: &str,
    run: &AgentRun,
    before: Vec<RunAttempt>,
) -> Result<(RunDir, RunRecord), WorkspaceError> {
    let dir = partial.dir();
    fs_err::create_dir_all(dir.outputs())
        .map_err(|source| WorkspaceError::Io { path: dir.outputs(), source })?;
    let transcript = run.transcript.to_jsonl().map_err(|error| WorkspaceError::Unwritable {
        path: dir.transcript_file(),
        message: error.to_string(),
    })?;
    partial.write(&dir.transcript_file(), transcript.as_bytes())?;
    dir.write_json(&dir.timing_file(), &timing(run))?;
    dir.write_json(&dir.metrics_file(), &metrics(run, transcript.chars().count()))?;
    let mut record = record(id, skill, run);
    record.attempts.splice(..0, before);
    let dir = partial.finish(&record)?;
    Ok((dir, record))
}

fn seconds(millis: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a run is shorter than 285,000 years")]
    let seconds = millis as f64 / 1000.0;
    seconds
}

fn timing(run: &AgentRun) -> Timing {
    let timing = &run.timing;
    Timing {
        total_tokens: run.transcript.end.usage.map(|usage| usage.total_tokens()),
        duration_ms: Some(timing.agent_ms.into()),
        total_duration_seconds: Some(seconds(timing.agent_ms).into()),
        executor_start: Some(Timestamp::new(&timing.started)),
        executor_end: Some(Timestamp::new(&timing.ended)),
        executor_duration_seconds: Some(seconds(timing.agent_ms).into()),
        ..Timing::default()
    }
}

fn metrics(run: &AgentRun, transcript_chars: usize) -> Metrics {
    let end = &run.transcript.end;
    let calls: IndexMap<String, u64> =
        end.tool_calls.iter().map(|(name, tally)| (name.clone(), tally.count)).collect();
    let failed: u64 = end.tool_calls.values().map(|tally| tally.failed).sum();
    let is_step =
        |kind: &EventKind| matches!(kind, EventKind::Text { .. } | EventKind::ToolCall(_));
    let steps = run.transcript.events.iter().filter(|event| is_step(&event.kind)).count();
    let files = run.outputs.files.iter();
    let created = files
        .filter(|file| file.kind == Kind::File || file.stored == Stored::Copied)
        .filter(|file| file.change != Change::Deleted)
        .map(|file| file.path.text());
    Metrics {
        total_tool_calls: Some(calls.values().sum()),
        tool_calls: Some(calls),
        total_steps: u64::try_from(steps).ok(),
        files_created: Some(created.collect()),
        errors_encountered: u64::try_from(end.errors.len()).ok().map(|errors| errors + failed),
        output_chars: Some(run.outputs.copied_bytes),
        transcript_chars: u64::try_from(transcript_chars).ok(),
        extra: Extra::new(),
    }
}

fn record(id: &RunId, skill: &str, run: &AgentRun) -> RunRecord {
    let end = &run.transcript.end;
    let header = &run.transcript.header;
    let version = run.agent_version.as_ref().map(ToString::to_string);
    RunRecord {
        format: "run".to_owned(),
        format_version: RecordVersion::current(),
        id: id.to_string(),
        case_id: id.case.clone(),
        configuration: id.configuration.clone(),
        run_number: u64::from(id.number),
        outcome: run.outcome(),
        reason: run.reason(),
        message: end.message.clone(),
        agent: header.agent.clone(),
        agent_version: version.or_else(|| header.agent_version.clone()),
        skillgauge_version: Some(run.skillgauge_version.clone()),
        model: header.model.clone(),
        started: Timestamp::new(&run.timing.started),
        ended: Timestamp::new(&run.timing.ended),
        seconds: seconds(run.timing.agent_ms).into(),
        skill_loaded: end.skills_loaded.iter().any(|loaded| names_skill(loaded, skill)),
        total_tokens: end.usage.map(|usage| usage.total_tokens()),
        usage_basis: end.usage.map(|usage| usage.basis).unwrap_or_default(),
        cost_usd: end.cost_usd.map(Into::into),
        attempts: run.attempts.iter().map(attempt).collect(),
        notes: notes(run),
        replayed_from: match &run.origin {
            RunOrigin::Live => None,
            RunOrigin::Replayed { entry, .. } => Some(entry.clone()),
        },
        execution: Some(json!({
            "call": run.call,
            "outputs": run.outputs,
            "timing": run.timing,
            "stderr": run.stderr,
            "skillgauge_version": run.skillgauge_version,
        })),
        extra: Extra::new(),
    }
}

fn attempt(attempt: &crate::agent::AttemptRecord) -> RunAttempt {
    RunAttempt {
        outcome: attempt.outcome,
        reason: attempt.reason,
        seconds: seconds(attempt.duration_ms).into(),
        delay_seconds: seconds(attempt.delay_ms).into(),
        message: attempt.message.clone(),
        extra: Extra::new(),
    }
}

fn notes(run: &AgentRun) -> Vec<String> {
    let outputs = run.outputs.notes.iter().map(ToString::to_string);
    run.notes.iter().map(ToString::to_string).chain(outputs).collect()
}
