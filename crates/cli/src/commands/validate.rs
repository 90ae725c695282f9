//! `skillgauge validate`.

use std::io::Write;
use std::path::PathBuf;

use skillgauge_core::output::{Format, Github, Json, Jsonl, Junit, Paths, Renderer, Sarif, Text};
use skillgauge_core::profile::{Names, Policy, Profile, Strictness};
use skillgauge_core::rule::rule_named;
use skillgauge_core::skill::discover::Ignore;
use skillgauge_core::validate::parallel::{self, Fixing, Job, ValidationSummary};

use super::{Outcome, explain};
use crate::args::{FormatArg, ValidateArgs, write_file};
use crate::error::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &ValidateArgs, printer: &Printer) -> Outcome {
    let fixing = fixing(args)?;
    let policy = policy(args)?;
    let check = |format: FormatArg, fixing: Fixing, out: &mut dyn Write| {
        let renderer = renderer(format.0, &args.paths, printer);
        let job = Job {
            paths: &args.paths,
            ignore: if args.no_ignore { Ignore::Disregarded } else { Ignore::Respected },
            policy: &policy,
            fixing,
            threads: args.jobs.map_or_else(processors, usize::from),
            renderer: &*renderer,
        };
        parallel::run(&job, out)
    };
    // What standard output gets is checked last, and fixed first.
    let mut done = None;
    for (format, file) in args.output.places() {
        let fixing = if done.is_none() { fixing } else { Fixing::Off };
        let checked = match file {
            None => check(format, fixing, &mut printer.stdout())?,
            Some(file) => {
                let mut text = Vec::new();
                let checked = check(format, fixing, &mut text)?;
                write_file(file, &String::from_utf8_lossy(&text), printer)?;
                checked
            }
        };
        done.get_or_insert(checked);
    }
    let done = done.unwrap_or_default();
    let code = conclude(fixing, &done, printer);
    // What is not there has findings, too; but it is the command that is wrong, not a skill.
    let is_typo = args.paths.iter().any(|path| !path.exists());
    Ok(if is_typo { ExitCode::Usage } else { code })
}

fn conclude(fixing: Fixing, done: &ValidationSummary, printer: &Printer) -> ExitCode {
    let findings = if done.fixed == 1 { "1 finding" } else { &format!("{} findings", done.fixed) };
    match fixing {
        Fixing::Off => {}
        Fixing::On => printer.say(&format!("fixed {findings}")),
        Fixing::DryRun => printer.say(&format!("would fix {findings}; nothing was changed")),
    }
    for error in &done.failed {
        printer.say(&format!("error: {error}"));
    }
    let would_change = fixing == Fixing::DryRun && done.fixed > 0;
    if done.totals.invalid > 0 || would_change || !done.failed.is_empty() {
        ExitCode::Failure
    } else {
        ExitCode::Success
    }
}

fn fixing(args: &ValidateArgs) -> Result<Fixing, CommandError> {
    match (args.fix, args.dry_run) {
        (true, true) if args.output.format.0 != Format::Text => Err(CommandError::usage(
            "a diff has no other format than text",
            "leave out `--format` with `--dry-run`",
        )),
        (true, true) => Ok(Fixing::DryRun),
        (true, false) => Ok(Fixing::On),
        (false, _) => Ok(Fixing::Off),
    }
}

fn policy(args: &ValidateArgs) -> Result<Policy, CommandError> {
    let code = |code: &String| {
        rule_named(code).map(|rule| rule.code).ok_or_else(|| explain::unknown(code))
    };
    let profiles = if args.profiles.is_empty() {
        vec![Profile::default_profile()]
    } else {
        args.profiles.clone()
    };
    Ok(Policy {
        profiles,
        strictness: if args.strict { Strictness::Strict } else { Strictness::Normal },
        ignored: args.ignore.iter().map(code).collect::<Result<_, _>>()?,
        names: args.allow_unicode_names.then_some(Names::Unicode),
    })
}

fn renderer(format: Format, given: &[PathBuf], printer: &Printer) -> Box<dyn Renderer> {
    let working_folder = std::env::current_dir().unwrap_or_default();
    let paths = Paths::new(working_folder, given);
    match format {
        Format::Text => Box::new(Text::new(printer.style())),
        Format::Json => Box::new(Json::new(paths)),
        Format::Jsonl => Box::new(Jsonl::new(paths)),
        Format::Sarif => Box::new(Sarif::new(paths, env!("CARGO_PKG_VERSION"))),
        Format::Github => Box::new(Github::new(paths)),
        Format::Junit => Box::new(Junit::new(paths)),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
