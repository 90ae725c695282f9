//! Descriptors that users write, good and bad.

use std::path::Path;

use proptest::prelude::*;
use skillgauge_core::trigger::listing::ListingRule;
use skillgauge_run::agent::descriptor::{KEYS, LoginSource, Program, Slot, Source, Values};
use skillgauge_run::agent::{BundledSkills, Registry, SourceFile, SourceKind, UnknownAgent};

fn file(name: &str, kind: SourceKind, text: &str) -> SourceFile {
    SourceFile { name: name.into(), text: text.into(), folder: "/project".into(), kind }
}

fn project(text: &str) -> Result<Registry, Vec<String>> {
    load(&[file("skillgauge.toml", SourceKind::Project, text)])
}

fn load(files: &[SourceFile]) -> Result<Registry, Vec<String>> {
    Registry::load(files).map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn what_is_known_of_the_list_of_skills_is_that_of_each_agent() {
    let registry = load(&[]).unwrap();
    let rule = |name: &str| registry.get(name, Path::new("/")).unwrap().listing.clone();
    // `validate` has it too, and knows no agents.
    assert_eq!(rule("claude"), Some(ListingRule::claude_code()));
    let codex = rule("codex").unwrap();
    assert_eq!((codex.total, codex.each), (None, Some(1024)));
    for agent in ["gemini", "opencode"] {
        assert_eq!(rule(agent), Some(ListingRule::default()), "{agent}");
    }
    let own = project("[agents.x]\nextends = \"command\"\nlisting = { totl = 1 }").unwrap_err();
    assert!(own[0].contains("totl"), "{own:?}");
}

/// Each in an agent of its own, because of one agent the first mistake is told.
#[test]
fn every_mistake_has_its_line() {
    let mistakes = [
        "extends = \"claud\"",
        "skills = \"../outside\"",
        "arguments = [\"{promt}\"]",
        "arguments = [\"-m\", \"{model}\"]",
        "arguments = [\"-m\", 7]",
        "arguments = [[\"--x\", \"{bundled-skills}\"]]",
        "arguments = [\"{work}/{skill}\"]",
        "pass = [\"OK\", \"NOT-OK\"]",
        "pass = [\"HOME\"]",
        "version = { minimum = \"new\" }",
        "prompt = \"telepathy\"",
        "environment = { TOKEN = \"{env.CODEX_API_KEY}\", X = \"{env.NOT_PASSED}\" }",
        "login = [{ file = \"{work}/x\" }]",
        "login = [{ file = \"{env.HOME}/x\" }]",
        "login = [{ about = \"nothing\" }]",
        "files = { \"{home}/../x\" = \"\" }",
        "files = { \"/etc/passwd\" = \"\" }",
        "skill-list = { each = \"{work}\" }",
    ];
    let table = |(number, mistake): (usize, &&str)| {
        let base = if mistake.starts_with("extends") { "" } else { "extends = \"command\"\n" };
        format!("[agents.a{number:02}]\n{base}{mistake}\n")
    };
    let mut text: String = mistakes.iter().enumerate().map(table).collect();
    text.push_str("[agents.\"bad name\"]\nextends = \"command\"\n");
    let problems = project(&text).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"));
}

#[test]
fn a_mistake_in_what_others_extend_is_told_once() {
    let text =
        "[agents.base]\nextends = \"command\"\nneeds = 7\n[agents.child]\nextends = \"base\"\n";
    let problems = project(text).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("skillgauge.toml:3:9:"), "{problems:?}");
}

#[test]
fn text_that_is_no_toml_is_a_problem_with_a_line() {
    let problems = project("[agents.x]\nname = \n[agents.y\n").unwrap_err();
    assert!(
        problems.iter().any(|problem| problem.starts_with("skillgauge.toml:2:")),
        "{problems:?}"
    );
    assert!(
        problems.iter().any(|problem| problem.starts_with("skillgauge.toml:3:")),
        "{problems:?}"
    );
}

#[test]
fn a_whole_without_its_parts_says_which() {
    let problems = project("[agents.x]\nprogram = \"x\"\n").unwrap_err();
    let expected = ["adapter", "skills", "prompt"];
    assert_eq!(
        problems,
        expected.map(|key| format!("skillgauge.toml:1:9: the agent `x` needs `{key}`"))
    );
}

