//! What is said of a skill and of an agent before the one is measured with the other.
//!
//! Agents load many skills that `validate` finds fault with, and measuring is what tells an author whether it matters: so
//! findings are warnings here. Refused is only what no agent, or not this one, would ever load.

use std::path::Path;

use skillgauge_core::finding::Level;
use skillgauge_core::profile::{Policy, Profile, Strictness};
use skillgauge_core::skill::{Skill, State};
use skillgauge_core::validate::Checked;
use skillgauge_run::agent::{Located, TaskSkill};

use crate::Printer;
use crate::error::CommandError;
use crate::session::Session;

/// What a skill is held to before it is measured.
pub(crate) fn policy() -> Policy {
    Policy {
        profiles: vec![Profile::default_profile()],
        strictness: Strictness::Normal,
        ignored: Vec::default(),
        names: None,
    }
}

/// Says what `validate` finds. Without a SKILL.md that can be read there is nothing that an agent could load.
pub(crate) fn skill(path: &Path, policy: &Policy, printer: &Printer) -> Result<(), CommandError> {
    let checked = Checked::new(Skill::read(path), policy);
    let findings = &checked.findings;
    let errors: Vec<String> = findings
        .iter()
        .filter(|finding| finding.level == Level::Error)
        .map(|finding| format!("  {}: {}", finding.rule.code, finding.message))
        .collect();
    let shows = format!("`skillgauge validate {}` shows where", path.display());
    if !matches!(checked.skill.state, State::Read(_)) {
        let message = format!("no agent can load this skill:\n{}", errors.join("\n"));
        return Err(CommandError::usage(message, shows));
    }
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let warnings = findings.len() - errors.len();
    if !errors.is_empty() {
        let count = errors.len();
        printer.say(&format!(
            "warning: the skill has {count} validation error{}, and is measured as it is:\n{}\n{shows}",
            s(count),
            errors.join("\n")
        ));
    } else if warnings > 0 {
        printer.say(&format!(
            "the skill has {warnings} warning{}: skillgauge validate {}",
            s(warnings),
            path.display()
        ));
    }
    Ok(())
}

/// Says that a version was not tested, once; refuses skills that the agent would never list.
pub(crate) fn agent(
    located: &Located,
    skills: &[TaskSkill],
    session: &Session,
    printer: &Printer,
) -> Result<(), CommandError> {
    if let Some(untested) = located.untested() {
        session.warn_once(&untested, printer);
    }
    match skills.iter().find_map(|skill| located.descriptor.unlisted(skill)) {
        Some(reason) => Err(CommandError::usage(
            reason,
            "write a description into SKILL.md, or measure with another agent: `--agent NAME`",
        )),
        None => Ok(()),
    }
}

/// The same for an agent that is still to be found. One that can't be is for whoever asks it to report.
pub(crate) fn named_agent(
    name: &str,
    skills: &[TaskSkill],
    session: &Session,
    printer: &Printer,
) -> Result<(), CommandError> {
    let executor = session.executor();
    match session.block_on(printer, executor.prepare(name))? {
        Ok(Some(located)) => agent(&located, skills, session, printer),
        Ok(None) | Err(_) => Ok(()),
    }
}
