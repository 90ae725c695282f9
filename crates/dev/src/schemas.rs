//! schemas/: the JSON Schema of every file kind.

use std::path::Path;

use skillgauge_format::Kind;

use crate::Generated;

pub(crate) fn generate() -> Vec<Generated> {
    let one = |kind: Kind| Generated {
        path: Path::new("schemas").join(kind.schema_file_name()),
        content: kind.schema_text(),
    };
    Kind::all().map(one).collect()
}