#[test]
fn a_prompt_that_goes_nowhere_or_a_login_among_the_variables_is_a_problem() {
    let problems = project("[agents.claude]\nprompt = \"stdin\"\npass = [\"ANTHROPIC_API_KEY\"]\n")
        .unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("must contain `{prompt}` once"), "{problems:?}");
    assert!(problems[1].contains("`ANTHROPIC_API_KEY` holds a login"), "{problems:?}");
}

#[test]
fn one_name_is_described_once() {
    let files = [
        file(
            "skillgauge.toml",
            SourceKind::Project,
            "[agents.mine]\nextends = \"command\"\nprogram = \"a\"\n",
        ),
        file("agents/mine.toml", SourceKind::Agent, "extends = \"command\"\nprogram = \"b\"\n"),
        file("agents/other.toml", SourceKind::Agent, "name = \"mine\"\nextends = \"command\"\n"),
    ];
    assert_eq!(
        load(&files).unwrap_err(),
        [
            "agents/mine.toml:1:1: the agent `mine` is described twice; the first time in skillgauge.toml:1:9",
            "agents/other.toml:1:1: the agent `mine` is described twice; the first time in skillgauge.toml:1:9",
        ]
    );
}

#[test]
fn circles_are_found() {
    let text = "[agents.a]\nextends = \"b\"\n[agents.b]\nextends = \"a\"\n";
    let problems = project(text).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.contains("extends itself")), "{problems:?}");
}

#[test]
fn a_descriptor_takes_what_it_does_not_say_from_the_one_it_extends() {
    let text = r#"
[other]
ignored = true

[agents.claude]
environment = { CLAUDE_CODE_MAX_RETRIES = "0", MY_FLAG = "1" }
login = [{ variable = "CLAUDE_CODE_OAUTH_TOKEN", about = "only this" }]

[agents.fast]
extends = "claude"
about = "A faster one"
program = "/opt/claude/bin/claude"
extra-arguments = ["--effort", "low"]
"#;
    let registry = project(text).unwrap();
    let claude = registry.get("claude", Path::new("/")).unwrap();
    assert_eq!(claude.source, Source::File("skillgauge.toml".into()));
    assert_eq!(claude.login.len(), 1);
    let variables =
        claude.variables(BundledSkills::Off, &Values::default().with(Slot::Config, "/c"));
    assert_eq!(variables["CLAUDE_CODE_MAX_RETRIES"], "0");
    assert_eq!(variables["MY_FLAG"], "1");
    assert_eq!(variables["IS_SANDBOX"], "1");
    assert_eq!(variables["CLAUDE_CONFIG_DIR"], "/c");
    let fast = registry.get("fast", Path::new("/")).unwrap();
    assert_eq!(fast.program, Some(Program::At("/opt/claude/bin/claude".into())));
    assert_eq!(fast.login, claude.login, "what it extends is what the user made of it");
    let line = fast.command_line(BundledSkills::On, &Values::default().with(Slot::Prompt, "p"));
    assert!(
        line.ends_with(&["--effort".into(), "low".into(), "--".into(), "p".into()]),
        "{line:?}"
    );
    assert!(
        !line.contains(&"--settings".to_owned()) && !line.contains(&"--model".to_owned()),
        "{line:?}"
    );
    let first: Vec<String> =
        registry.candidates().iter().map(|agent| agent.name.to_string()).collect();
    assert_eq!(first, ["fast", "claude", "codex", "gemini", "opencode"]);
}

#[test]
fn a_file_in_the_folder_is_named_after_itself() {
    let files = [file(
        "agents/mine.toml",
        SourceKind::Agent,
        "extends = \"command\"\nprogram = \"./run.sh\"\n",
    )];
    let registry = load(&files).unwrap();
    let mine = registry.get("mine", Path::new("/")).unwrap();
    assert_eq!(mine.program, Some(Program::At("/project/./run.sh".into())));
    assert_eq!(mine.adapter.name, "command");
}

