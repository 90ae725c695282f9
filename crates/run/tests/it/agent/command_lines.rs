//! The exact command lines of the built-in agents: what was measured is what is called.

use std::fmt::Write as _;
use std::path::Path;

use skillgauge_run::agent::descriptor::{Slot, Values};
use skillgauge_run::agent::{BundledSkills, Registry};

fn values() -> Values {
    Values::default()
        .with(Slot::Prompt, "PROMPT")
        .with(Slot::Work, "/w")
        .with(Slot::Home, "/h")
        .with(Slot::Config, "/c")
        .with(Slot::Tmp, "/t")
        .with(Slot::Skills, "/w/skills")
}

fn full() -> Values {
    values()
        .with(Slot::Model, "MODEL")
        .with(Slot::MaxTurns, "30")
        .with(Slot::MaxCost, "1")
        .with(Slot::SkillList, "\"csv-report\":\"allow\"")
        .with(Slot::Variable("OPENAI_BASE_URL".into()), "http://127.0.0.1:1/v1")
}

#[test]
fn the_built_in_agents_are_called_as_measured() {
    let registry = Registry::load(&[]).unwrap();
    let mut shown = String::new();
    for agent in ["claude", "codex", "gemini", "opencode", "command"] {
        let descriptor = registry.get(agent, Path::new("/")).unwrap();
        for (what, bundled, values) in [
            ("everything", BundledSkills::Off, full()),
            ("nothing optional, bundled skills on", BundledSkills::On, values()),
        ] {
            writeln!(shown, "{agent}, {what}").unwrap();
            for argument in descriptor.command_line(bundled, &values) {
                writeln!(shown, "  {argument}").unwrap();
            }
            for (name, value) in descriptor.variables(bundled, &values) {
                writeln!(shown, "  {name}={value}").unwrap();
            }
            for (path, text) in descriptor.files(bundled) {
                writeln!(
                    shown,
                    "  {} <- {}",
                    path.fill(&values).unwrap(),
                    text.fill(&values).unwrap()
                )
                .unwrap();
            }
        }
    }
    insta::assert_snapshot!(shown);
}
