//! Any bytes as the event stream of each agent: a transcript with an outcome, no panic, the same in pieces and at once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillgauge_run::agent::adapter::{ADAPTERS, Context, Exit, InstalledSkill, LineSplitter};

fuzz_target!(|bytes: &[u8]| {
    let skill = InstalledSkill::new(
        "csv-report",
        "/skillgauge/work/.claude/skills/csv-report",
        "# Report\n\nMake one.\n",
    );
    for kind in &ADAPTERS {
        let context = Context { skills: vec![skill.clone()], ..Context::default() };
        let whole = kind.read(context.clone(), bytes, Exit::unknown());
        let _ = whole.outcome();
        let _ = serde_json::to_string(&whole).map(|text| text.len());
        // Lines that come in pieces, as from a pipe.
        let mut adapter = kind.open(context);
        let mut lines = LineSplitter::new(1 << 20);
        for piece in bytes.chunks(7) {
            lines.push(piece, |line| {
                adapter.line(line);
            });
        }
        lines.finish(|line| {
            adapter.line(line);
        });
        let _ = adapter.finish(Exit::unknown()).outcome();
    }
});
