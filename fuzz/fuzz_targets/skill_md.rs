//! Any bytes as a SKILL.md: reading, every rule, every fix, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillgauge_core::profile::{Policy, Profile};
use skillgauge_core::skill::{Document, Skill, State};
use skillgauge_core::validate::{Checked, fix};

fuzz_target!(|bytes: &[u8]| {
    let state = State::Read(Box::new(Document::from_bytes(bytes)));
    let skill = Skill { path: "skill".into(), state, files: vec![] };
    let profiles = Profile::named("pedantic").into_iter().collect();
    let checked = Checked::new(skill, &Policy { profiles, ..Policy::default() });
    for finding in &checked.findings {
        let _ = finding.place.position(checked.text());
    }
    let _ = fix::plan(&checked);
});
