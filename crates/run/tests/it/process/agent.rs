//! The fake agent, from well-mannered to hostile, through process, guard and outputs together.

use std::path::PathBuf;
use std::time::Duration;

use skillgauge_format::transcript::Stop;
use skillgauge_run::outputs::{Change, CollectLimits, Outputs, Scope, Snapshot, Stored, collect};
use skillgauge_run::process::{Command, Ended, Limits};
use skillgauge_testkit::agent::{
    AgentScript, ChildGroup, ChildOutput, Filling, Finish, FloodShape, FloodStream, Fork, Step,
    install,
};

use crate::process::stage::{Place, limits};

/// A fake agent in its place: program and outputs beside the work folder, not in it.
struct Stage {
    place: Place,
    command: Command,
}

impl Stage {
    fn with(steps: impl IntoIterator<Item = Step>) -> Self {
        let place = Place::new();
        let work = place.path().join("work");
        fs_err::create_dir(&work).unwrap();
        let program = install(place.path(), "agent", &AgentScript::new(steps)).unwrap();
        let mut command = place.command(&program).stdin("make a report");
        command.folder = work;
        Self { place, command }
    }

    fn outputs(&self) -> PathBuf {
        self.place.path().join("outputs")
    }

    async fn run(&self, limits: &Limits) -> (Ended, Vec<String>, Outputs) {
        let before = Snapshot::take(&self.command.folder, Scope::new());
        let (ended, lines) = self.place.run_within(&self.command, limits).await.unwrap();
        let caps = CollectLimits::default();
        let outputs = collect(&before, &self.command.folder, &self.outputs(), &caps).unwrap();
        (ended, lines, outputs)
    }
}

fn fork(group: ChildGroup, output: ChildOutput) -> Step {
    let pids = "{{cwd}}/../pids".to_owned();
    Step::Fork(Fork { children: 3, pids, seconds: 60, group, output })
}

#[tokio::test]
async fn a_good_agent_leaves_its_report() {
    let stage = Stage::with([
        Step::Say("on it".into()),
        Step::Write { path: "report.md".into(), text: "{{prompt}}".into() },
        Step::Quietly(vec![Step::Shell("mkdir -p data && echo 1 > data/unseen.csv".into())]),
        Step::Finish(Finish::text("done")),
    ]);
    let (ended, lines, outputs) = stage.run(&limits()).await;
    assert_eq!((ended.status.code, ended.status.stop), (Some(0), None), "{:?}", ended.stderr);
    assert!(lines.len() >= 3, "{lines:?}");
    let paths: Vec<String> = outputs.copied().map(|file| file.path.text()).collect();
    assert_eq!(paths, ["data/unseen.csv", "report.md"]);
    let report = fs_err::read_to_string(stage.outputs().join("report.md")).unwrap();
    assert_eq!(report, "make a report");
}

#[tokio::test]
async fn deaf_children_in_and_outside_of_the_group_are_ended() {
    for group in [ChildGroup::Same, ChildGroup::Own] {
        for output in [ChildOutput::Null, ChildOutput::Inherited] {
            let stage = Stage::with([fork(group, output), Step::Finish(Finish::text("done"))]);
            let (ended, _, _) = stage.run(&limits()).await;
            assert_eq!((ended.status.code, ended.stragglers), (Some(0), 3), "{:?}", ended.stderr);
        }
    }
}

#[tokio::test]
async fn an_agent_that_hangs_and_hears_no_signal_is_killed_with_its_children() {
    let stage = Stage::with([
        Step::Start,
        Step::IgnoreSignals,
        fork(ChildGroup::Own, ChildOutput::Inherited),
        Step::Hang,
    ]);
    let limits = Limits { silence: Some(Duration::from_secs(2)), ..limits() };
    let (ended, _, _) = stage.run(&limits).await;
    assert_eq!((ended.status.stop, ended.status.signal), (Some(Stop::Silence), Some(9)));
}

#[tokio::test]
async fn a_crash_of_the_agent_is_told_from_a_stop() {
    let stage = Stage::with([Step::Start, Step::Signal("SIGSEGV".into())]);
    let (ended, _, _) = stage.run(&limits()).await;
    assert_eq!((ended.status.signal, ended.status.stop), (Some(11), None));
}

#[tokio::test]
async fn a_flood_of_events_and_noise_is_survived() {
    let flood = |megabytes, stream, shape| Step::Flood { megabytes, stream, shape };
    let stage = Stage::with([
        flood(20, FloodStream::Stdout, FloodShape::Lines),
        flood(20, FloodStream::Stderr, FloodShape::OneLine),
        flood(20, FloodStream::Stdout, FloodShape::OneLine),
        Step::Garbage { bytes: 1 << 20 },
        Step::Exit(7),
    ]);
    let limits = Limits { line_bytes: 64 << 10, stdout_bytes: 30 << 20, ..limits() };
    let (ended, _, _) = stage.run(&limits).await;
    assert_eq!((ended.status.code, ended.stdout.bytes), (Some(7), 41 << 20));
    assert_eq!(ended.stdout.cut_at_end, 11 << 20);
    assert!(ended.stderr.dropped() > 19 << 20 && ended.stdout.cut_from_lines > 0);
}

#[tokio::test]
async fn a_hostile_folder_becomes_outputs_and_notes() {
    let stage = Stage::with([
        Step::HostileNames { path: "names".into() },
        Step::BigFile { path: "hole".into(), bytes: 2 << 30, filling: Filling::Sparse },
        Step::Symlink { path: "root".into(), target: "/".into() },
        Step::Finish(Finish::text("done")),
    ]);
    let (ended, _, outputs) = stage.run(&limits()).await;
    assert_eq!(ended.status.code, Some(0), "{:?}", ended.stderr);
    let names = outputs.copied().filter(|file| file.path.as_path().starts_with("names"));
    assert_eq!(names.count(), outputs.with(Change::Created).count() - 2);
    assert_eq!(outputs.files[0].stored, Stored::TooLarge);
    assert!(!stage.outputs().join("root").exists());
    // The hole, the link, and the one name that is no text.
    assert_eq!(outputs.notes.len(), 3, "{:?}", outputs.notes);
}
