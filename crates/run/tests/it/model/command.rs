//! `command:` models: shell scripts and the kit's fake agent in its model mode.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillgauge_run::model::{AnswerFormat, Chance, ModelError, Phase, connect};
use skillgauge_testkit::agent::{AgentScript, Canned, DialectName, Step, install};
use tempfile::TempDir;

use crate::model::stage::{KEY, access_in, ask, question, verdict, verdict_question};

/// A folder with a program in it.
struct Shop(TempDir);

impl Shop {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a shell script; through a shell of its own, so that nobody executes a file that is still open for writing.
    fn script(&self, text: &str) -> &'static str {
        let path = self.path().join("judge.sh");
        fs_err::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        "command:sh ./judge.sh"
    }

    fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path().join(name)).unwrap()
    }
}

#[tokio::test]
async fn a_script_reads_the_prompt_and_prints_the_answer() {
    let shop = Shop::new();
    let name = shop
        .script("cat > prompt.txt; cp \"$SKILLGAUGE_REQUEST\" request.json; echo; echo '  Four. '");
    let response = ask(name, &access_in(shop.path()), &question()).await.unwrap();
    assert_eq!(response.text, "Four.");
    assert_eq!((response.usage, response.cost_usd, response.model), (None, None, None));
    assert_eq!(shop.read("prompt.txt"), "You are a judge.\n\nGrade this work.\nIt is good.");
    let request: Value = serde_json::from_str(&shop.read("request.json")).unwrap();
    assert_eq!(
        request,
        json!({
            "format": "model-request", "version": {"major": 1, "minor": 0}, "purpose": "grade",
            "system": "You are a judge.", "user": ["Grade this work.\nIt is good."], "max_output_tokens": 8192,
        })
    );
}

#[tokio::test]
async fn an_answer_may_say_what_it_used() {
    let shop = Shop::new();
    let name = shop.script(
        r#"echo '{"format": "model-answer", "text": "Four.", "model": "m-1", "cost_usd": 0.25, "stop_reason": "done",
            "usage": {"input_tokens": 10, "output_tokens": 2}}'"#,
    );
    let response = ask(name, &access_in(shop.path()), &question()).await.unwrap();
    assert_eq!((response.text.as_str(), response.model.as_deref()), ("Four.", Some("m-1")));
    assert_eq!((response.cost_usd, response.stop_reason.as_deref()), (Some(0.25), Some("done")));
    assert_eq!(response.usage.unwrap().total_tokens(), 12);
}

#[tokio::test]
async fn a_structured_answer_is_asked_for_in_the_prompt_and_checked() {
    let shop = Shop::new();
    let name = shop.script(&format!("cat > prompt.txt; echo 'Sure: {}'", verdict()));
    let response = ask(name, &access_in(shop.path()), &verdict_question()).await.unwrap();
    assert_eq!(response.value, Some(verdict()));
    assert_eq!(response.manner.format, Some(AnswerFormat::PlainText));
    assert!(shop.read("prompt.txt").contains("fits this JSON Schema"));
}

#[tokio::test]
async fn a_wrong_answer_is_repaired_once() {
    let shop = Shop::new();
    let name = shop.script(&format!(
        "if grep -q previous_answer; then echo '{}'; else echo '{{\"score\": 9}}'; fi",
        verdict()
    ));
    let response = ask(name, &access_in(shop.path()), &verdict_question()).await.unwrap();
    assert_eq!((response.value, response.attempts.len()), (Some(verdict()), 2));
}

#[tokio::test]
async fn a_program_that_fails_is_not_asked_again_unless_it_says_so() {
    let shop = Shop::new();
    let name = shop.script("echo 'out of paper' >&2; echo x >> count; exit 3");
    let failure = ask(name, &access_in(shop.path()), &question()).await.unwrap_err();
    let ModelError::Program { program, exit, message, chance } = &failure.error else {
        panic!("{failure:?}")
    };
    assert_eq!(
        (program.as_str(), message.as_str(), *chance),
        ("sh", "out of paper", Chance::Final)
    );
    assert_eq!(exit.unwrap().code, Some(3));
    assert_eq!(failure.to_string(), "`sh` failed with code 3: out of paper");
    assert_eq!(shop.read("count"), "x\n");

    let name =
        shop.script("echo x >> later; [ $(wc -l < later) -ge 3 ] && echo Four. && exit 0; exit 75");
    let response = ask(name, &access_in(shop.path()), &question()).await.unwrap();
    assert_eq!((response.text.as_str(), response.attempts.len()), ("Four.", 3));
}

