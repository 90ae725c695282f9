//! Recording and replaying: the same run without the agent.

use skillgauge_run::agent::{
    AgentRun, AgentTask, ExecuteError, Progress, RunOrigin, StopCondition,
};
use skillgauge_run::cassette::{CassetteError, Mode, Repeated};
use skillgauge_run::pool::RetryRules;
use skillgauge_testkit::agent::{AgentScript, Filling, Finish, Step};
use tokio_util::sync::CancellationToken;

use crate::bench::Bench;

fn script() -> AgentScript {
    AgentScript::new([
        Step::LoadSkill { name: "csv-report".into() },
        Step::Write { path: "report.md".into(), text: "# Sales in {{cwd}}\n".into() },
        Step::BigFile { path: "data.bin".into(), bytes: 5000, filling: Filling::Bytes },
        Step::Quietly(vec![Step::Shell(
            "printf '\\377\\000' > raw; printf '#!/bin/sh\\n' > go.sh; chmod +x go.sh; echo $$ > pid; ln -s raw link; rm -r evals".into(),
        )]),
        Step::Say("It lies in {{cwd}}/report.md, and {{home}} is mine.".into()),
        Step::Finish(Finish::text("Done.")),
    ])
}

fn events(bench: &Bench, task: &AgentTask, mode: Mode) -> (AgentRun, Vec<String>) {
    let _ = fs_err::remove_dir_all(bench.outputs(""));
    let mut events = Vec::new();
    let run = bench
        .execute(task, mode, &RetryRules::for_runs(), &CancellationToken::new(), &mut |progress| {
            if let Progress::Event(event) = progress {
                events.push(serde_json::to_string(event).unwrap());
            }
        })
        .unwrap_or_else(|error| panic!("{error}"));
    (run, events)
}

fn tree(bench: &Bench) -> Vec<(String, Vec<u8>, bool)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut folders = vec![bench.outputs("")];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mode = fs_err::metadata(&path).unwrap().permissions().mode();
                found.push((
                    path.display().to_string(),
                    fs_err::read(&path).unwrap(),
                    mode & 0o111 != 0,
                ));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_replay_is_the_run_that_was_recorded() {
    let bench = Bench::with_fake("claude", &script()).with("ANTHROPIC_API_KEY", "sk-0123456789");
    let task = bench.task("claude", "Make a report");
    let (recorded, said) = events(&bench, &task, Mode::Record(bench.path("tape")));
    let produced = tree(&bench);
    assert_eq!(produced.len(), 6, "the link is kept as a copy");
    // No agent, no key, the skill somewhere else.
    fs_err::rename(bench.path("bin"), bench.path("gone")).unwrap();
    fs_err::rename(bench.path("project"), bench.path("moved")).unwrap();
    let elsewhere = Bench { variables: Vec::new(), ..bench };
    let mut moved = task.clone();
    moved.skills[0].folder = elsewhere.path("moved/csv-report");
    moved.inputs[0].root = elsewhere.path("moved/csv-report");
    let (replayed, again) = events(&elsewhere, &moved, Mode::Replay(elsewhere.path("tape")));
    assert_eq!(again, said);
    assert_eq!(tree(&elsewhere), produced);
    let RunOrigin::Replayed { repeated, .. } = &replayed.origin else {
        panic!("{:?}", replayed.origin)
    };
    assert_eq!(*repeated, Repeated::No);
    assert_eq!(AgentRun { origin: RunOrigin::Live, ..replayed.clone() }, recorded);
    // What is stored can be read back.
    let json = serde_json::to_string(&replayed).unwrap();
    assert_eq!(serde_json::from_str::<AgentRun>(&json).unwrap(), replayed);
    let json = serde_json::to_string(&task).unwrap();
    assert_eq!(serde_json::from_str::<AgentTask>(&json).unwrap(), task);
}

#[test]
fn asking_again_gives_the_next_recording_and_then_the_last_one() {
    let bench = Bench::with_fake("claude", &script());
    let task = bench.task("claude", "Make a report");
    let pid = |bench: &Bench| fs_err::read_to_string(bench.outputs("pid")).unwrap();
    let rules = RetryRules::for_runs();
    let pids = |mode: Mode, times: u32| -> Vec<String> {
        let executor = bench.executor(mode);
        let once = |_| {
            let _ = fs_err::remove_dir_all(bench.outputs(""));
            let outputs = bench.outputs("");
            let cancel = CancellationToken::new();
            crate::bench::block_on(executor.execute(
                &task,
                Some(&outputs),
                &rules,
                1,
                &cancel,
                &mut |_| (),
            ))
            .unwrap();
            pid(&bench)
        };
        (0..times).map(once).collect()
    };
    let recorded = pids(Mode::Record(bench.path("tape")), 2);
    assert_ne!(recorded[0], recorded[1]);
    let replayed = pids(Mode::Replay(bench.path("tape")), 3);
    assert_eq!(replayed, [recorded[0].clone(), recorded[1].clone(), recorded[1].clone()]);
}

