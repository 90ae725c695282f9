//! `skillgauge package`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use skillgauge_core::package::{Packing, write_archive_file};
use skillgauge_core::profile::{Policy, Profile};
use skillgauge_core::skill::Skill;
use skillgauge_core::text::plural;
use skillgauge_core::validate::Checked;

use super::Outcome;
use crate::args::PackageArgs;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &PackageArgs, printer: &Printer) -> Outcome {
    let packing = Packing::of(&args.skill)?;
    let checked = Checked::new(Skill::read(&args.skill), &Policy::of(Profile::default_profile()));
    for finding in &checked.findings {
        printer.say(&format!(
            "{}[{}]: {}",
            finding.level.as_str(),
            finding.rule.code,
            finding.message
        ));
    }
    if !checked.is_valid() {
        printer.say(
            "the skill is not valid, so no archive was written; `skillgauge validate` tells more",
        );
        return Ok(ExitCode::Failure);
    }
    for (path, reason) in &packing.left_out {
        printer.say(&format!("left out {}: {reason}", path.display()));
    }
    let mut out = printer.stdout();
    if args.list {
        for file in &packing.files {
            writeln!(out, "{file}")?;
        }
    } else {
        let target = target(args.out.as_deref(), &packing);
        write_archive_file(&packing, &target)?;
        writeln!(out, "{}", target.display())?;
        printer.say(&format!("packed {}", plural(packing.files.len(), "file")));
    }
    out.flush()?;
    Ok(ExitCode::Success)
}

fn target(out: Option<&Path>, packing: &Packing) -> PathBuf {
    let name = format!("{}.skill", packing.name);
    match out {
        Some(folder) if folder.is_dir() => folder.join(name),
        Some(file) => file.to_owned(),
        None => PathBuf::from(name),
    }
}
