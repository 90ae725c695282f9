//! The workspaces that are looked at: made by the binary with scripted agents, or laid out by hand.

use serde_json::{Value, json};

use crate::command::Project;
use crate::run::{ITERATION, JUDGE, RUN, greeter, script};

/// A workspace with one iteration, and what must be true of it.
pub(super) struct Made {
    pub(super) project: Project,
    /// The folder of the iteration.
    pub(super) iteration: String,
    /// The table that `run` printed.
    pub(super) said: Option<String>,
    /// Whether the iteration is that of the skill's current version.
    pub(super) has_versions: bool,
    /// Facts of benchmark.json that follow from how it was made.
    pub(super) expected: Vec<(String, String)>,
}

impl Made {
    fn by_hand(project: Project, iteration: &str) -> Self {
        Self {
            project,
            iteration: iteration.to_owned(),
            said: None,
            has_versions: false,
            expected: Vec::new(),
        }
    }

    /// Runs the suite of `greeter`, as its first version.
    fn by_run(project: Project, args: &[&str]) -> Self {
        if !project.path().join("greeter-workspace/history.json").exists() {
            assert_eq!(project.exit_code(&["snapshot", "greeter"]), Some(0));
        }
        let output = project.output(&[&["run", "greeter"], args].concat());
        let is_done = matches!(output.status.code(), Some(0 | 1 | 3));
        assert!(is_done, "{}", project.shown(&output));
        let said = String::from_utf8(output.stdout).unwrap();
        Self { said: Some(said), has_versions: true, ..Self::by_hand(project, ITERATION) }
    }

    /// What is opened to look at it.
    pub(super) fn workspace(&self) -> &str {
        self.iteration.rsplit_once('/').map_or(self.iteration.as_str(), |(workspace, _)| workspace)
    }

    /// What the iteration is called in addresses.
    pub(super) fn key(&self) -> &str {
        self.iteration.rsplit_once('/').map_or("-", |(_, key)| key)
    }

    fn expect(mut self, facts: &[(&str, &str)]) -> Self {
        let owned = facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        self.expected.extend(owned);
        self
    }

    /// How many runs of an arm count as what: passed and failed ones of cases that are compared, and all others.
    fn arm(self, arm: &str, passed: usize, failed: usize, left_out: usize) -> Self {
        let [passed, failed, left_out] = [passed, failed, left_out].map(|n| n.to_string());
        self.expect(&[
            (&format!("arm {arm}: passed"), &passed),
            (&format!("arm {arm}: failed"), &failed),
            (&format!("arm {arm}: left out"), &left_out),
        ])
    }

    fn verdict(self, baseline: &str, verdict: &str) -> Self {
        self.expect(&[(&format!("difference with_skill {baseline}: verdict"), verdict)])
    }
}

/// Greets with the skill and does not without it, unless one of the `special` lines of a `case` says otherwise. These see
/// the prompt and `with` or `without`; `once NAME` is true the first time.
fn agent(project: &Project, special: &str) {
    let root = project.path().display().to_string();
    let text = r#"#!/bin/sh
once() { mkdir "ROOT/once-$1" 2> /dev/null; }
greet() { printf 'Hello, reader\n' > greeting.txt; }
lose() { echo '{"type":"error","status":529,"message":"busy","reason":"overloaded"}'; exit 1; }
prompt=$(cat)
arm=without
[ -e "$SKILLGAUGE_SKILLS/greeter/SKILL.md" ] && arm=with
grep -q 'new way' "$SKILLGAUGE_SKILLS/greeter/SKILL.md" 2> /dev/null && arm=new
echo '{"type":"start","model":"scripted"}'
[ $arm = without ] || echo '{"type":"skill","name":"greeter","state":"loaded"}'
case "$prompt $arm" in
SPECIAL
*" without") printf 'whatever\n' > greeting.txt;;
*) greet;;
esac
echo '{"type":"usage","input_tokens":100,"output_tokens":20,"cost_usd":0.01}'
echo '{"type":"result","text":"done"}'
"#;
    script(project, "agent.sh", &text.replace("ROOT", &root).replace("SPECIAL", special));
}

/// The skill `greeter` with its suite of six cases, and an agent with special lines.
fn project(special: &str) -> Project {
    let project = greeter();
    agent(&project, special);
    project
}

const AGENT: [&str; 2] = [RUN[2], RUN[3]];
const JUDGED: [&str; 4] = [RUN[2], RUN[3], RUN[4], RUN[5]];

fn judged(special: &str, args: &[&str]) -> Made {
    Made::by_run(project(special), &[&JUDGED[..], args].concat())
}

