//! docs/performance.md: replaces the section of one benchmark and leaves the rest alone.
//!
//! Invariant: what stands outside the two markers is never changed.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");
const INTRO: &str = "# Performance

The numbers on this page are measured, not chosen: each section is written by the benchmark that it
describes, with the goals beside what came out. To measure again on your machine:

```sh
make bench                                      # measures, and replaces the sections on this page
cargo bench -p skillgauge --bench validate      # only prints the section
```

The first run generates the corpora (about 1 GB) and makes a Python environment with the pinned rival,
both below the target folder; later runs use them again. Without Python or a network the rival is left
out, and the page says so. CPU time is the fair measure on a busy machine; wall times are
only comparable within one run.
";

/// Writes the section of a benchmark between its markers; makes the page, or the markers, when they are not there.
pub(crate) fn replace(benchmark: &str, section: &str) -> Result<PathBuf> {
    let [begin, end] = ["begin", "end"].map(|side| format!("<!-- {benchmark}:{side} -->"));
    let path = PathBuf::from(PAGE);
    let old = match fs_err::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => INTRO.to_owned(),
        Err(error) => return Err(error.into()),
    };
    let new = match old.split_once(&begin) {
        Some((before, rest)) => {
            let (_, after) = rest.split_once(&end).context("the page has no end marker")?;
            format!("{before}{begin}\n{section}{end}{after}")
        }
        None => format!("{old}\n{begin}\n{section}{end}\n"),
    };
    fs_err::write(&path, new)?;
    Ok(path)
}
