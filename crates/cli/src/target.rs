//! What a path on the command line means: every command understands a SKILL.md, the folder of a skill, a plugin with one
//! skill, a workspace, and an iteration, and takes from it what it needs.

use std::path::{Path, PathBuf};

use skillgauge_core::version::VersionNumber;
use skillgauge_core::workspace::{Iteration, Workspace};

use crate::args::{Command, FleetAction, PairArgs, RestoreArgs};
use crate::error::CommandError;

/// What the file of a skill is called, as people write it.
const SKILL_FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// Puts what is meant in the place of what was typed.
pub(crate) fn resolve(command: &mut Command) -> Result<(), CommandError> {
    match command {
        Command::Run(args) => to_skill(&mut args.skill),
        Command::Trigger(args) => to_skill(&mut args.skill),
        Command::Tune(args) => to_skill(&mut args.skill),
        Command::Improve(args) => to_skill(&mut args.skill),
        Command::LintEvals(args) => to_skill(&mut args.skill),
        Command::Init(args) => to_skill(&mut args.skill),
        Command::Snapshot(args) => to_skill(&mut args.skill),
        Command::History(args) => to_skill(&mut args.skill),
        Command::Package(args) => to_skill(&mut args.skill),
        Command::Compare(args) => pair(&mut args.pair),
        Command::Analyze(args) => pair(&mut args.pair),
        Command::Restore(args) => restore(args),
        Command::Fleet(args) => match &mut args.action {
            FleetAction::Submit(args) => to_skill(&mut args.run.skill),
            FleetAction::Collect(args) => to_skill(&mut args.skill),
            FleetAction::Init(_)
            | FleetAction::Worker(_)
            | FleetAction::Status(_)
            | FleetAction::Cancel(_) => Ok(()),
        },
        Command::Report(args) => to_results(&mut args.workspace),
        Command::Serve(args) => to_results(&mut args.workspace),
        Command::Bench(args) => to_runs(&mut args.iteration),
        Command::Calibrate(args) => to_runs(&mut args.iteration),
        Command::Merge(args) => args.parts.iter_mut().try_for_each(to_results),
        Command::Check(args) => args.paths.iter_mut().try_for_each(to_runs),
        Command::Grade(args) => {
            if args.paths.is_empty() && args.transcript.is_none() {
                args.paths.push(PathBuf::from("."));
            }
            let resolve = if args.self_test { to_skill } else { to_runs };
            args.paths.iter_mut().try_for_each(resolve)
        }
        Command::Route(args) => {
            for folder in &mut args.folders {
                *folder = folder_of(folder);
            }
            Ok(())
        }
        Command::Validate(_)
        | Command::Explain(_)
        | Command::Transcript(_)
        | Command::Demo(_)
        | Command::Doctor(_)
        | Command::Schema(_)
        | Command::Completions(_) => Ok(()),
    }
}

/// `compare v0 v1` is about the skill in the working folder.
fn pair(pair: &mut PairArgs) -> Result<(), CommandError> {
    if let Some(version) = version_of(&pair.skill) {
        pair.versions.insert(0, version);
        pair.skill = PathBuf::from(".");
    }
    to_skill(&mut pair.skill)
}

/// `restore v3`, too.
fn restore(args: &mut RestoreArgs) -> Result<(), CommandError> {
    if let (None, Some(version)) = (args.number, version_of(&args.skill)) {
        args.number = Some(version);
        args.skill = PathBuf::from(".");
    }
    to_skill(&mut args.skill)
}

fn version_of(path: &Path) -> Option<VersionNumber> {
    if path.exists() { None } else { path.to_str()?.parse().ok() }
}

/// The folder of one skill. What leads to none stays as it is: the command says what is wrong with it.
fn to_skill(path: &mut PathBuf) -> Result<(), CommandError> {
    if let Some(skill) = skill_at(path)?.or_else(|| skill_of_results(path)) {
        *path = skill;
    }
    Ok(())
}

/// The workspace of a skill; a workspace, an iteration, or a folder of another tool as it is.
fn to_results(path: &mut PathBuf) -> Result<(), CommandError> {
    let Some(skill) = skill_at(path)? else { return Ok(()) };
    let workspace = Workspace::beside(&skill)?;
    if !workspace.root().is_dir() {
        return Err(CommandError::usage(
            format!("nothing was run yet: there is no {}", workspace.root().display()),
            format!("`skillgauge run {}` makes it", skill.display()),
        ));
    }
    workspace.root().clone_into(path);
    Ok(())
}

