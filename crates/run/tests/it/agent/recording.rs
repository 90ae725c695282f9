//! Recording and replaying: the same run without the agent.

use skillgauge_run::agent::{
    AgentRun, AgentTask, ExecuteError, Progress, RunOrigin, StopCondition,
};
use skillgauge_run::cassette::{CassetteError, Mode, Repeated};
use skillgauge_run::pool::RetryRules;
use skillgauge_testkit::agent::{AgentScript, Filling, Finish, Step};
use tokio_util::sync::CancellationToken;

use crate::agent::stage::Stage;

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

fn events(stage: &Stage, task: &AgentTask, mode: Mode) -> (AgentRun, Vec<String>) {
    let _ = fs_err::remove_dir_all(stage.outputs(""));
    let mut events = Vec::new();
    let run = stage
        .execute(task, mode, &RetryRules::for_runs(), &CancellationToken::new(), &mut |progress| {
            if let Progress::Event(event) = progress {
                events.push(serde_json::to_string(event).unwrap());
            }
        })
        .unwrap_or_else(|error| panic!("{error}"));
    (run, events)
}

fn tree(stage: &Stage) -> Vec<(String, Vec<u8>, bool)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut folders = vec![stage.outputs("")];
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
    let stage = Stage::with_fake("claude", &script()).with("ANTHROPIC_API_KEY", "sk-0123456789");
    let task = stage.task("claude", "Make a report");
    let (recorded, said) = events(&stage, &task, Mode::Record(stage.path("tape")));
    let produced = tree(&stage);
    assert_eq!(produced.len(), 6, "the link is kept as a copy");
    // No agent, no key, the skill somewhere else.
    fs_err::rename(stage.path("bin"), stage.path("gone")).unwrap();
    fs_err::rename(stage.path("project"), stage.path("moved")).unwrap();
    let elsewhere = Stage { variables: Vec::new(), ..stage };
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
    let stage = Stage::with_fake("claude", &script());
    let task = stage.task("claude", "Make a report");
    let pid = |stage: &Stage| fs_err::read_to_string(stage.outputs("pid")).unwrap();
    let rules = RetryRules::for_runs();
    let pids = |mode: Mode, times: u32| -> Vec<String> {
        let executor = stage.executor(mode);
        let once = |_| {
            let _ = fs_err::remove_dir_all(stage.outputs(""));
            let outputs = stage.outputs("");
            let cancel = CancellationToken::new();
            crate::agent::stage::block_on(executor.execute(
                &task,
                Some(&outputs),
                &rules,
                1,
                &cancel,
                &mut |_| (),
            ))
            .unwrap();
            pid(&stage)
        };
        (0..times).map(once).collect()
    };
    let recorded = pids(Mode::Record(stage.path("tape")), 2);
    assert_ne!(recorded[0], recorded[1]);
    let replayed = pids(Mode::Replay(stage.path("tape")), 3);
    assert_eq!(replayed, [recorded[0].clone(), recorded[1].clone(), recorded[1].clone()]);
}

#[test]
fn what_decides_the_answer_decides_whether_there_is_one() {
    let stage = Stage::with_fake("claude", &script());
    let task = stage.task("claude", "Make a report");
    events(&stage, &task, Mode::Record(stage.path("tape")));
    let replay = |task: &AgentTask| stage.try_run(task, Mode::Replay(stage.path("tape")));
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
    stage.write(
        "project/csv-report/SKILL.md",
        "---\nname: csv-report\ndescription: New.\n---\nNew.\n",
    );
    let error = replay(&stage.task("claude", "Make a report")).unwrap_err().to_string();
    assert!(error.contains("$.skills[0].digest"), "{error}");
}

#[test]
fn a_recording_cannot_write_outside_of_its_folder() {
    let stage = Stage::with_fake("claude", &script());
    let task = stage.task("claude", "Make a report");
    events(&stage, &task, Mode::Record(stage.path("tape")));
    let entry = fs_err::read_dir(stage.path("tape")).unwrap().next().unwrap().unwrap().path();
    let mut value: serde_json::Value =
        serde_json::from_slice(&fs_err::read(&entry).unwrap()).unwrap();
    value.as_object_mut().unwrap().remove("response_sha256");
    value["response"]["files"][0]["path"] = "../../escaped.txt".into();
    fs_err::write(&entry, value.to_string()).unwrap();
    assert!(stage.try_run(&task, Mode::Replay(stage.path("tape"))).is_err());
    assert!(!stage.path("escaped.txt").exists() && !stage.path("run/escaped.txt").exists());
}

#[test]
fn auto_replays_where_no_agent_is() {
    let stage = Stage::with_fake("codex", &script()).with("OPENAI_API_KEY", "sk-0123456789");
    let stage = Stage { variables: only_bin(&stage), ..stage };
    let task = stage.task("auto", "Make a report");
    let (recorded, _) = events(&stage, &task, Mode::Record(stage.path("tape")));
    assert_eq!(recorded.transcript.header.agent, "codex");
    fs_err::remove_file(stage.path("bin/codex")).unwrap();
    let error = stage.try_run(&task, Mode::Off).unwrap_err();
    assert!(matches!(error, ExecuteError::NoAgent { .. }), "{error}");
    assert!(error.to_string().contains("claude: the agent `claude` was not found"), "{error}");
    let (replayed, _) = events(&stage, &task, Mode::Replay(stage.path("tape")));
    assert_eq!(replayed.transcript, recorded.transcript);
}

/// The same variables with only our programs and a shell on the `PATH`.
fn only_bin(stage: &Stage) -> Vec<(String, String)> {
    let mut variables = stage.variables.clone();
    let shell = stage.path("shell");
    fs_err::create_dir_all(&shell).unwrap();
    for program in ["sh", "rm", "ln", "chmod"] {
        let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|path| path.is_file())
            .unwrap();
        fs_err::os::unix::fs::symlink(real, shell.join(program)).unwrap();
    }
    let path = format!("{}:{}", stage.path("bin").display(), shell.display());
    variables.retain(|(name, _)| name != "PATH");
    variables.push(("PATH".into(), path));
    variables
}
