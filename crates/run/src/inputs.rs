//! The input files of a case or a query: found in the skill or the workspace, and put where a prompt expects them.
//!
//! A suite names `evals/files/commits.txt`, its prompt says "commits.txt". The folders of the evals are ours and not part
//! of the task, so they are taken off: the agent finds `commits.txt`.

use std::path::Path;

use crate::agent::{InputError, TaskInput};

/// The folders that are taken off, the longest first.
const EVAL_FOLDERS: [&str; 2] = ["evals/files", "evals"];

/// Reads the files from the first of these folders that has them, or says what is wrong with each. Blocks.
pub(crate) fn read<'f>(
    files: impl IntoIterator<Item = &'f str>,
    roots: &[&Path],
) -> Result<Vec<TaskInput>, Vec<InputError>> {
    let (mut inputs, mut errors) = (Vec::new(), Vec::new());
    for file in files {
        let path = Path::new(file);
        let found = roots.iter().find(|root| root.join(path).exists()).or(roots.first());
        let Some(found) = found else { continue };
        match read_one(found, path) {
            Ok(input) => inputs.push(input),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(inputs) } else { Err(errors) }
}

fn read_one(root: &Path, path: &Path) -> Result<TaskInput, InputError> {
    // First as it is written: what must not be given to an agent is refused by its whole path.
    let whole = TaskInput::read(root, path)?;
    let stripped = EVAL_FOLDERS.iter().find_map(|folder| {
        let rest = whole.path.strip_prefix(folder).ok()?;
        (!rest.as_os_str().is_empty()).then(|| (root.join(folder), rest.to_owned()))
    });
    match stripped {
        Some((root, rest)) => TaskInput::read(&root, &rest),
        None => Ok(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_the_evals_are_taken_off() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("evals/files/deep")).unwrap();
        fs_err::write(folder.path().join("evals/files/deep/a.txt"), "a").unwrap();
        fs_err::write(folder.path().join("evals/b.csv"), "b").unwrap();
        fs_err::write(folder.path().join("evals/evals.json"), "{}").unwrap();
        fs_err::write(folder.path().join("c.txt"), "c").unwrap();
        let path = |name: &str| read_one(folder.path(), Path::new(name)).unwrap().path;
        assert_eq!(path("evals/files/deep/a.txt"), Path::new("deep/a.txt"));
        assert_eq!(path("evals/b.csv"), Path::new("b.csv"));
        assert_eq!(path("c.txt"), Path::new("c.txt"));
        assert!(read_one(folder.path(), Path::new("evals/evals.json")).is_err());
        assert!(read_one(folder.path(), Path::new("../c.txt")).is_err());
        assert!(read_one(folder.path(), Path::new("none.txt")).is_err());
    }
}
