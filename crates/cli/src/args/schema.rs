//! Arguments of `schema`.

use std::path::PathBuf;

/// Print the JSON Schema of a file, or check a file against it
#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// A kind of file such as trigger-set; without one, all kinds are listed
    pub kind: Option<String>,

    /// Check these files instead; the kind is found by their shape if none is given
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub check: Vec<PathBuf>,
}
