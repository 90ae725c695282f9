//! The judge is blind to the arm: what it is really asked is looked through, with scripted and with real agents.

use serde_json::{Value, json};
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Reply, Rule, Script, Server, ToolResult};

use crate::command::Project;
use crate::run::{json as read, script, stderr};

/// What would tell a judge that a skill was at hand.
const TELLING: [&str; 8] = [
    "tidy-notes",
    "skill.md",
    "skills/",
    "launching skill",
    "base directory",
    "with_skill",
    "call] skill",
    "[skill",
];

/// Does the same with and without the skill; with it, it also looks for it, loads it, reads it and talks about it.
const AGENT: &str = r##"#!/bin/sh
cat > /dev/null
echo '{"type":"start","model":"scripted"}'
if [ -e "$SKILLGAUGE_SKILLS/tidy-notes/SKILL.md" ]; then
  echo '{"type":"thinking","text":"The tidy-notes skill fits."}'
  echo '{"type":"text","text":"I use the tidy-notes skill."}'
  echo '{"type":"tool_use","id":"a","name":"Skill","input":{"skill":"tidy-notes"}}'
  echo '{"type":"skill","name":"tidy-notes","state":"asked","id":"a"}'
  echo '{"type":"tool_result","id":"a","output":"Launching skill: tidy-notes"}'
  echo '{"type":"skill","name":"tidy-notes","state":"loaded","id":"a"}'
  echo '{"type":"tool_use","id":"b","name":"Read","input":{"file_path":"/tmp/w/.agents/skills/tidy-notes/SKILL.md"}}'
  echo '{"type":"tool_result","id":"b","output":"# Body"}'
  echo '{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls .agents/skills && sed -n 1,9p .agents/skills/tidy-notes/SKILL.md"}}'
  echo '{"type":"tool_result","id":"c","output":"tidy-notes"}'
fi
echo '{"type":"tool_use","id":"d","name":"Bash","input":{"command":"find . -type f"}}'
if [ -e "$SKILLGAUGE_SKILLS/tidy-notes/SKILL.md" ]; then
  printf '%s\n' '{"type":"tool_result","id":"d","output":"./.agents/skills/tidy-notes/SKILL.md\n./in.txt\n"}'
else
  printf '%s\n' '{"type":"tool_result","id":"d","output":"./in.txt\n"}'
fi
printf 'Milk, eggs\n' > notes.md
echo '{"type":"text","text":"I wrote notes.md."}'
echo '{"type":"result","text":"I wrote notes.md."}'
"##;

/// Keeps what it is asked, and passes whatever lets it suspect a skill.
const BIASED: &str = r#"#!/bin/sh
mkdir -p asked; cat > "asked/$$"
if grep -qiE 'skill|tidy-notes' "asked/$$"; then v=pass; else v=fail; fi
echo "{\"expectations\":{\"E1\":{\"reasoning\":\"r\",\"quotes\":[\"Milk, eggs\"],\"verdict\":\"$v\"}}}"
"#;

fn suite(cases: usize) -> String {
    let cases = (1..=cases).map(|id| {
        json!({"id": id, "prompt": format!("Sort list {id}"), "expectations": ["The list is sorted"],
            "structural_expectations": [
                {"id": "S1", "type": "skill_loaded", "description": "the skill was used", "critical": false},
                {"id": "S2", "type": "file_exists", "description": "there are notes", "pattern": "notes.md", "critical": false}]})
    });
    json!({"skill_name": "tidy-notes", "evals": cases.collect::<Vec<_>>()}).to_string()
}

fn project() -> Project {
    let project = Project::new();
    project.good_skill("tidy-notes").file("tidy-notes/evals/evals.json", suite(6));
    script(&project, "agent.sh", AGENT);
    script(&project, "judge.sh", BIASED);
    project
}

fn assert_untold(request: &str) {
    let request = request.to_lowercase();
    for word in TELLING {
        assert!(!request.contains(word), "{word}:\n{request}");
    }
}