#[test]
fn a_command_line_is_an_agent_of_its_own() {
    let registry = load(&[]).unwrap();
    let agent = registry.get("command:./bin/agent --mode 'a b'", Path::new("/base")).unwrap();
    assert_eq!(agent.program, Some(Program::At("/base/./bin/agent".into())));
    assert_eq!(agent.command_line(BundledSkills::Off, &Values::default()), ["--mode", "a b"]);
    for line in ["command:", "command:  ", "command:'x"] {
        let error = registry.get(line, Path::new("/")).unwrap_err();
        assert!(matches!(error, UnknownAgent::CommandLine { .. }), "{line}: {error}");
    }
}

#[test]
fn every_key_of_the_table_is_read() {
    // A value that no key takes: whoever reads a key complains. Of an unknown key it would say so.
    for key in &KEYS {
        let text = format!("extends = \"command\"\n{} = true", key.name);
        let text = if key.name == "extends" { text.replacen("extends", "#", 1) } else { text };
        let files = [file("agents/command.toml", SourceKind::Agent, &text)];
        let problems = load(&files).unwrap_err();
        let column = key.name.len() + 4;
        let place = format!("agents/command.toml:2:{column}: invalid type");
        assert!(problems[0].starts_with(&place), "{}: {problems:#?}", key.name);
    }
}

#[test]
fn a_key_that_nobody_reads_says_what_may_have_been_meant() {
    let problem = |line: &str| {
        let text = format!("extends = \"command\"\n{line}");
        load(&[file("agents/x.toml", SourceKind::Agent, &text)]).unwrap_err().join("\n")
    };
    assert_eq!(
        problem("abuot = \"typo\""),
        "agents/x.toml:2:1: unknown key `abuot`; did you mean `about`?"
    );
    assert_eq!(
        problem("adapter = \"cladue\""),
        "agents/x.toml:2:11: there is no `cladue`; did you mean `claude`?"
    );
    assert_eq!(
        problem("login = [{ variable = \"A\" }, { vriable = \"B\" }]"),
        "agents/x.toml:2:32: unknown key `vriable`; did you mean `variable`?"
    );
}

#[test]
fn a_file_of_a_login_is_linked_and_a_variable_can_have_another_name() {
    let registry = load(&[]).unwrap();
    let codex = registry.get("codex", Path::new("/")).unwrap();
    let given: Vec<String> = codex
        .login
        .iter()
        .map(|login| match &login.source {
            LoginSource::Variable { name, given_as } => format!("{name} as {given_as}"),
            LoginSource::File { paths, link } => format!("{} at {link}", paths[1]),
        })
        .collect();
    assert_eq!(
        given,
        [
            "CODEX_API_KEY as CODEX_API_KEY",
            "OPENAI_API_KEY as CODEX_API_KEY",
            "{env.HOME}/.codex/auth.json at {config}/auth.json"
        ]
    );
}

/// Lines as descriptors have them, and lines that are nearly so.
fn line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(
        KEYS.iter()
            .map(|key| key.name)
            .chain(["variable", "off", "é", "\"{home}/x\""])
            .collect::<Vec<_>>(),
    );
    let value = prop_oneof![
        Just("\"claude\"".to_owned()),
        Just("[\"{prompt}\", [\"-m\", \"{model}\"], 7]".to_owned()),
        Just("{ arguments = [\"{work}\"], minimum = \"1.2\" }".to_owned()),
        Just("[{ variable = \"A\" }, { file = \"{env.HOME}/x\", link = \"{home}/x\" }]".to_owned()),
        "\"[{}a-zé./-]{0,20}\"",
        "[\\[\\]{}a-z\"'=., ]{0,20}",
    ];
    prop_oneof![
        4 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => "\\[+agents\\.[a-zé]{1,5}\\]+",
        1 => "\\PC{0,20}",
    ]
}

proptest! {
    #[test]
    fn no_file_makes_it_panic_and_every_problem_has_a_place(lines in prop::collection::vec(line(), 0..12)) {
        let text = lines.join("\n");
        for kind in [SourceKind::Project, SourceKind::Agent] {
            if let Err(problems) = Registry::load(&[file("x.toml", kind, &text)]) {
                for problem in &problems {
                    prop_assert!(problem.place.line <= lines.len().max(1), "{}\n{}", problem, text);
                }
            }
        }
    }
}
