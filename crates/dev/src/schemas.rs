//! schemas/: the JSON Schema of every file kind.

use skillgauge_format::Kind;

use crate::Generated;

pub(crate) fn generate() -> Vec<Generated> {
    let one = |kind: &Kind| Generated {
        path: format!("schemas/{}.schema.json", kind.name()).into(),
        content: format!("{:#}\n", kind.schema()),
    };
    Kind::ALL.iter().map(one).collect()
}
