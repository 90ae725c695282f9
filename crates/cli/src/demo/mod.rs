//! The bundled example, and the scripted agent and judge that run it: this program, started again.
//!
//! `skillgauge demo` shows the whole way with no key and no network. What stands in for an agent and a model is labelled
//! as scripted wherever it appears; everything else is what real ones get.

mod agent;
mod judge;

use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What comes first on the command line of the scripted agent.
pub(crate) const AGENT: &str = "__demo-agent";
/// What comes first on the command line of the scripted judge.
pub(crate) const JUDGE: &str = "__demo-judge";

/// The name of the example's folder.
pub(crate) const SKILL: &str = "release-notes";

macro_rules! example {
    ($($path:literal),* $(,)?) => {
        /// The files of the example, by their paths.
        const FILES: &[(&str, &str)] = &[
            $(($path, include_str!(concat!("../../../../examples/release-notes/", $path)))),*
        ];
    };
}

example![
    "SKILL.md",
    "references/style.md",
    "evals/triggers.json",
    "evals/evals.json",
    "evals/cases.json",
    "evals/files/commits.txt",
    "evals/files/library.txt",
    "evals/files/server.txt",
    "evals/files/app.txt",
    "evals/files/cli.txt",
    "evals/files/hotfix.txt",
];

/// Writes the example; a file that is there with other content is left alone and named.
pub(crate) fn write_example(folder: &Path) -> io::Result<Vec<&'static str>> {
    let mut kept = Vec::new();
    for (path, text) in FILES {
        let target = folder.join(path);
        match fs_err::read_to_string(&target) {
            Ok(there) if there == *text => {}
            Ok(_) => kept.push(*path),
            Err(_) => {
                if let Some(parent) = target.parent() {
                    fs_err::create_dir_all(parent)?;
                }
                fs_err::write(&target, text)?;
            }
        }
    }
    Ok(kept)
}

/// Plays the agent or the judge, if this process was started as one.
pub(crate) fn play(first: &std::ffi::OsStr) -> Option<ExitCode> {
    let played = match first.to_str()? {
        AGENT => agent::play(&mut io::stdin().lock(), &mut io::stdout().lock()),
        JUDGE => judge::play(&mut io::stdout().lock()),
        _ => return None,
    };
    Some(if played.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_example_is_bundled() {
        let folder =
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/release-notes"));
        let mut there = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            for entry in fs_err::read_dir(next).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                } else {
                    let path = entry.path();
                    there.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        there.sort();
        let mut bundled: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        bundled.sort_unstable();
        assert_eq!(there, bundled);
    }

    #[test]
    fn what_a_user_changed_in_the_example_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_example(folder.path()).unwrap().is_empty());
        fs_err::write(folder.path().join("SKILL.md"), "mine").unwrap();
        assert_eq!(write_example(folder.path()).unwrap(), ["SKILL.md"]);
        assert_eq!(fs_err::read_to_string(folder.path().join("SKILL.md")).unwrap(), "mine");
    }
}