fn unjudged(special: &str, args: &[&str]) -> Made {
    Made::by_run(project(special), &[&AGENT[..], &["--judge", "none"], args].concat())
}

pub(super) fn evals() -> Made {
    // One case is flaky with the skill, and one never passes.
    let special = "*\"number 2\"*\" with\") once two && greet;;\n*\"number 3\"*) ;;";
    judged(special, &["--runs", "2", "--jobs", "1"])
        .arm("with_skill", 9, 3, 0)
        .arm("without_skill", 0, 12, 0)
        .expect(&[("case 2 with_skill: flaky", "true"), ("test 3", "failed")])
}

const CRITERIA: &str = r#"{"version": "1.0", "skill": "greeter", "cases": [
  {"id": "hello", "prompt": "Greet reader number 1", "files": [], "expectations": [
    {"criterion": "greets", "description": "greeting.txt begins with Hello", "required": true}]},
  {"id": "again", "prompt": "Greet reader number 2", "files": [], "expectations": [
    {"criterion": "greets", "description": "greeting.txt begins with Hello", "required": true}]}]}"#;

/// Scores 5 where there is a greeting, and 2 where there is none.
const SCORES: &str = r#"#!/bin/sh
score=2; quotes=
if grep -q "Hello, reader"; then score=5; quotes='"Hello, reader"'; fi
echo '{"criteria":{"C1":{"reasoning":"greets","quotes":['$quotes'],"score":'$score'}},"conventions":{"description_field":{"details":"d","passed":true},"progressive_disclosure":{"details":"d","passed":true},"type_alignment":{"details":"d","passed":true}},"claims":[],"user_notes_summary":"","eval_feedback":""}'
"#;

fn criteria(special: &str, args: &[&str]) -> Made {
    let project = project(special);
    project.file("greeter/evals/evals.json", CRITERIA);
    script(&project, "judge.sh", SCORES);
    Made::by_run(project, &[&JUDGED[..], args].concat())
}

pub(super) fn cases() -> Made {
    let special = "*\"number 2\"*\" with\") once two && greet;;";
    criteria(special, &["--runs", "2", "--jobs", "1", "--baseline", "without"])
        .arm("with_skill", 3, 1, 0)
        .arm("without_skill", 0, 4, 0)
}

pub(super) fn no_baseline() -> Made {
    criteria("", &["--runs", "1", "--baseline", "none"]).arm("with_skill", 2, 0, 0)
}

pub(super) fn old_version() -> Made {
    let project = project("*\" with\") ;;");
    assert_eq!(project.exit_code(&["snapshot", "greeter"]), Some(0));
    let skill = String::from_utf8(project.read("greeter/SKILL.md")).unwrap();
    project.file("greeter/SKILL.md", skill.replace("Text.", "The new way."));
    assert_eq!(project.exit_code(&["snapshot", "greeter"]), Some(0));
    Made::by_run(project, &[&JUDGED[..], &["--runs", "1", "--baseline", "old=0"]].concat())
        .arm("with_skill", 6, 0, 0)
        .arm("old_skill", 0, 6, 0)
        .verdict("old_skill", "better")
}

pub(super) fn crash() -> Made {
    let special = "*\"number 2\"*\" with\") once two && kill -9 $$; greet;;";
    judged(special, &["--runs", "2", "--jobs", "1", "--case", "[12]"])
        .arm("with_skill", 3, 1, 0)
        .expect(&[("case 2 with_skill: flaky", "true")])
}

pub(super) fn timeout() -> Made {
    let special = "*\"number 2\"*\" with\") greet; sleep 30;;";
    let args = ["--runs", "1", "--case", "[12]", "--timeout", "2s"];
    unjudged(special, &args)
        .arm("with_skill", 1, 1, 0)
        .expect(&[("run 2 with_skill 1", "failed"), ("test 2", "failed")])
}

pub(super) fn lost_runs() -> Made {
    let special = "*\"number 2\"*\" with\") once two && lose; greet;;";
    let args = ["--runs", "2", "--jobs", "1", "--retries", "0", "--case", "[12]"];
    judged(special, &args)
        .arm("with_skill", 3, 0, 1)
        .expect(&[("test 2", "error"), ("case 2 with_skill: flaky", "false")])
}

