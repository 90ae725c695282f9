//! Logins, servers that are too old, and what must never travel.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use skillgauge_cluster::{Queue, WORKER_PUBLISHES};
use skillgauge_testkit::agent::Step;
use skillgauge_testkit::nats::jwt::{Allowed, Operator, nkey_user};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};
use skillgauge_testkit::process::{Ending, Group};

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, LIMIT, SYNCED, Work, assert_complete};

const PASSWORD: &str = "the-right-password";
const WRONG: &str = "an-entirely-wrong-one";

#[test]
fn every_command_says_that_a_password_is_wrong_and_ends_without_showing_it() {
    let config = format!("authorization {{ users: [ {{ user: u, password: {PASSWORD:?} }} ] }}");
    let server = NatsServer::start_with(NatsVersion::Current, Some(&config)).unwrap();
    let right = server.url().replace("nats://", &format!("nats://u:{PASSWORD}@"));
    let kit = Kit::new(&right, Work::default());
    kit.init(&[]);
    let id = kit.submit(&["--runs", "1"]);
    let wrong = server.url().replace("nats://", &format!("nats://u:{WRONG}@"));
    let plain = server.url();
    let submit = ["skill", "--agent", "command:./agent", "--judge", "none"];
    let commands: [(&str, &[&str]); 6] = [
        ("init", &[]),
        ("submit", &submit),
        ("worker", &[]),
        ("status", &[]),
        ("cancel", &[id.as_str()]),
        ("collect", &["skill"]),
    ];
    for (name, more) in commands {
        let mut by_address = kit.project.command(&[&["fleet", name, &wrong], more].concat());
        refused(name, &mut by_address);
        let mut by_variables = kit.project.command(&[&["fleet", name, &plain], more].concat());
        by_variables.env("SKILLGAUGE_FLEET_USER", "u").env("SKILLGAUGE_FLEET_PASSWORD", WRONG);
        refused(name, &mut by_variables);
    }
    let second = kit.project.path().join("skill-workspace/iteration-2");
    assert!(!second.exists(), "nothing was begun for a server that cannot be used");
    let variables = [("SKILLGAUGE_FLEET_USER", "u"), ("SKILLGAUGE_FLEET_PASSWORD", PASSWORD)];
    let _worker = kit.worker_at(&server.url(), "w1", &[], &variables);
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
}

