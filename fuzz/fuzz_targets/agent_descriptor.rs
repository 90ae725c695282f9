//! Any text as `skillgauge.toml` and as a file in `agents/`: agents or problems with their places, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillgauge_run::agent::{Registry, SourceFile, SourceKind};

fuzz_target!(|text: &str| {
    for (name, kind) in
        [("skillgauge.toml", SourceKind::Project), ("agents/mine.toml", SourceKind::Agent)]
    {
        let file = SourceFile {
            name: name.to_owned(),
            text: text.to_owned(),
            folder: "/project".into(),
            kind,
        };
        match Registry::load(&[file]) {
            Ok(registry) => {
                let _ = registry.get("mine", "/project".as_ref());
            }
            Err(problems) => problems.iter().for_each(|problem| {
                let _ = problem.to_string();
            }),
        }
    }
});
