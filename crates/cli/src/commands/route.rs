//! `skillgauge route`.

use std::path::Path;

use skillgauge_core::estimate::{self, Described};
use skillgauge_core::route::{RouteSkill, estimate as estimate_routes, render_text};
use skillgauge_core::skill::Skill;
use skillgauge_core::workspace::Workspace;
use skillgauge_format::trigger::{RouteReport, TriggerSet};
use skillgauge_format::{read, write};
use skillgauge_run::agent::TaskSkill;
use skillgauge_run::route::{Routed, Routing, route};

use super::Outcome;
use super::estimate::below;
use super::probe_talk::ProbeTalk;
use super::probing::{Probes, files_exist};
use crate::args::{PageFormat, RouteArgs, ViaArg};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer, caution};

pub(crate) fn run(args: &RouteArgs, printer: &Printer) -> Outcome {
    let (skills, folders) = gather(args, printer)?;
    if args.probe.via == ViaArg::Estimate {
        let report = estimate_routes(&skills, estimate::Settings::default());
        return conclude(args, &report, printer);
    }
    let session = Session::open(&args.probe.tape)?;
    let installed =
        folders.iter().map(|skill| TaskSkill::read(&skill.path)).collect::<Result<Vec<_>, _>>();
    let installed = installed.or_hint("`skillgauge validate` tells more")?;
    let probes = Probes::new(&args.probe, &session, journal_folder(&args.folders[0])?);
    probes.check_agent(args.probe.via, &installed, printer)?;
    let routing = Routing {
        skills,
        installed,
        probing: probes.probing(args.probe.via)?,
        runs: probes.runs(),
        threshold: args.probe.threshold,
        journal: probes.journal.clone(),
        kept: probes.kept(),
    };
    announce(&probes, &routing, printer);
    let mut talk = ProbeTalk::of_any("route", printer.clone());
    let routed = session.block_on(printer, async {
        let routed =
            route(&probes.prober(), &routing, &session.cancel, &mut |event| talk.hear(&event))
                .await;
        talk.end();
        routed
    })?;
    let Routed { report, broken } = match routed {
        Ok(routed) => routed,
        Err(error) => return Ok(probes.broken(&error, printer)),
    };
    let code = conclude(args, &report, printer)?;
    Ok(match broken {
        Some(error) => probes.broken(&error, printer),
        None if session.cancel.is_cancelled() && report.partial == Some(true) => {
            probes.interrupted("interrupted before all probes were made", printer)
        }
        None => code,
    })
}

/// Says what will be asked, and what that will cost.
fn announce(probes: &Probes<'_>, routing: &Routing, printer: &Printer) {
    let calls = routing.planned_calls();
    let skills = routing.skills.len();
    printer.say(&format!("{skills} skills, {calls} calls (more when some are tried again)"));
    if !probes.is_replay() {
        let forecast = probes.forecast(&routing.probing, calls);
        printer.say(&format!("{forecast}"));
        printer.say(&probes.limits(&[forecast]));
    }
}

/// The skills below the folders, with their trigger sets. Nothing is spent when one of them cannot be used.
fn gather(
    args: &RouteArgs,
    printer: &Printer,
) -> Result<(Vec<RouteSkill>, Vec<Skill>), CommandError> {
    let mut routes: Vec<RouteSkill> = Vec::new();
    let mut folders = Vec::new();
    for skill in args.folders.iter().flat_map(|folder| below(folder)) {
        let Some(described) = Described::of(&skill) else {
            printer.say(&format!(
                "warning: {} has no description and is left out",
                skill.path.display()
            ));
            continue;
        };
        if routes.iter().any(|known| known.described.name == described.name) {
            return Err(CommandError::usage(
                format!("two skills are called `{}`", described.name),
                "only one of them could be installed; rename the other, or name narrower folders",
            ));
        }
        caution::skill(&skill.path, &caution::policy(), printer)?;
        let set = read_set(&skill.path, printer)?;
        routes.push(RouteSkill { described, set });
        folders.push(skill);
    }
    if routes.len() < 2 || routes.iter().all(|route| route.set.is_none()) {
        return Err(CommandError::usage(
            format!(
                "routing needs two skills and a trigger set; {} skills were found, {} of them with one",
                routes.len(),
                routes.iter().filter(|route| route.set.is_some()).count()
            ),
            "a trigger set lies in evals/triggers.json of its skill",
        ));
    }
    Ok((routes, folders))
}

fn read_set(folder: &Path, printer: &Printer) -> Result<Option<TriggerSet>, CommandError> {
    let path = folder.join("evals").join("triggers.json");
    let bytes = match fs_err::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(CommandError::usage(error.to_string(), "it must be a readable file"));
        }
    };
    let set = read::<TriggerSet>(&bytes).map_err(|error| {
        CommandError::usage(
            format!("{}: {error}", path.display()),
            "`skillgauge schema trigger-set` prints what the file must look like",
        )
    })?;
    files_exist(&path, &bytes, folder)?;
    // What only one set is short of says little about several.
    let is_field = |code: &str| matches!(code, "unknown-field" | "ignored-field");
    for problem in set.warnings.iter().filter(|problem| is_field(problem.code())) {
        let warning = problem.with_place();
        printer.say(&format!("warning: {}: {warning}", path.display()));
    }
    Ok(Some(set.value))
}

fn journal_folder(folder: &Path) -> Result<std::path::PathBuf, CommandError> {
    let workspace = Workspace::beside(folder)?;
    Ok(workspace.root().join("route"))
}

fn conclude(args: &RouteArgs, report: &RouteReport, printer: &Printer) -> Outcome {
    let mut output = args.output.clone();
    output.files.extend(args.page.clone());
    output.write(printer, |format| match format {
        PageFormat::Text => Ok(render_text(report)),
        PageFormat::Json => write::to_text(report).or_bug(),
        PageFormat::Html => skillgauge_web::route_page(report).or_bug(),
    })?;
    Ok(if report.summary.failed > 0 {
        ExitCode::Failure
    } else if report.partial == Some(true) || report.summary.undecided > 0 {
        ExitCode::Incomplete
    } else {
        ExitCode::Success
    })
}