#[tokio::test]
async fn a_program_that_says_nothing_has_failed() {
    let shop = Shop::new();
    let failure =
        ask(shop.script("exit 0"), &access_in(shop.path()), &question()).await.unwrap_err();
    assert!(failure.to_string().contains("without an answer on stdout"), "{failure}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_before_it_is_asked() {
    let shop = Shop::new();
    let open = |program: &str| {
        connect(&format!("command:{program}").parse().unwrap(), &access_in(shop.path()))
    };
    for program in ["no-such-judge", "./no-such-judge", "/no/such/judge x"] {
        let error = open(program).unwrap_err();
        assert!(matches!(&error, ModelError::NoProgram { .. }), "{error:?}");
    }
    fs_err::write(shop.path().join("plain.txt"), "no program").unwrap();
    let error = open("./plain.txt").unwrap_err().to_string();
    assert!(error.contains("chmod +x"), "{error}");
    shop.script("exit 0");
    open("./judge.sh").unwrap();
    // One that is removed meanwhile is told by the answer.
    let model = open("./judge.sh").unwrap();
    fs_err::remove_file(shop.path().join("judge.sh")).unwrap();
    let failure = model.answer(&question()).await.unwrap_err();
    assert!(matches!(&failure.error, ModelError::NoProgram { .. }), "{failure:?}");
    assert_eq!(failure.attempts.len(), 1);
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_with_its_children() {
    let shop = Shop::new();
    let name = shop.script("sleep 300 & echo $! > child; trap '' TERM; sleep 300");
    let access = access_in(shop.path());
    let started = Instant::now();
    let request = question().timeout(Duration::from_millis(500));
    let failure = ask(name, &access, &request).await.unwrap_err();
    assert_eq!(failure.attempts.len(), 1, "it would hang again");
    assert_eq!(failure.error, ModelError::Timeout { phase: Phase::Program, limit_ms: 500 });
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let child = shop.read("child");
    assert!(!Path::new(&format!("/proc/{}", child.trim())).exists(), "the child is still there");
}

#[tokio::test]
async fn a_question_that_is_dropped_takes_its_program_with_it() {
    let shop = Shop::new();
    let name = shop.script("echo $$ > self.draft; mv self.draft self; exec sleep 300");
    let access = access_in(shop.path());
    let request = question();
    let marker = shop.path().join("self");
    tokio::select! {
        answer = ask(name, &access, &request) => panic!("{answer:?}"),
        () = async { while !marker.exists() { tokio::time::sleep(Duration::from_millis(10)).await } } => {}
    }
    let process = format!("/proc/{}", shop.read("self").trim());
    let deadline = Instant::now() + Duration::from_secs(20);
    while Path::new(&process).exists() {
        assert!(Instant::now() < deadline, "the program is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_flood_is_not_read_to_its_end() {
    let shop = Shop::new();
    let name = shop.script("head -c 40000000 /dev/zero | tr '\\0' 'x'");
    let failure = ask(name, &access_in(shop.path()), &question()).await.unwrap_err();
    assert_eq!(failure.error, ModelError::TooLarge { limit: 16 * 1024 * 1024 });
}

#[tokio::test]
async fn a_program_sees_only_the_variables_that_are_meant_for_it() {
    let shop = Shop::new();
    let name =
        shop.script("env > seen; echo \"my key is $MY_KEY\" >&2; [ -w \"$TMPDIR\" ] && exit 4");
    let mut access = access_in(shop.path());
    access.environment =
        [("PATH", "/usr/bin:/bin"), ("MY_KEY", KEY), ("OPENAI_API_KEY", "other-key-12345")]
            .into_iter()
            .collect();
    access.command_variables = vec!["MY_KEY".to_owned()];
    let failure = ask(name, &access, &question()).await.unwrap_err();
    let seen = shop.read("seen");
    assert!(seen.contains(&format!("MY_KEY={KEY}")) && !seen.contains("other-key-12345"), "{seen}");
    assert!(failure.to_string().ends_with("my key is <secret>"), "{failure}");
}

#[tokio::test]
async fn the_fake_agent_answers_as_a_model() {
    let shop = Shop::new();
    let answers = vec![
        Canned { contains: "Grade this work.".into(), answer: verdict() },
        Canned { contains: String::new(), answer: json!("what?") },
    ];
    let script = AgentScript::new([Step::Answer(answers)]).dialect(DialectName::Command);
    install(shop.path(), "fake-judge", &script).unwrap();
    let access = access_in(shop.path());
    let response = ask("command:./fake-judge", &access, &verdict_question()).await.unwrap();
    assert_eq!(response.value, Some(verdict()));
    let mut other = question();
    other.user = vec!["Hello.".to_owned()];
    assert_eq!(ask("command:./fake-judge", &access, &other).await.unwrap().text, "what?");
}
