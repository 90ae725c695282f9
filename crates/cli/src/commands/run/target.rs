//! What is measured: a skill, its suite, and its workspace.

use std::path::{Path, PathBuf};

use skillgauge_core::profile::Policy;
use skillgauge_core::suite_lint::{Examination, Purpose, examine};
use skillgauge_core::version::{VersionNumber, VersionStore};
use skillgauge_core::workspace::{Workspace, in_words};
use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_format::{Dialect, Suite};

use crate::args::RunArgs;
use crate::error::CommandError;
use crate::{Printer, caution, suite};

/// The rule about the name of a skill's folder.
const FOLDER_NAME: &str = "NAME_FOLDER_MISMATCH";

#[derive(Debug)]
pub(crate) struct Target {
    pub(super) skill: PathBuf,
    /// The folder with the suite's input files.
    pub(super) inputs_from: PathBuf,
    /// The stored version that `skill` is the folder of; none for the skill as it is now.
    pub(super) version: Option<VersionNumber>,
    pub(crate) suite: Suite,
    pub(crate) workspace: Workspace,
}

impl Target {
    /// Reads everything; a skill or suite that cannot work is refused with all that is wrong.
    pub(crate) fn read(args: &RunArgs, printer: &Printer) -> Result<Self, CommandError> {
        let skill = args.skill.clone();
        caution::skill(&skill, &caution::policy(), printer)?;
        let suite_file = args.evals.clone().unwrap_or_else(|| skill.join("evals/evals.json"));
        let workspace = match &args.workspace {
            Some(root) => workspace_at(root, &skill)?,
            None => Workspace::beside(&skill)?,
        };
        let purpose = match args.outcome.primary {
            Some(PrimaryOutcome::Preference) => Purpose::Comparing,
            _ => Purpose::Grading,
        };
        let suite = read_suite(&suite_file, &skill, &workspace, args, purpose, printer)?;
        Ok(Self { inputs_from: skill.clone(), skill, version: None, suite, workspace })
    }

    /// A stored version in place of the skill as it is now, with the present suite: the same cases for every version.
    pub(crate) fn of_version(
        &self,
        store: &VersionStore,
        version: VersionNumber,
        printer: &Printer,
    ) -> Result<Self, CommandError> {
        let skill = store.folder(version);
        // The folder of a version is not called as the skill is; that is no fault of the version.
        let policy = Policy { ignored: vec![FOLDER_NAME], ..caution::policy() };
        caution::skill(&skill, &policy, printer)?;
        let (suite, workspace) = (self.suite.clone(), self.workspace.clone());
        let inputs_from = self.inputs_from.clone();
        Ok(Self { skill, inputs_from, version: Some(version), suite, workspace })
    }

    /// The present suite and workspace of a skill whose present state is not measured, and need not be well formed.
    pub(crate) fn present(
        args: &RunArgs,
        store: &VersionStore,
        printer: &Printer,
    ) -> Result<Self, CommandError> {
        let skill = store.skill().to_owned();
        let file = args.evals.clone().unwrap_or_else(|| skill.join("evals/evals.json"));
        let workspace = store.workspace().clone();
        let suite = read_suite(&file, &skill, &workspace, args, Purpose::Looking, printer)?;
        Ok(Self { inputs_from: skill.clone(), skill, version: None, suite, workspace })
    }
}

/// A workspace inside of the skill would be a part of the skill: each run would change what is measured.
fn workspace_at(root: &Path, skill: &Path) -> Result<Workspace, CommandError> {
    let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let inside = fs_err::canonicalize(skill).is_ok_and(|skill| real(&absolute).starts_with(skill));
    if inside {
        return Err(CommandError::usage(
            format!("--workspace {} is inside of the skill", root.display()),
            "name a folder outside of it; without --workspace it is `<skill>-workspace` beside the skill",
        ));
    }
    Ok(Workspace::at(absolute))
}

/// Where a path leads that need not exist yet.
fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| {
        let found = fs_err::canonicalize(above).ok()?;
        Some(found.join(path.strip_prefix(above).ok()?))
    });
    existing.unwrap_or_else(|| path.to_owned())
}

fn read_suite(
    path: &Path,
    skill: &Path,
    workspace: &Workspace,
    args: &RunArgs,
    purpose: Purpose,
    printer: &Printer,
) -> Result<Suite, CommandError> {
    let bytes = fs_err::read(path).map_err(|error| {
        CommandError::usage(
            format!("the suite cannot be read: {}: {}", path.display(), in_words(&error)),
            "`skillgauge init SKILL` makes one to begin with, --evals names another file",
        )
    })?;
    let globs: Vec<_> =
        args.cases.iter().filter_map(|glob| globset::Glob::new(glob).ok()).collect();
    let globs: Vec<_> = globs.iter().map(globset::Glob::compile_matcher).collect();
    let is_wanted = |id: &str| args.cases.is_empty() || globs.iter().any(|glob| glob.is_match(id));
    let examined = examine(&Examination {
        text: &bytes,
        skill: Some(skill),
        workspace: Some(workspace.root()),
        is_wanted: &is_wanted,
        purpose,
    });
    suite::say_warnings(path, &examined, printer);
    let suite = suite::usable(path, examined)?;
    debug_assert_ne!(suite.dialect(), Dialect::Trigger, "a trigger set is no suite");
    Ok(suite)
}