/// Six cases are better with the skill; in one more it fails, and there the baseline was lost: over all runs the skill
/// would look far less good than over the cases that both have.
pub(super) fn lost_arm() -> Made {
    let project = project("*\"number 7\"*\" with\") ;;\n*\"number 7\"*) lose;;");
    let mut suite: Value =
        serde_json::from_slice(&project.read("greeter/evals/evals.json")).unwrap();
    let mut seventh = suite["evals"][0].clone();
    (seventh["id"], seventh["prompt"]) = (json!(7), json!("Greet reader number 7"));
    suite["evals"].as_array_mut().unwrap().push(seventh);
    project.file("greeter/evals/evals.json", suite.to_string());
    Made::by_run(project, &[&JUDGED[..], &["--runs", "1", "--retries", "0"]].concat())
        .arm("with_skill", 6, 0, 1)
        .arm("without_skill", 0, 6, 1)
        .verdict("without_skill", "better")
        .expect(&[("arm with_skill: rate", "1"), ("run 7 with_skill 1", "failed")])
}

pub(super) fn no_judge_answers() -> Made {
    let project = project("");
    script(&project, "judge.sh", "#!/bin/sh\ncat > /dev/null\nexit 1\n");
    Made::by_run(project, &[&JUDGED[..], &["--runs", "1", "--case", "[12]"]].concat())
        .arm("with_skill", 0, 0, 2)
        .arm("without_skill", 0, 0, 2)
}

pub(super) fn some_judge_answers() -> Made {
    let project = project("");
    let refusal = "#!/bin/sh\nprompt=$(cat)\ncase \"$prompt\" in *\"number 2\"*) exit 1;; esac\n";
    let judge = JUDGE
        .replace("#!/bin/sh\n", refusal)
        .replace("if grep", "if printf '%s' \"$prompt\" | grep");
    script(&project, "judge.sh", &judge);
    Made::by_run(project, &[&JUDGED[..], &["--runs", "1", "--case", "[12]"]].concat())
        .arm("with_skill", 1, 0, 1)
        .arm("without_skill", 0, 1, 1)
}

/// As it is after an aggregation of gradings that a judge left open in part.
pub(super) fn one_open_expectation() -> Made {
    let mut made = judged("", &["--runs", "1", "--case", "[12]"]);
    let file = format!("{ITERATION}/eval-1/with_skill/run-1/grading.json");
    let mut grading: Value = serde_json::from_slice(&made.project.read(&file)).unwrap();
    grading["judge_errors"] = json!(["It is polite: the judge gave no verdict"]);
    made.project.file(&file, grading.to_string());
    made.said = None;
    made.arm("with_skill", 1, 0, 1).expect(&[("run 1 with_skill 1", "not measured")])
}

pub(super) fn closed_gate() -> Made {
    // Without the skill there is no file at all, and it is critical.
    let special = "*\" without\") ;;";
    judged(special, &["--runs", "1", "--case", "[12]"])
        .arm("with_skill", 2, 0, 0)
        .arm("without_skill", 0, 2, 0)
        .expect(&[("case 1 without_skill: rate", "0")])
}

/// Both arms pass one check of two, and only one of them fails the critical one.
pub(super) fn closed_gate_without_judge() -> Made {
    let special =
        "*\" without\") printf 'Hello' > other.txt;;\n*\" with\") echo no > greeting.txt;;";
    let project = project(special);
    let mut suite: Value =
        serde_json::from_slice(&project.read("greeter/evals/evals.json")).unwrap();
    for eval in suite["evals"].as_array_mut().unwrap() {
        eval["structural_expectations"][1] = json!({"id": "S2", "type": "file_exists",
            "description": "there is another file", "pattern": "other.txt", "critical": false});
    }
    project.file("greeter/evals/evals.json", suite.to_string());
    let args = ["--judge", "none", "--runs", "1", "--case", "[12]"];
    Made::by_run(project, &[&AGENT[..], &args].concat()).expect(&[
        ("arm with_skill: rate", "0.5"),
        ("arm without_skill: rate", "0.5"),
        ("difference with_skill without_skill: value", "0"),
    ])
}

pub(super) fn rubric_only() -> Made {
    let project = project("");
    let anchors = json!({"1": "rude", "3": "plain", "5": "warm"});
    let dimension =
        json!({"id": "D1", "name": "warmth", "description": "How warm it is", "scoring": anchors});
    let evals: Vec<Value> = (1..=2)
        .map(|id| {
            json!({"id": id, "prompt": format!("Greet reader number {id}"),
                "quality_rubric": {"dimensions": [dimension.clone()]}})
        })
        .collect();
    let suite = json!({"skill_name": "greeter", "evals": evals});
    project.file("greeter/evals/evals.json", suite.to_string());
    let judge = r#"#!/bin/sh
score=2; quotes=
if grep -q "Hello, reader"; then score=4; quotes='"Hello, reader"'; fi
echo '{"expectations":{},"rubric":{"D1":{"reasoning":"warm","quotes":['$quotes'],"score":'$score'}},"claims":[],"user_notes":{"uncertainties":[],"needs_review":[],"workarounds":[]},"eval_feedback":{"suggestions":[],"overall":""}}'
"#;
    script(&project, "judge.sh", judge);
    Made::by_run(project, &[&JUDGED[..], &["--runs", "1", "--baseline", "without"]].concat())
}

