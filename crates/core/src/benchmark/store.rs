//! Puts the three files of a benchmark into its iteration.
//!
//! Each is written to a new file in the same folder and renamed, so that nobody ever reads half of one.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use skillgauge_format::write::to_text;

use super::{Aggregate, BenchmarkError};

pub(super) fn write(aggregate: &Aggregate) -> Result<Vec<PathBuf>, BenchmarkError> {
    let json = |source| BenchmarkError::NotJson { source };
    let files = [
        ("benchmark.json", to_text(&aggregate.benchmark).map_err(json)?),
        ("benchmark.md", aggregate.to_markdown()),
        ("eval_feedback_aggregate.json", to_text(&aggregate.feedback).map_err(json)?),
    ];
    files
        .into_iter()
        .map(|(name, text)| {
            let path = aggregate.folder.join(name);
            replace(&aggregate.folder, &path, text.as_bytes())
                .map_err(|source| BenchmarkError::Unwritable { path: path.clone(), source })?;
            Ok(path)
        })
        .collect()
}

fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".skillgauge-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What the user's mask leaves of it, as for any other new file; the default is for secrets.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut draft = builder.tempfile_in(folder)?;
    draft.write_all(bytes)?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}
