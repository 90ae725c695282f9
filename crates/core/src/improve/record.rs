//! The file `improve.json` of a workspace.

use std::path::PathBuf;

use skillgauge_format::improve::{Compared, Improvement};
use skillgauge_format::{Extra, LIMITS, read};

use crate::comparison::Overall;
use crate::workspace::{Workspace, WorkspaceError, write_json};

const FILE: &str = "improve.json";

/// What a comparison over all cases came to, and how many cases there should have been.
pub fn compared(overall: &Overall, cases: usize) -> Compared {
    let done = overall.old_wins + overall.new_wins + overall.ties;
    Compared {
        old_wins: overall.old_wins as u64,
        new_wins: overall.new_wins as u64,
        ties: overall.ties as u64,
        position_bias: overall.position_bias.is_some(),
        missing: cases.saturating_sub(done) as u64,
        p_value: overall.p_value,
        verdict: overall.verdict,
        extra: Extra::new(),
    }
}

pub fn file(workspace: &Workspace) -> PathBuf {
    workspace.root().join(FILE)
}

/// Reads it; none when there is none. One that is broken or newer is an error, and stays as it is.
pub fn load(workspace: &Workspace) -> Result<Option<Improvement>, WorkspaceError> {
    let path = file(workspace);
    let bad = |message: String| WorkspaceError::Unreadable { path: path.clone(), message };
    let size = match fs_err::symlink_metadata(&path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(WorkspaceError::Io { path, source }),
    };
    LIMITS.check_size(size).map_err(|issue| bad(issue.to_string()))?;
    let bytes =
        fs_err::read(&path).map_err(|source| WorkspaceError::Io { path: path.clone(), source })?;
    let found = read::<Improvement>(&bytes).map_err(|error| bad(error.to_string()))?.value;
    if found.format != Improvement::FORMAT {
        let expected = Improvement::FORMAT;
        return Err(bad(format!("its format is `{}`, not `{expected}`", found.format)));
    }
    if !found.version.is_readable() {
        return Err(WorkspaceError::Newer { path, major: found.version.major });
    }
    Ok(Some(found))
}

/// Writes it, in one step.
pub fn save(improvement: &Improvement, workspace: &Workspace) -> Result<(), WorkspaceError> {
    write_json(&file(workspace), improvement)
}