pub(super) fn budget() -> Made {
    let mut made =
        unjudged("", &["--runs", "2", "--jobs", "1", "--max-calls", "7", "--case", "[123]"]);
    made.has_versions = true;
    made
}

/// A grading as the skill-creator's agents write it.
fn grading(verdicts: &[bool]) -> String {
    let passed = verdicts.iter().filter(|passed| **passed).count();
    let expectations: Vec<Value> = verdicts
        .iter()
        .enumerate()
        .map(|(index, passed)| {
            json!({"text": format!("expectation {index}"), "passed": passed, "evidence": "seen"})
        })
        .collect();
    let summary = json!({"passed": passed, "failed": verdicts.len() - passed, "total": verdicts.len(),
        "pass_rate": f64::from(u32::try_from(passed).unwrap()) / f64::from(u32::try_from(verdicts.len()).unwrap())});
    json!({"expectations": expectations, "summary": summary}).to_string()
}

fn metadata(id: u64, name: &str) -> String {
    json!({"eval_id": id, "eval_name": name, "prompt": "Do it", "assertions": []}).to_string()
}

pub(super) fn skill_creator() -> Made {
    let project = Project::new();
    let at = "greeter-workspace/iteration-1";
    for (eval, with, without) in [(0, true, false), (1, true, true), (2, false, false)] {
        for run in [1, 2] {
            for (arm, passes) in [("with_skill", with), ("without_skill", without)] {
                let folder = format!("{at}/eval-{eval}/{arm}/run-{run}");
                project.file(&format!("{folder}/grading.json"), grading(&[true, passes, run == 1]));
                project.file(&format!("{folder}/outputs/a.txt"), "text");
            }
        }
        project.file(
            &format!("{at}/eval-{eval}/eval_metadata.json"),
            metadata(eval, &format!("task {eval}")),
        );
    }
    Made::by_hand(project, at).arm("with_skill", 2, 4, 0).arm("without_skill", 1, 5, 0)
}

pub(super) fn named_folders() -> Made {
    let project = Project::new();
    let at = "greeter-workspace/iteration-1";
    for (eval, name) in [(1, "tidy-a-table"), (2, "sum-it-up")] {
        for (arm, passes) in [("with_skill", true), ("without_skill", eval == 2)] {
            let folder = format!("{at}/eval-{eval}-{name}/{arm}/run-1");
            project.file(&format!("{folder}/grading.json"), grading(&[passes]));
        }
        project.file(&format!("{at}/eval-{eval}-{name}/eval_metadata.json"), metadata(eval, name));
    }
    Made::by_hand(project, at).arm("with_skill", 2, 0, 0).arm("without_skill", 1, 1, 0)
}

pub(super) fn flat() -> Made {
    let project = Project::new();
    let at = "greeter-workspace/iteration-1";
    for (eval, with, without) in [("tables", true, false), ("sums", true, true)] {
        for (arm, passes) in [("with_skill", with), ("without_skill", without)] {
            let folder = format!("{at}/eval-{eval}/{arm}");
            project.file(&format!("{folder}/grading.json"), grading(&[passes, true]));
            project.file(&format!("{folder}/outputs/a.txt"), "text");
        }
    }
    Made::by_hand(project, at).arm("with_skill", 2, 0, 0).arm("without_skill", 1, 1, 0)
}

pub(super) fn merged() -> Made {
    let project = project("*\"number 2\"*) exit 7;;");
    for part in ["1/2", "2/2"] {
        let workspace = format!("part-{}", &part[..1]);
        let args = ["--runs", "1", "--case", "[123]", "--shard", part, "--workspace", &workspace];
        let output = project.output(&[&RUN[..], &args].concat());
        assert!(output.status.code() != Some(2), "{}", project.shown(&output));
    }
    let merged = project.output(&["merge", "part-1", "part-2", "--out", "whole"]);
    assert!(matches!(merged.status.code(), Some(0 | 1)), "{}", project.shown(&merged));
    Made::by_hand(project, "whole").arm("with_skill", 2, 1, 0).arm("without_skill", 0, 3, 0)
}

pub(super) fn fleet() -> Made {
    let special = "*\"number 2\"*\" with\") kill -9 $$;;";
    judged(special, &["--fleet", "local", "--runs", "1", "--case", "[123]"])
        .arm("with_skill", 2, 1, 0)
        .arm("without_skill", 0, 3, 0)
}