/// The newest iteration of a skill or workspace; a run or an iteration as it is.
fn to_runs(path: &mut PathBuf) -> Result<(), CommandError> {
    to_results(path)?;
    if let Ok(Some(newest)) = Workspace::at(&*path).newest() {
        newest.root().clone_into(path);
    }
    Ok(())
}

/// The skill at a path: its file, its folder, or the only one of a plugin.
fn skill_at(path: &Path) -> Result<Option<PathBuf>, CommandError> {
    let folder = folder_of(path);
    if is_skill(&folder) {
        return Ok(Some(folder));
    }
    let mut skills: Vec<PathBuf> = match fs_err::read_dir(folder.join("skills")) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => return Ok(None),
    };
    skills.retain(|skill| is_skill(skill));
    skills.sort();
    if skills.len() > 1 {
        let names: Vec<String> = skills.iter().map(|skill| skill.display().to_string()).collect();
        return Err(CommandError::usage(
            format!("{} has {} skills:\n  {}", path.display(), names.len(), names.join("\n  ")),
            "name one of them",
        ));
    }
    Ok(skills.pop())
}

/// The folder, also of somebody who names the file in it.
fn folder_of(path: &Path) -> PathBuf {
    let is_skill_file =
        path.file_name().is_some_and(|name| SKILL_FILES.iter().any(|known| name == *known));
    match path.parent() {
        Some(parent) if is_skill_file && path.is_file() => {
            if parent.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                parent.to_owned()
            }
        }
        _ => path.to_owned(),
    }
}

fn is_skill(folder: &Path) -> bool {
    SKILL_FILES.iter().any(|name| folder.join(name).is_file())
}

