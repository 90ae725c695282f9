//! `skillgauge trigger --via estimate`.

use std::path::{Path, PathBuf};

use skillgauge_core::estimate::{Described, Settings, estimate, render_text};
use skillgauge_core::skill::Skill;
use skillgauge_core::skill::discover::{self, Ignore};
use skillgauge_core::text::counted;
use skillgauge_format::trigger::{TriggerItem, TriggerSet};
use skillgauge_format::write;

use super::Outcome;
use super::probing::{Subject, Undescribed, read_set};
use crate::args::{TriggerArgs, TriggerFormat};
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &TriggerArgs, printer: &Printer) -> Outcome {
    let is_measure = args.calibrate
        || args.early_stop
        || args.crowd > 0
        || args.probe.max_turns.is_some()
        || args.output.has(TriggerFormat::Junit)
        || args.output.has(TriggerFormat::Github);
    if is_measure {
        return Err(CommandError::usage(
            "an estimate is no measurement: --calibrate, --early-stop, --crowd, --max-turns, junit and github do not go with it",
            "measure with `--via agent` or `--via api`, or take the estimate as text or json",
        ));
    }
    let other = args.description.as_deref();
    let subject = Subject::read(&args.skill, other, Undescribed::Refused, printer)?;
    let set = read_set(args.evals.as_deref(), &subject.skill.folder, printer)?;
    let skill = Described { name: subject.skill.name, description: subject.description };
    let mut neighbours = described(&args.neighbours)?;
    neighbours.retain(|neighbour| neighbour.name != skill.name);
    let situated = set.queries.iter().filter(|query| query.situation.is_some()).count();
    if situated > 0 {
        let queries = counted(situated, "query", "queries");
        printer.say(&format!(
            "warning: an estimate looks at words only: `files`, `turns` and `context` of {queries} are ignored"
        ));
    }
    let items = set.queries.iter().map(|query| {
        let item = TriggerItem::new(&query.text, query.should_trigger);
        item.asked_in(query.situation.clone())
    });
    let found =
        estimate(&skill, &neighbours, &TriggerSet::List(items.collect()), Settings::default());
    args.output.write(printer, |format| match format {
        TriggerFormat::Json => write::to_text(&found).or_bug(),
        _ => Ok(render_text(&found)),
    })?;
    Ok(if found.summary.likely_wrong == 0 { ExitCode::Success } else { ExitCode::Failure })
}

/// Names and descriptions of the skills in some folders; the first of a name counts.
pub(crate) fn described(folders: &[PathBuf]) -> Result<Vec<Described>, CommandError> {
    let mut all: Vec<Described> = Vec::new();
    for folder in folders {
        let found: Vec<Described> = below(folder).iter().filter_map(Described::of).collect();
        if found.is_empty() {
            return Err(CommandError::usage(
                format!("{} has no skill with a description in it", folder.display()),
                "name a skill, or a folder with skills",
            ));
        }
        for skill in found {
            if all.iter().all(|known| known.name != skill.name) {
                all.push(skill);
            }
        }
    }
    Ok(all)
}

pub(crate) fn below(folder: &Path) -> Vec<Skill> {
    let mut found = Vec::new();
    discover::find(folder, Ignore::Respected, &mut |skill| {
        found.push(skill.read());
        true
    });
    found.retain(|skill| skill.document().is_some());
    found
}