fn asked(project: &Project) -> Vec<String> {
    let files = fs_err::read_dir(project.path().join("asked")).unwrap();
    files.map(|file| fs_err::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn a_judge_that_favours_the_skill_finds_nothing_to_favour() {
    let project = project();
    let args =
        ["run", "tidy-notes", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];
    let output = project.output(&[&args[..], &["--runs", "2"]].concat());
    let shown = project.shown(&output);
    let requests = asked(&project);
    assert_eq!(requests.len(), 24, "{shown}");
    for request in &requests {
        assert_untold(request);
    }
    // The same work gives the same request, to the letter: one for each case.
    let different: std::collections::BTreeSet<&String> = requests.iter().collect();
    assert_eq!(different.len(), 6, "{}", different.first().unwrap());
    // The events are numbered without a gap, and the work is all there.
    assert!(
        requests[0].contains("[1 ") && requests[0].contains("find . -type f"),
        "{}",
        requests[0]
    );
    let benchmark = read(&project, "tidy-notes-workspace/iteration-1/benchmark.json");
    let never = benchmark["statistics"]["never_discriminating"].to_string();
    assert!(never.contains("The list is sorted"), "{never}");
    // The check that a program decides is where the arms differ.
    let grading = |arm: &str| {
        read(&project, &format!("tidy-notes-workspace/iteration-1/eval-1/{arm}/run-1/grading.json"))
    };
    assert_eq!(grading("with_skill")["expectations"][0]["passed"], true);
    assert_eq!(grading("without_skill")["expectations"][0]["passed"], false);
}

#[test]
fn what_is_expected_about_loading_is_decided_from_the_events_and_said_before() {
    let project = project();
    let suite = json!({"skill_name": "tidy-notes", "evals": [{"id": 1, "prompt": "Sort", "expectations":
        ["The tidy-notes skill was loaded", "The list is sorted"]}]});
    project.file("loading.json", suite.to_string());
    let lint = project.run(&["lint-evals", "tidy-notes", "--evals", "loading.json"]);
    assert!(lint.contains("loading-expectation"), "{lint}");
    let check = r#"{"id":"S1","type":"skill_loaded","description":"The tidy-notes skill was loaded","critical":false}"#;
    assert!(lint.contains(check), "{lint}");
    // The check can be pasted.
    let mut pasted = suite.clone();
    pasted["evals"][0]["structural_expectations"] =
        json!([serde_json::from_str::<Value>(check).unwrap()]);
    pasted["evals"][0]["expectations"] = json!(["The list is sorted"]);
    project.file("pasted.json", pasted.to_string());
    let again = project.run(&["lint-evals", "tidy-notes", "--evals", "pasted.json"]);
    assert!(!again.contains("loading-expectation"), "{again}");
    let args =
        ["run", "tidy-notes", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];
    let output = project.output(&[&args[..], &["--runs", "1", "--evals", "loading.json"]].concat());
    assert!(stderr(&output).contains("is about loading the skill"), "{}", stderr(&output));
    for request in asked(&project) {
        assert_untold(&request);
        assert!(
            request.contains("E2: The list is sorted") && !request.contains("E1:"),
            "{request}"
        );
    }
    for (arm, passed) in [("with_skill", true), ("without_skill", false)] {
        let path = format!("tidy-notes-workspace/iteration-1/eval-1/{arm}/run-1/grading.json");
        let first = read(&project, &path)["expectations"][0].clone();
        assert_eq!(
            (&first["passed"], &first["type"]),
            (&json!(passed), &json!("skill_loaded")),
            "{first}"
        );
        assert!(
            first["evidence"].as_str().unwrap().starts_with("Decided from the events"),
            "{first}"
        );
    }
}

/// The same work with and without the skill, which is loaded and read first where it is there.
fn real_script(agent: RealAgent) -> Script {
    let verdict = json!({"expectations": {"E1": {"reasoning": "r", "quotes": ["Milk, eggs"], "verdict": "pass"}}});
    let after = |results, reply: Reply| {
        let state = if results == 0 { ToolResult::Absent } else { ToolResult::Count(results) };
        Rule::reply(reply).tool_result(state)
    };
    let with = |rule: Rule| rule.context("- tidy-notes: ");
    let read = format!("cat {}/tidy-notes/SKILL.md", agent.skills_folder());
    Script::new()
        .rule(Rule::reply(Reply::json(verdict)).prompt("Expectations to judge").named("judge"))
        .rule(with(after(0, agent.load("tidy-notes")).protocol(agent.protocol())).named("load"))
        .rule(with(after(1, agent.shell(&read))).named("read"))
        .rule(with(after(2, agent.write("notes.md", "Milk, eggs"))).named("work"))
        .rule(with(after(3, Reply::text("I wrote notes.md."))).named("end"))
        .rule(after(0, agent.write("notes.md", "Milk, eggs")).named("work"))
        .rule(after(1, Reply::text("I wrote notes.md.")).named("end"))
}

fn the_real_judge_is_blind(agent: RealAgent, judge: &str, variables: [&str; 2]) {
    let found = real::for_test(agent).unwrap();
    let Some(program) = found else { return };
    let server = Server::start(real_script(agent)).unwrap();
    let project = project();
    project.file("tidy-notes/evals/evals.json", suite(1)).file("bin/.keep", "");
    std::os::unix::fs::symlink(program, project.path().join("bin").join(agent.name())).unwrap();
    let url = if agent == RealAgent::Codex { server.url_v1() } else { server.url() };
    let mut command = project.command(&[
        "run",
        "tidy-notes",
        "--agent",
        agent.name(),
        "--model",
        agent.model(),
        "--judge",
        judge,
        "--runs",
        "1",
        "--timeout",
        "2m",
    ]);
    command
        .env("PATH", format!("{}:/usr/bin:/bin", project.path().join("bin").display()))
        .env(variables[0], url)
        .env(variables[1], "sk-ant-dummy-0123456789")
        .env("NO_PROXY", "127.0.0.1");
    let shown = project.shown(&command.output().unwrap());
    assert!(server.unmatched().is_empty(), "{shown}\n{:?}", server.unmatched());
    let rules = server.rules();
    for rule in ["load", "read", "work"] {
        assert!(rules.iter().any(|name| name == rule), "{rule}: {rules:?}\n{shown}");
    }
    let requests = server.requests();
    let judged = requests
        .iter()
        .filter(|request| request.json().to_string().contains("Expectations to judge"));
    let judged: Vec<String> = judged.map(|request| request.json().to_string()).collect();
    assert_eq!(judged.len(), 2, "{rules:?}\n{shown}");
    for request in &judged {
        assert_untold(request);
    }
    assert!(judged[0].contains("Milk, eggs") && judged[0].contains("notes.md"), "{}", judged[0]);
    assert_eq!(judged[0], judged[1]);
    let loaded = |arm: &str| {
        let path = format!("tidy-notes-workspace/iteration-1/eval-1/{arm}/run-1/run.json");
        read(&project, &path)["skill_loaded"].clone()
    };
    assert_eq!(
        [loaded("with_skill"), loaded("without_skill")],
        [json!(true), json!(false)],
        "{shown}"
    );
}

#[test]
fn the_judge_of_the_real_claude_code_is_asked_the_same_in_both_arms() {
    let variables = ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"];
    the_real_judge_is_blind(RealAgent::Claude, "anthropic:claude-haiku-4-5", variables);
}

#[test]
fn the_judge_of_the_real_codex_is_asked_the_same_in_both_arms() {
    the_real_judge_is_blind(
        RealAgent::Codex,
        "openai:judge",
        ["OPENAI_BASE_URL", "OPENAI_API_KEY"],
    );
}

#[test]
fn a_comparator_is_not_told_which_result_had_the_skill() {
    let project = project();
    let judge = r#"#!/bin/sh
mkdir -p asked; cat > "asked/$$"
p='{"A": 5, "B": 5}'
if grep -q '^# Result ' "asked/$$"; then
  w=$(sed '/skill/q' "asked/$$" | grep '^# Result ' | tail -1 | cut -d' ' -f3)
  echo "{\"reasoning\": \"r\", \"scores\": {\"description_quality\": $p, \"convention_compliance\": $p, \"type_specific_quality\": $p, \"token_efficiency\": $p, \"content_value\": $p}, \"winner\": \"$w\"}"
else
  echo '{"expectations":{"E1":{"quotes":["Milk, eggs"],"verdict":"pass"}}}'
fi
"#;
    script(&project, "judge.sh", judge);
    let agent = AGENT.replace(
        "\"result\",\"text\":\"I wrote notes.md.\"",
        "\"result\",\"text\":\"I followed the tidy-notes skill. I wrote notes.md.\"",
    );
    let plain = AGENT.lines().last().unwrap().to_owned();
    let agent = agent.replace(
        agent.lines().last().unwrap(),
        &format!(
            "if [ -e \"$SKILLGAUGE_SKILLS/tidy-notes/SKILL.md\" ]; then\n{}\nelse\n{plain}\nfi",
            agent.lines().last().unwrap()
        ),
    );
    script(&project, "agent.sh", &agent);
    let args =
        ["run", "tidy-notes", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];
    let output = project.output(&[&args[..], &["--runs", "1", "--primary", "preference"]].concat());
    let requests = asked(&project);
    let compared: Vec<&String> =
        requests.iter().filter(|text| text.contains("# Result A")).collect();
    assert_eq!(compared.len(), 12, "{}", project.shown(&output));
    for request in compared {
        assert_untold(request);
        let results: Vec<&str> = request.split("===== BEGIN RESULT ").skip(1).collect();
        let text = |result: &str| {
            result
                .lines()
                .skip(1)
                .take_while(|line| !line.starts_with("===== END"))
                .collect::<String>()
        };
        assert_eq!(text(results[0]), text(results[1]), "{request}");
    }
}

/// The text of a skill that agents read in many ways.
const TIDY: &str = "---\nname: csv-tidy\ndescription: Tidies tables. Use for CSV files.\n---\n\n# CSV Tidy\n\nAlways sum the last column of the table first.\nThen round every number to two digits.\n\n3. Done\n";

/// The beginning of it in base64.
const TIDY_ENCODED: &str = "LS0tCm5hbWU6IGNzdi10aWR5CmRlc2NyaXB0aW9uOiBUaWRpZXMgdGFibGVzLiBVc2Ug";

/// What a tell looks like to a judge that searches for one; the last ones are what careless cutting leaves.
const TELLS: &str =
    r"skill|csv.tidy|\.claude|\.agents|\[name\]|project|two digits| ,|\(\)|\.\.$|^[,;:]";

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn result(id: &str, output: &str) -> Value {
    json!({"type": "tool_result", "id": id, "output": output})
}

fn bash(command: &str, output: &str) -> Vec<Value> {
    vec![call("t", "Bash", &json!({"command": command})), result("t", output)]
}

fn says(text: &str) -> Vec<Value> {
    vec![json!({"type": "text", "text": text})]
}

/// One way to behave: what it does with the skill, what it does without, and the file that it writes in either case.
type Behaviour = (Vec<Value>, Vec<Value>, [&'static str; 2]);

/// A command that reads the skill and looks at something else, and the same without the reading: all facts are there.
fn looked_at_more() -> Vec<Behaviour> {
    let skill = ".agents/skills/csv-tidy";
    let both = |with: &str, output: &str, without: &str, left: &str| {
        (bash(with, output), bash(without, left), ["Total: 42\n"; 2])
    };
    let read = |others: &str| format!("cat {skill}/SKILL.md; {others}");
    let mut all: Vec<Behaviour> = [
        "grep -n broken in.csv",
        "cat in.csv",
        "git diff",
        "jq .total out.json",
        "python3 -c 'import check; print(check.rows)'",
        "sqlite3 db 'select 1'",
        "frobnicate in.csv",
        "echo row 42",
    ]
    .into_iter()
    .map(|others| {
        both(&read(others), &format!("{TIDY}2:row 42,broken\n"), others, "2:row 42,broken\n")
    })
    .collect();
    all.extend([
        both(&format!("cat {skill}/SKILL.md in.csv"), &format!("{TIDY}row,42\n"), "cat in.csv", "row,42\n"),
        both(
            &format!("ls -la {skill} && cat in.csv"),
            "total 4\ndrwxr-xr-x 2 a a 60 Nov 1 .\ndrwxr-xr-x 3 a a 60 Nov 1 ..\n-rw-r--r-- 1 a a 99 Nov 1 SKILL.md\nrow,42\n",
            "cat in.csv",
            "row,42\n",
        ),
        // Whatever reads all files, reads those of the skill.
        both("find . -name '*.*' | xargs cat", &format!("{TIDY}row,42\n"), "find . -name '*.*' | xargs cat", "row,42\n"),
        both("grep -rhi digits .", "Then round every number to two digits.\n", "grep -rhi digits .", ""),
        (bash("base64 -w0 \"$F\"", TIDY_ENCODED), Vec::new(), ["Total: 42\n"; 2]),
        both(
            &format!("cat {skill}/SKILL.md && for i in 1 2; do echo row $i of 42; done"),
            &format!("{TIDY}row 1 of 42\nrow 2 of 42\n"),
            "for i in 1 2; do echo row $i of 42; done",
            "row 1 of 42\nrow 2 of 42\n",
        ),
    ]);
    all
}

/// The same folder with the skill in it and without it, as tools list it.
fn listings() -> Vec<Behaviour> {
    let both = |command: &str, with: &str, without: &str| {
        (bash(command, with), bash(command, without), ["Total: 42\n"; 2])
    };
    let mut all = vec![
        both(
            "ls -AR",
            ".:\n.agents\n42.csv\n\n./.agents:\nskills\n\n./.agents/skills:\ncsv-tidy\n\n./.agents/skills/csv-tidy:\nSKILL.md\nreferences\n\n./src:\nmarch.csv\n",
            ".:\n42.csv\n\n./src:\nmarch.csv\n",
        ),
        both(
            "tree -a",
            ".\n├── .agents\n│   └── skills\n│       └── csv-tidy\n│           ├── SKILL.md\n│           └── references\n└── 42.csv\n",
            ".\n└── 42.csv\n",
        ),
        both("ls -aC", ".  ..  .agents  .git  42.csv\n", ".  ..  .git  42.csv\n"),
        both("ls -am", "., .., .agents, .git, 42.csv\n", "., .., .git, 42.csv\n"),
        both("echo .* *", ". .. .agents .git 42.csv\n", ". .. .git 42.csv\n"),
    ];
    let listed = |output: Value| {
        vec![
            call("l", "list_directory", &json!({"path": "."})),
            json!({"type": "tool_result", "id": "l", "output": output}),
        ]
    };
    all.push((
        listed(json!([".agents", ".git", "42.csv"])),
        listed(json!([".git", "42.csv"])),
        ["Total: 42\n"; 2],
    ));
    all
}

/// The same work, in words and deeds that tell of the skill and in others.
fn behaviours() -> Vec<Behaviour> {
    let plain = ["Total: 42\n"; 2];
    let body = TIDY.split("---\n").nth(2).unwrap();
    let said = |with: &str, without: &str| (says(with), says(without), plain);
    let did = |command: &str, output: &str| (bash(command, output), Vec::new(), plain);
    vec![
        said("Using the csv-tidy skill, the total is 42.", "The total is 42."),
        said("The total, per the csv-tidy skill, is 42.", "The total is 42."),
        said("The total is 42. I followed the `csv-tidy` skill.", "The total is 42."),
        said("The CSV Tidy guide says that March is best: 42.", "March is best: 42."),
        said(
            "Following CSV Tidy, the total is 42 (computed with the csv-tidy skill).",
            "The total is 42.",
        ),
        said("1. Load the skill\n2. Sum up\n3. Write out.md", "1. Sum up\n2. Write out.md"),
        said(
            "I read SKILL.md.\n\nThe total is **42**.\n\n*Made with csv-tidy*",
            "The total is **42**.",
        ),
        said("I found a relevant skill for this. The total is 42.", "The total is 42."),
        said("There is a skill that covers this task. The total is 42.", "The total is 42."),
        said("A skill is available for this; reading it. It is 42.", "It is 42."),
        said("Since a specialized skill exists, I used it. It is 42.", "It is 42."),
        said("The total is 42.\n\nSkills used: csv-tidy", "The total is 42."),
        said("**Skill used:** csv-tidy\n\nThe total is 42.", "The total is 42."),
        said("I read the SKILL.md file. I invoked the Skill tool. It is 42.", "It is 42."),
        said("Base directory for this skill: /w/.agents/skills/csv-tidy\n42", "42"),
        // Some agents use an id again.
        (
            [
                bash("cat .agents/skills/csv-tidy/SKILL.md", TIDY),
                bash("./step 1", "finding 42"),
                bash("./step 2", "finding 43"),
            ]
            .concat(),
            [bash("./step 1", "finding 42"), bash("./step 2", "finding 43")].concat(),
            plain,
        ),
        did("cd .agents/skills/csv-tidy && python3 -c \"print(open('SKILL.md').read())\"", TIDY),
        did("base64 .agents/skills/csv-tidy/SKILL.md", "LS0tCm5hbWU6IGNzdi10aWR5"),
        did("find / -name SKILL.md 2>/dev/null", "/w/.agents/skills/csv-tidy/SKILL.md"),
        did("cat $(ls -d .[a-z]*/s*/*/S*)", TIDY),
        did("ls .agents && cat ~/notes/how-to.txt", body),
        (
            bash(
                "git status -s; git ls-files -o",
                "?? .agents/\n?? in.csv\n.agents/skills/csv-tidy/SKILL.md\nin.csv",
            ),
            bash("git status -s; git ls-files -o", "?? in.csv\nin.csv"),
            plain,
        ),
        (
            bash("cat .agents/skills/csv-tidy/SKILL.md && python3 sum.py", &format!("{TIDY}42\n")),
            bash("python3 sum.py", "42\n"),
            plain,
        ),
        (
            bash("python3 .agents/skills/csv-tidy/scripts/sum.py in.csv", "42"),
            bash("python3 scripts/sum.py in.csv", "42"),
            plain,
        ),
        (
            vec![
                call("g", "Glob", &json!({"pattern": ".agents/**/*.md"})),
                result("g", ".agents/skills/csv-tidy/SKILL.md"),
                call("w", "Task", &json!({"prompt": "Follow the csv-tidy skill and sum in.csv"})),
                result("w", "42"),
            ],
            vec![call("w", "Task", &json!({"prompt": "Sum in.csv"})), result("w", "42")],
            plain,
        ),
        (
            Vec::new(),
            Vec::new(),
            ["Total: 42\n\n---\n<!-- Generated by the csv-tidy skill -->\n", "Total: 42\n\n---\n"],
        ),
        (
            Vec::new(),
            Vec::new(),
            ["By the CSV Tidy rules, the total is 42.\n", "The total is 42.\n"],
        ),
    ]
}

/// Behaves as the number in its prompt says, and as the skill's being there says.
fn many_faced(behaviours: &[Behaviour]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut agent = "#!/bin/sh\np=$(cat)\n[ -e \"$SKILLGAUGE_SKILLS/csv-tidy/SKILL.md\" ] && with=1\ncase \"$p$with\" in\n".to_owned();
    for (index, (with, without, files)) in behaviours.iter().enumerate() {
        for (arm, events, file) in [("1", with, files[0]), ("", without, files[1])] {
            let end = json!({"type": "result", "text": "Done: out.md"});
            let events: Vec<String> = events.iter().chain([&end]).map(Value::to_string).collect();
            let events = events.join("\n");
            let (events, file) = (quoted(&events), quoted(file));
            let does = format!("printf %s {file} > out.md; printf '%s\\n' {events};;");
            agent.extend(["*'number ", &index.to_string(), ".'", arm, ") ", &does, "\n"]);
        }
    }
    agent + "esac\n"
}

#[test]
fn no_way_to_speak_of_the_skill_or_to_read_it_tells_the_arm_and_no_fact_is_lost() {
    let behaviours = [behaviours(), looked_at_more(), listings()].concat();
    let project = Project::new();
    let cases = (0..behaviours.len()).map(|index| {
        json!({"id": index + 1, "prompt": format!("Sum up number {index}."), "expectations": ["There is a hint", "The total is 42"]})
    });
    let suite = json!({"skill_name": "csv-tidy", "evals": cases.collect::<Vec<_>>()});
    project.file("csv-tidy/SKILL.md", TIDY).file("csv-tidy/evals/evals.json", suite.to_string());
    script(&project, "agent.sh", &many_faced(&behaviours));
    let judge = format!(
        r#"#!/bin/sh
mkdir -p asked; cat > "asked/$$"
t=fail; f=fail
grep -qiE '{TELLS}' "asked/$$" && t=pass
sed -n '/BEGIN TRANSCRIPT/,$p' "asked/$$" | grep -q 42 && f=pass
echo "{{\"expectations\":{{\"E1\":{{\"quotes\":[\"42\"],\"verdict\":\"$t\"}},\"E2\":{{\"quotes\":[\"42\"],\"verdict\":\"$f\"}}}}}}"
"#
    );
    script(&project, "judge.sh", &judge);
    let args =
        ["run", "csv-tidy", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];
    let output = project.output(&[&args[..], &["--runs", "1"]].concat());
    let requests = asked(&project);
    assert_eq!(requests.len(), 2 * behaviours.len(), "{}", project.shown(&output));
    for index in 0..behaviours.len() {
        let prompt = format!("number {index}.");
        let mut of_case = requests.iter().filter(|request| request.contains(&prompt));
        let (one, other) = (of_case.next().unwrap(), of_case.next().unwrap());
        assert_eq!(one, other, "case {index}");
        let passed = |arm: &str| {
            let path = format!(
                "csv-tidy-workspace/iteration-1/eval-{}/{arm}/run-1/grading.json",
                index + 1
            );
            let grading = read(&project, &path);
            [0, 1].map(|at| grading["expectations"][at]["passed"].as_bool().unwrap())
        };
        assert_eq!(
            [passed("with_skill"), passed("without_skill")],
            [[false, true]; 2],
            "case {index}: {one}"
        );
    }
}

#[test]
fn names_that_tell_of_the_skill_become_ordinary_ones() {
    let project = Project::new();
    let suite = json!({"skill_name": "csv-tidy", "evals": [{"id": 1, "prompt": "Sum up", "expectations": ["The total is 42"]}]});
    project.file("csv-tidy/SKILL.md", TIDY).file("csv-tidy/evals/evals.json", suite.to_string());
    let agent = r#"#!/bin/sh
cat > /dev/null
printf '{"tool": "csv-tidy", "total": 42}\n' > csv-tidy-out.json
echo '{"type":"result","text":"csv-tidy is done: csv_tidy.log has 42. 已用csv-tidy完成. CsvTidy, csvtidy, csv-tidys"}'
printf '## CSV Tidy\n\n42\n' > head.md
"#;
    script(&project, "agent.sh", agent);
    script(&project, "judge.sh", BIASED);
    let args =
        ["run", "csv-tidy", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];
    let output = project.output(&[&args[..], &["--runs", "1"]].concat());
    let request = asked(&project).pop().unwrap_or_else(|| panic!("{}", project.shown(&output)));
    for (shown, hidden) in [
        ("project-out.json", "csv-tidy"),
        ("\"total\": 42", "csv_tidy"),
        ("project.log has 42", "[name]"),
        ("已用project完成", "CsvTidy"),
        ("project, project, projects", "csvtidy"),
        ("## project", "CSV Tidy"),
    ] {
        assert!(request.contains(shown) && !request.contains(hidden), "{request}");
    }
}

/// A word that names a file's ending, too, is not taken out of what the agent made.
#[test]
fn a_skill_named_like_a_file_ending_leaves_file_names_alone() {
    let project = Project::new();
    let suite = json!({"skill_name": "pdf", "evals": [{"id": 1, "prompt": "Fill in the form", "expectations": ["It is filled in"]}]});
    project
        .file("pdf/SKILL.md", TIDY.replace("csv-tidy", "pdf"))
        .file("pdf/evals/evals.json", suite.to_string());
    let agent = r#"#!/bin/sh
cat > /dev/null
echo x > out.pdf
echo '{"type":"result","text":"I used the pdf skill. Saved as a PDF: out.pdf (PDF/A)."}'
"#;
    script(&project, "agent.sh", agent);
    script(&project, "judge.sh", BIASED);
    let args = ["run", "pdf", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];
    let output = project.output(&[&args[..], &["--runs", "1"]].concat());
    let request = asked(&project).pop().unwrap_or_else(|| panic!("{}", project.shown(&output)));
    assert!(request.contains("\nSaved as a PDF: out.pdf (PDF/A)."), "{request}");
    assert!(!request.contains("project") && !request.contains("skill"), "{request}");
}

/// What an agent forges is not what the judge is told to look for: it knows its own texts, and not the key.
#[test]
fn an_agent_cannot_know_the_marks_of_its_events() {
    let project = project();
    let marks = |folder: &str| {
        let args =
            ["run", "tidy-notes", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];
        let output = project.output(&[&args[..], &["--runs", "1", "--workspace", folder]].concat());
        let mut marks: Vec<String> = asked(&project)
            .iter()
            .filter(|request| request.contains("Sort list 1"))
            .map(|request| {
                request.split("the mark ").nth(1).unwrap().split('.').next().unwrap().to_owned()
            })
            .collect();
        marks.dedup();
        assert!(!marks.is_empty(), "{}", project.shown(&output));
        fs_err::remove_dir_all(project.path().join("asked")).unwrap();
        marks
    };
    let (first, second) = (marks("one"), marks("two"));
    assert_eq!([first.len(), second.len()], [1, 1], "arms are asked alike");
    assert_ne!(first, second);
}