/// The skill that a workspace or an iteration is about: the one beside it, or the one that its newest iteration names.
fn skill_of_results(path: &Path) -> Option<PathBuf> {
    let real = fs_err::canonicalize(path).ok()?;
    let own = Iteration::at(&real);
    let (workspace, newest) = if own.number().is_some() || own.record_file().is_file() {
        (real.parent()?, Some(own))
    } else {
        (real.as_path(), Workspace::at(&real).newest().ok().flatten())
    };
    let name = workspace.file_name().and_then(|name| name.to_str());
    let beside = name.and_then(|name| name.strip_suffix("-workspace"));
    let beside = beside.map(|name| workspace.with_file_name(name));
    let named = || Some(PathBuf::from(newest?.record().ok()?.skill_path));
    beside.filter(|skill| is_skill(skill)).or_else(|| named().filter(|skill| is_skill(skill)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser as _;

    /// What a command wants of a target.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Wants {
        Skill,
        Workspace,
        Iteration,
    }

    const COMMANDS: [(&[&str], Wants); 18] = [
        (&["run"], Wants::Skill),
        (&["trigger"], Wants::Skill),
        (&["tune"], Wants::Skill),
        (&["improve"], Wants::Skill),
        (&["lint-evals"], Wants::Skill),
        (&["init"], Wants::Skill),
        (&["snapshot"], Wants::Skill),
        (&["history"], Wants::Skill),
        (&["package"], Wants::Skill),
        (&["compare"], Wants::Skill),
        (&["analyze"], Wants::Skill),
        (&["restore"], Wants::Skill),
        (&["report"], Wants::Workspace),
        (&["serve"], Wants::Workspace),
        (&["bench"], Wants::Iteration),
        (&["calibrate"], Wants::Iteration),
        (&["check"], Wants::Iteration),
        (&["grade"], Wants::Iteration),
    ];

    fn path(command: &Command) -> &Path {
        match command {
            Command::Run(args) => &args.skill,
            Command::Trigger(args) => &args.skill,
            Command::Tune(args) => &args.skill,
            Command::Improve(args) => &args.skill,
            Command::LintEvals(args) => &args.skill,
            Command::Init(args) => &args.skill,
            Command::Snapshot(args) => &args.skill,
            Command::History(args) => &args.skill,
            Command::Package(args) => &args.skill,
            Command::Compare(args) => &args.pair.skill,
            Command::Analyze(args) => &args.pair.skill,
            Command::Restore(args) => &args.skill,
            Command::Report(args) => &args.workspace,
            Command::Serve(args) => &args.workspace,
            Command::Bench(args) => &args.iteration,
            Command::Calibrate(args) => &args.iteration,
            Command::Check(args) => &args.paths[0],
            Command::Grade(args) => &args.paths[0],
            other => unreachable!("{other:?}"),
        }
    }

    fn resolved(words: &[&str], target: &Path) -> Result<PathBuf, CommandError> {
        let target = target.to_str().unwrap();
        let typed = ["skillgauge"].iter().chain(words).chain([&target]);
        let mut command = Cli::try_parse_from(typed).unwrap().command;
        resolve(&mut command)?;
        Ok(fs_err::canonicalize(path(&command)).unwrap())
    }

    /// A plugin with a skill that was run twice.
    fn plugin(folder: &Path) -> PathBuf {
        let root = fs_err::canonicalize(folder).unwrap();
        for place in
            ["skills/s", "skills/s-workspace/iteration-2", "skills/s-workspace/iteration-10"]
        {
            fs_err::create_dir_all(root.join(place)).unwrap();
        }
        fs_err::write(root.join("skills/s/SKILL.md"), "---\nname: s\n---\n").unwrap();
        for number in [2, 10] {
            let record = root.join(format!("skills/s-workspace/iteration-{number}/iteration.json"));
            fs_err::write(record, "{}").unwrap();
        }
        root
    }

    #[test]
    fn every_command_understands_every_kind_of_target() {
        let folder = tempfile::tempdir().unwrap();
        let root = plugin(folder.path());
        let (skill, workspace) = (root.join("skills/s"), root.join("skills/s-workspace"));
        let newest = workspace.join("iteration-10");
        let (file, older) = (skill.join("SKILL.md"), workspace.join("iteration-2"));
        for (words, wants) in COMMANDS {
            for target in [&file, &skill, &root, &workspace, &newest] {
                let expected = match wants {
                    Wants::Skill => &skill,
                    // One iteration is a part of its workspace that can be looked at.
                    Wants::Workspace if *target == newest => &newest,
                    Wants::Workspace => &workspace,
                    Wants::Iteration => &newest,
                };
                let found = resolved(words, target);
                assert_eq!(found.as_ref().ok(), Some(expected), "{words:?} {target:?}: {found:?}");
            }
            let expected = if wants == Wants::Skill { &skill } else { &older };
            assert_eq!(resolved(words, &older).as_ref().ok(), Some(expected), "{words:?}");
        }
    }

    #[test]
    fn one_of_many_skills_must_be_named_and_a_skill_without_runs_has_no_results() {
        let folder = tempfile::tempdir().unwrap();
        let root = plugin(folder.path());
        fs_err::create_dir_all(root.join("skills/t")).unwrap();
        fs_err::write(root.join("skills/t/skill.md"), "").unwrap();
        for (words, wants) in COMMANDS {
            let error = resolved(words, &root).unwrap_err();
            assert!(error.message.contains("has 2 skills"), "{words:?}: {error}");
            assert!(error.message.contains("skills/s\n") && error.message.contains("skills/t"));
            if wants != Wants::Skill {
                let error = resolved(words, &root.join("skills/t")).unwrap_err();
                assert!(error.message.contains("nothing was run yet"), "{words:?}: {error}");
            }
        }
    }

    #[test]
    fn versions_without_a_skill_are_those_of_the_skill_in_the_working_folder() {
        let parsed = |words: &[&str]| {
            let mut command = Cli::try_parse_from(words).unwrap().command;
            resolve(&mut command).unwrap();
            command
        };
        let (one, two) = (VersionNumber(1), VersionNumber(2));
        match parsed(&["skillgauge", "compare", "v1", "v2"]) {
            Command::Compare(args) => {
                assert_eq!(
                    (args.pair.skill, args.pair.versions),
                    (PathBuf::from("."), vec![one, two])
                );
            }
            other => unreachable!("{other:?}"),
        }
        match parsed(&["skillgauge", "restore", "v2"]) {
            Command::Restore(args) => {
                assert_eq!((args.skill, args.number), (PathBuf::from("."), Some(two)));
            }
            other => unreachable!("{other:?}"),
        }
    }
}
