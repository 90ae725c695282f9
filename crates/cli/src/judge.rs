//! The judge that a command asks: who, how often, and with which prompts.

use std::num::NonZeroU32;

use skillgauge_core::calibration::{self, GateRefusal, check_gate};
use skillgauge_core::judge::template::TemplateKind;
use skillgauge_core::workspace::Workspace;
use skillgauge_format::evals::MeasuredJudge;
use skillgauge_format::record::IterationRecord;
use skillgauge_format::{Dialect, Suite};
use skillgauge_run::grade::Judge;

use crate::args::BudgetArgs;
use crate::error::{CommandError, Explain as _};
use crate::project;
use crate::session::{Session, model_of};

/// `--judge none`: only the structural checks count.
const NOBODY: &str = "none";

/// Whether somebody said that nobody is to judge.
pub(crate) fn is_unwanted(session: &Session, typed: Option<&str>, of_suite: Option<&str>) -> bool {
    session.settings.judge(typed).as_deref().or(of_suite) == Some(NOBODY)
}

/// Whether the judge that was named can be one at all.
pub(crate) fn check_name(session: &Session, typed: Option<&str>) -> Result<(), CommandError> {
    match session.settings.judge(typed).filter(|name| name != NOBODY) {
        Some(name) => model_of(&name).map(|_| ()),
        None => Ok(()),
    }
}

/// Opens the judge. A name that was typed comes first, then the project's, then the suite's, then `auto`; votes, context
/// and time limit are those that were typed.
pub(crate) fn open(
    session: &Session,
    typed: Option<&str>,
    of_suite: Option<&str>,
    (votes, context, budget): (Option<u32>, Option<u32>, &BudgetArgs),
) -> Result<Judge, CommandError> {
    let settings = &session.settings;
    if is_unwanted(session, typed, of_suite) {
        let message = "this cannot be done without a judge, and `none` was named";
        return Err(CommandError::usage(message.to_owned(), "name one with --judge MODEL"));
    }
    let name = settings.judge(typed).or_else(|| of_suite.map(model_name));
    let model = session.model(name.as_deref(), budget)?;
    let templates = project::templates(session.folder())?;
    let judge = Judge::new(model).or_bug()?;
    let votes = NonZeroU32::new(settings.judge_votes(votes)).unwrap_or(NonZeroU32::MIN);
    let judge = judge.with_context(settings.judge_context(context));
    let timeout = settings.judge_timeout(budget);
    Ok(Judge { votes, templates, timeout, ..judge })
}

/// Refuses a judge that nobody has measured on this suite, before anything is paid.
pub(crate) fn refuse_unmeasured(
    session: &Session,
    record: &IterationRecord,
    suite: &Suite,
    workspace: &Workspace,
) -> Result<(), CommandError> {
    let Some(model) = record.judge.clone() else { return Ok(()) };
    let kind = match suite.dialect() {
        Dialect::Cases => TemplateKind::Cases,
        _ => TemplateKind::Evals,
    };
    let templates = project::templates(session.folder())?;
    let judge = MeasuredJudge {
        model,
        votes: u32::try_from(record.judge_votes).unwrap_or(u32::MAX),
        prompt_digest: Some(templates.get(kind).record().digest.clone()),
        ..MeasuredJudge::default()
    };
    let known = calibration::load(workspace.root())
        .or_hint("repair calibration.json or remove it; `skillgauge calibrate` writes it")?;
    check_gate(&known, &judge, &record.suite_digest).map_err(|refusal| refused(&refusal))
}

/// A judge that may not decide, as an error.
pub(crate) fn refused(refusal: &GateRefusal) -> CommandError {
    CommandError::usage(refusal.to_string(), refusal.hint())
}

/// The suites of the seeds name a model without its provider: `claude-sonnet-4-5`.
pub(crate) fn model_name(name: &str) -> String {
    let is_openai =
        ["gpt", "o1", "o3", "o4", "chatgpt"].iter().any(|start| name.starts_with(start));
    if name.contains(':') || name == "auto" {
        name.to_owned()
    } else if is_openai {
        format!("openai:{name}")
    } else {
        format!("anthropic:{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::model_name;

    #[test]
    fn a_name_without_its_provider_gets_one() {
        assert_eq!(
            model_name("claude-sonnet-4-5-20250929"),
            "anthropic:claude-sonnet-4-5-20250929"
        );
        assert_eq!(model_name("gpt-5"), "openai:gpt-5");
        assert_eq!(model_name("command:./judge.sh"), "command:./judge.sh");
        assert_eq!(model_name("auto"), "auto");
    }
}
