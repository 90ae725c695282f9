//! Structural checks: what a program can decide about a finished run.
//!
//! ```text
//! Case --compile--> CompiledChecks --evaluate(CheckContext)--> Structural
//! ```
//!
//! [`compile`] finds everything that is wrong with the checks of a case before anything is run: patterns, globs, schemas,
//! paths. [`evaluate`] looks only at what a run left on disk, so that checks can be repeated at any time. The types are
//! those of [`CHECK_TYPES`](skillgauge_format::evals::CHECK_TYPES); one file here for each thing that they look at.
//!
//! The invariant: a check passes only when what it says was seen to be true. What could not be looked at fails, negated or
//! not, and the evidence says why.

mod compile;
mod content;
mod context;
mod evidence;
mod glob;
mod json;
mod json_path;
mod json_schema;
mod markdown;
mod needle;
mod outputs;
mod problem;
mod scope;
mod stored;
mod target;
mod trace;
mod unkept;
mod unseen;
mod verdict;

pub use compile::{CompiledChecks, compile, compile_suite};
pub use context::{CheckContext, ScriptCall, ScriptEnd, ScriptError, ScriptOutcome, ScriptRunner};
pub use glob::GlobProblem;
pub use json_path::PathProblem;
pub use json_schema::SchemaProblem;
pub use outputs::OutputsError;
pub use problem::{CheckProblem, CheckProblemKind, field_problems};
pub use stored::{StoredRun, StoredRunError};
pub use target::{CheckTarget, TargetError};

use skillgauge_format::evals::{CheckResult, Structural};
use skillgauge_format::part::Tally;

use compile::{Check, Test};
use evidence::Evidence;
use outputs::Outputs;
pub(crate) use unkept::Unkept;
use verdict::{Finding, Verdict};

/// Why checks could not be carried out at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The outputs cannot be listed.
    #[error(transparent)]
    Outputs(#[from] OutputsError),
    /// A script could not be started.
    #[error("the script of check `{check}` could not be run")]
    Script {
        check: String,
        #[source]
        source: ScriptError,
    },
}

/// Carries out all checks of a case on one run.
pub fn evaluate(
    checks: &CompiledChecks,
    context: &CheckContext<'_>,
) -> Result<Structural, CheckError> {
    let record = context.run_dir.join("run.json");
    let outputs = if checks.look_at_files() {
        Outputs::list(context.outputs, &record)?
    } else {
        Outputs::none(context.outputs, &record)
    };
    let mut expectations = Vec::with_capacity(checks.checks.len());
    for check in &checks.checks {
        let finding = find(check, &outputs, context)?;
        expectations.push(CheckResult {
            id: check.id.clone(),
            text: check.description.clone(),
            check_type: check.check_type.name().to_owned(),
            passed: finding.verdict.passes(check.negated),
            evidence: finding.evidence(check.negated),
            critical: check.critical,
            ..CheckResult::default()
        });
    }
    let count =
        |passed| expectations.iter().filter(|result| result.passed == passed).count() as u64;
    let summary = Tally::new(count(true), count(false));
    let gate_passed = expectations.iter().all(|result| result.passed || !result.critical);
    Ok(Structural { expectations, summary, gate_passed, ..Structural::default() })
}

fn find(
    check: &Check,
    outputs: &Outputs,
    context: &CheckContext<'_>,
) -> Result<Finding, CheckError> {
    Ok(match &check.test {
        Test::Exists(glob) => outputs.exists(glob),
        Test::Absent(glob) => outputs.exists(glob).opposite(),
        Test::Count(glob, operator, count) => outputs.count(glob, *operator, *count),
        Test::Contains(glob, needle) => content::contains(outputs, glob, needle),
        Test::NotContains(glob, needle, contexts) => {
            content::not_contains(outputs, glob, needle, contexts)
        }
        Test::NoErrors => trace::no_errors(context),
        Test::Script(script) => {
            let call = ScriptCall {
                script,
                run_dir: context.run_dir,
                outputs: context.outputs,
                skill_dir: context.skill_dir,
            };
            let end = context.scripts.run(&call);
            let end =
                end.map_err(|source| CheckError::Script { check: check.id.clone(), source })?;
            end.finding(outputs)
        }
        Test::JsonSchema(glob, schema) => json::obeys(outputs, glob, schema),
        Test::JsonPath(glob, path, wanted) => json::has(outputs, glob, path, wanted),
        Test::YamlValid(glob) => content::yaml_valid(outputs, glob),
        Test::MarkdownSection(glob, heading, needle) => {
            markdown::section(outputs, glob, heading, needle.as_ref())
        }
        Test::ToolCalled(tool, counts) => trace::tool_called(context, tool, *counts),
        Test::ToolNotCalled(tool) => trace::tool_not_called(context, tool),
        Test::SkillLoaded(skill) => trace::skill_loaded(context, skill.as_deref()),
        Test::MaxTokens(limit) => trace::max_tokens(context, *limit),
        Test::MaxSeconds(limit) => trace::max_seconds(context, *limit),
        Test::OutputContains(needle) => trace::output_contains(context, needle),
        Test::ResultContains(needle) => content::result_contains(outputs, context, needle),
        Test::TranscriptRegex(needle, presence) => {
            trace::transcript_regex(context, needle, *presence)
        }
        Test::DiffScope(globs) => scope::diff_scope(outputs, globs, context),
    })
}

impl ScriptEnd {
    fn finding(&self, outputs: &Outputs) -> Finding {
        let mut evidence = Evidence::new();
        let verdict = match self.outcome {
            ScriptOutcome::Exited(0) => Verdict::Holds,
            ScriptOutcome::Exited(_) | ScriptOutcome::Killed(_) => Verdict::Fails,
            // Nobody knows what it would have said.
            ScriptOutcome::TimedOut(_) | ScriptOutcome::Cancelled => Verdict::Unknown,
        };
        evidence.note(match self.outcome {
            ScriptOutcome::Exited(code) => format!("exit code {code}"),
            ScriptOutcome::Killed(signal) => format!("ended by signal {signal}"),
            ScriptOutcome::TimedOut(seconds) => format!("stopped after {seconds} seconds"),
            ScriptOutcome::Cancelled => "stopped before it had ended".to_owned(),
        });
        let unseen = outputs.unkept().ok().flatten().map_or(0, Unkept::count);
        if unseen > 0 {
            let were = if unseen == 1 { "file of the run was" } else { "files of the run were" };
            evidence.note(format!("{unseen} {were} not kept for it to see"));
        }
        for line in &self.last_lines {
            evidence.add(evidence::line(line));
        }
        Finding::new(verdict, evidence)
    }
}

#[cfg(test)]
mod tests;