#[test]
fn what_decides_the_answer_decides_whether_there_is_one() {
    let bench = Bench::with_fake("claude", &script());
    let task = bench.task("claude", "Make a report");
    events(&bench, &task, Mode::Record(bench.path("tape")));
    let replay = |task: &AgentTask| bench.try_run(task, Mode::Replay(bench.path("tape")));
    let mut same = task.clone();
    same.limits.timeout *= 2;
    same.limits.silence = None;
    replay(&same).unwrap();
    let mut others = vec![task.clone(); 6];
    others[0].prompt.push('!');
    others[1].model = Some("other".into());
    others[2].skills.clear();
    others[3].skills[0].description = Some("Another.".into());
    others[4].inputs.clear();
    others[5].stop = StopCondition::AtLoadOf(vec!["csv-report".into()]);
    for other in &others {
        let error = replay(other).unwrap_err();
        assert!(matches!(error, ExecuteError::Cassette(CassetteError::Missing(_))), "{error}");
        let message = error.to_string();
        assert!(
            message.contains("nothing was recorded for this agent request")
                && message.contains("nearest:"),
            "{message}"
        );
    }
    bench.write(
        "project/csv-report/SKILL.md",
        "---\nname: csv-report\ndescription: New.\n---\nNew.\n",
    );
    let error = replay(&bench.task("claude", "Make a report")).unwrap_err().to_string();
    assert!(error.contains("$.skills[0].digest"), "{error}");
}

#[test]
fn a_recording_cannot_write_outside_of_its_folder() {
    let bench = Bench::with_fake("claude", &script());
    let task = bench.task("claude", "Make a report");
    events(&bench, &task, Mode::Record(bench.path("tape")));
    let entry = fs_err::read_dir(bench.path("tape")).unwrap().next().unwrap().unwrap().path();
    let mut value: serde_json::Value =
        serde_json::from_slice(&fs_err::read(&entry).unwrap()).unwrap();
    value.as_object_mut().unwrap().remove("response_sha256");
    value["response"]["files"][0]["path"] = "../../escaped.txt".into();
    fs_err::write(&entry, value.to_string()).unwrap();
    assert!(bench.try_run(&task, Mode::Replay(bench.path("tape"))).is_err());
    assert!(!bench.path("escaped.txt").exists() && !bench.path("run/escaped.txt").exists());
}

#[test]
fn auto_replays_where_no_agent_is() {
    let bench = Bench::with_fake("codex", &script()).with("OPENAI_API_KEY", "sk-0123456789");
    let bench = Bench { variables: only_bin(&bench), ..bench };
    let task = bench.task("auto", "Make a report");
    let (recorded, _) = events(&bench, &task, Mode::Record(bench.path("tape")));
    assert_eq!(recorded.transcript.header.agent, "codex");
    fs_err::remove_file(bench.path("bin/codex")).unwrap();
    let error = bench.try_run(&task, Mode::Off).unwrap_err();
    assert!(matches!(error, ExecuteError::NoAgent { .. }), "{error}");
    assert!(error.to_string().contains("claude: the agent `claude` was not found"), "{error}");
    let (replayed, _) = events(&bench, &task, Mode::Replay(bench.path("tape")));
    assert_eq!(replayed.transcript, recorded.transcript);
}

/// The same variables with only our programs and a shell on the `PATH`.
fn only_bin(bench: &Bench) -> Vec<(String, String)> {
    let mut variables = bench.variables.clone();
    let shell = bench.path("shell");
    fs_err::create_dir_all(&shell).unwrap();
    for program in ["sh", "rm", "ln", "chmod"] {
        let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|path| path.is_file())
            .unwrap();
        fs_err::os::unix::fs::symlink(real, shell.join(program)).unwrap();
    }
    let path = format!("{}:{}", bench.path("bin").display(), shell.display());
    variables.retain(|(name, _)| name != "PATH");
    variables.push(("PATH".into(), path));
    variables
}