/// A user for the coordinator, one for a worker with nothing but a worker's rights, and one whose time is over.
#[test]
fn a_fleet_works_with_jwts_and_says_which_one_has_expired() {
    let operator = Operator::default();
    let config = format!("{SYNCED}\n{}", operator.server_config());
    let server = NatsServer::start_with(NatsVersion::Current, Some(&config)).unwrap();
    let mut kit = Kit::new(&server.url(), Work { bytes: 1000, ..Work::default() });
    let (now, hour) = (SystemTime::now(), Duration::from_hours(1));
    let file = |name: &str, allowed: &Allowed, until: SystemTime| {
        kit.project.file(name, operator.user(allowed, until));
        kit.project.path().join(name)
    };
    let worker = Allowed {
        publish: WORKER_PUBLISHES.iter().map(|&subject| subject.to_owned()).collect(),
        subscribe: vec!["_INBOX_w1.>".to_owned()],
    };
    let [coordinator, w1, old] = [
        file("coordinator.creds", &Allowed::default(), now + hour),
        file("w1.creds", &worker, now + hour),
        file("old.creds", &worker, now - hour),
    ];
    kit.creds = Some(coordinator);
    kit.init(&[]);
    kit.submit(&["--runs", "1"]);
    let old = ["--idle", "1s", "--creds", &old.display().to_string()];
    let ended = kit.worker("w1", &old).finish(LIMIT).unwrap();
    assert_eq!((ended.ending, ended.status.code()), (Ending::Exited, Some(2)), "{}", ended.stderr);
    assert!(ended.stderr.contains("has expired: it was good until 20"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: whoever runs the server"), "{}", ended.stderr);
    let _worker = kit.worker("w1", &["--creds", &w1.display().to_string()]);
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
}

/// The seed comes from a variable or from a file, and neither is shown.
#[test]
fn a_fleet_works_with_nkeys() {
    let [(coordinator, seed), (w1, w1_seed), (_, stranger)] =
        [nkey_user(), nkey_user(), nkey_user()];
    let config =
        format!("authorization {{ users: [ {{ nkey: {coordinator} }}, {{ nkey: {w1} }} ] }}");
    let server = NatsServer::start_with(NatsVersion::Current, Some(&config)).unwrap();
    let mut kit = Kit::new(&server.url(), Work::default());
    kit.project.file("coordinator.seed", seed);
    kit.creds = Some(kit.project.path().join("coordinator.seed"));
    kit.init(&[]);
    kit.submit(&["--runs", "1"]);
    let mut wrong = kit.project.command(&["fleet", "worker", &kit.url]);
    refused("worker", wrong.env("SKILLGAUGE_FLEET_NKEY", &stranger));
    let _worker = {
        let mut command = kit.project.command(&["fleet", "worker", &kit.url]);
        Group::spawn(command.env("SKILLGAUGE_FLEET_NKEY", w1_seed)).unwrap()
    };
    assert_complete(&kit.collect());
}

fn refused(name: &str, command: &mut Command) {
    let ended = Group::spawn(command).unwrap().finish(LIMIT).unwrap();
    assert_eq!((ended.ending, ended.status.code()), (Ending::Exited, Some(2)), "{name}");
    assert!(ended.stderr.contains("refuses this login"), "{name}: {}", ended.stderr);
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(!said.contains(WRONG), "{name}: {said}");
}

#[test]
fn a_server_that_is_too_old_is_refused_before_anything_is_made_there() {
    let server = NatsServer::start_with(NatsVersion::TooOld, None).unwrap();
    let kit = Kit::new(&server.url(), Work::default());
    let url = server.url();
    let commands: [&[&str]; 3] = [
        &["init", &url],
        &["worker", &url],
        &["submit", &url, "skill", "--agent", "command:./agent", "--judge", "none"],
    ];
    for args in commands {
        let output = kit.fleet(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(NatsVersion::TooOld.number()) && text.contains("2.11"), "{text}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let streams: Vec<String> = runtime.block_on(async {
        use futures_util::TryStreamExt as _;
        let client = async_nats::connect(server.url()).await.unwrap();
        async_nats::jetstream::new(client).stream_names().try_collect().await.unwrap()
    });
    assert!(streams.is_empty(), "{streams:?}");
}

#[test]
fn no_key_and_no_login_reaches_a_job_an_object_or_an_agent() {
    let seen = tempfile::tempdir().unwrap();
    let seen = seen.path().join("seen");
    let look = Step::Quietly(vec![Step::Shell(format!("env >> {}", seen.display()))]);
    let config = format!("authorization {{ users: [ {{ user: u, password: {PASSWORD:?} }} ] }}");
    let server = NatsServer::start_with(NatsVersion::Current, Some(&config)).unwrap();
    let url = server.url().replace("nats://", &format!("nats://u:{PASSWORD}@"));
    let kit = Kit::new(&url, Work { before: vec![look], ..Work::default() });
    kit.init(&[]);
    let key = "sk-dummy-key-that-must-not-travel";
    let keys = [("ANTHROPIC_API_KEY", key), ("OPENAI_API_KEY", key), ("NATS_PASSWORD", PASSWORD)];
    let submitted = kit.submitting(&["--runs", "1"], &keys);
    assert_eq!(submitted.status.code(), Some(0), "{}", kit.project.shown(&submitted));
    let login = [("SKILLGAUGE_FLEET_USER", "u"), ("SKILLGAUGE_FLEET_PASSWORD", PASSWORD)];
    let _worker = kit.worker_at(&server.url(), "w1", &[], &[&keys[..], &login].concat());
    assert_complete(&kit.collect());
    let environment = fs_err::read_to_string(&seen).unwrap();
    assert!(environment.contains("SKILLGAUGE_SKILLS="), "the agent told: {environment}");
    for secret in [PASSWORD, "FLEET", "NATS", &server.port().to_string()] {
        assert!(!environment.contains(secret), "{secret} reached the agent: {environment}");
    }
    // Archives are packed, so what is in them is looked for where it was unpacked.
    let raw = kit.raw();
    let id = skillgauge_cluster::PlanId::of(&kit.iteration().record().unwrap());
    let run = raw.results(Queue::Runs, &id)[0].run.to_string();
    let store = server.folder().join("store");
    assert!(finds(&store, run.as_bytes()), "the search can find what is stored");
    for folder in [store, kit.iteration_folder()] {
        for secret in [key, PASSWORD] {
            assert!(!finds(&folder, secret.as_bytes()), "{secret} is in {}", folder.display());
        }
    }
    all_is_right(&kit, &Ended::Complete);
}

/// Whether a file below a folder has these bytes.
fn finds(folder: &Path, bytes: &[u8]) -> bool {
    fs_err::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            finds(&path, bytes)
        } else {
            let content = fs_err::read(&path).unwrap_or_default();
            content.windows(bytes.len()).any(|part| part == bytes)
        }
    })
}
