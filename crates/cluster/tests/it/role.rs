//! What a worker's login can do on the server, and everything that it cannot.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::{ConnectOptions, Event, ServerError};
use skillgauge_cluster::{
    Class, Connect, Credentials, FleetError, InitSettings, Jobs as _, NatsFleet, Queue,
    WORKER_PUBLISHES, server_config,
};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};

use crate::example::{begin, entry, plan};
use crate::init::connect;

/// The roles of the example, without what belongs to a machine: certificates, addresses, folders.
fn roles() -> String {
    let config = server_config();
    let start = config.find("authorization").unwrap();
    config[start..]
        .replace("$FLEET_COORDINATOR_PASSWORD", "c")
        .replace("$FLEET_WORKER_PASSWORD", "w")
}

/// A server with the roles of the example.
fn with_roles() -> NatsServer {
    NatsServer::start_with(NatsVersion::Current, Some(&roles())).unwrap()
}

fn login(server: &NatsServer, user: &str, password: &str) -> Connect {
    Connect {
        credentials: Credentials::Password {
            user: user.to_owned(),
            password: skillgauge_run::model::Secret::new(password),
        },
        name: user.to_owned(),
        ..connect(server)
    }
}

/// A worker's login reaches its jobs and its results, and nothing else; a denial is said and no timeout.
#[tokio::test]
async fn the_roles_of_the_example_let_a_worker_work_and_nothing_more() {
    let server = with_roles();
    let coordinator = NatsFleet::connect(&login(&server, "coordinator", "c")).await.unwrap();
    coordinator.init(&InitSettings::default()).await.unwrap();
    let worker = NatsFleet::connect(&login(&server, "w1", "w")).await.unwrap();
    let denied = worker.init(&InitSettings::default()).await.unwrap_err();
    assert!(matches!(denied, FleetError::Denied { .. }), "{denied}");
    crate::conformance::a_worker_works(&coordinator, &worker).await;
}

/// A configuration of an earlier version does not name the subject on which plans are told of.
#[tokio::test]
async fn a_worker_that_may_not_hear_of_plans_looks_for_them() {
    let deaf = roles().replace(", \"sg.v1.ctl.*\"", "");
    assert_ne!(deaf, roles());
    let server = NatsServer::start_with(NatsVersion::Current, Some(&deaf)).unwrap();
    let coordinator = NatsFleet::connect(&login(&server, "coordinator", "c")).await.unwrap();
    coordinator.init(&InitSettings::default()).await.unwrap();
    let worker = NatsFleet::connect(&login(&server, "w1", "w")).await.unwrap();
    crate::conformance::a_worker_works(&coordinator, &worker).await;
}

/// The first message of a result's subject is the result, whatever a worker's login sends after it.
#[tokio::test]
async fn a_worker_can_neither_replace_nor_remove_a_result() {
    let server = with_roles();
    let coordinator = NatsFleet::connect(&login(&server, "coordinator", "c")).await.unwrap();
    coordinator.init(&InitSettings::default()).await.unwrap();
    let options = ConnectOptions::with_user_and_password("w1".to_owned(), "w".to_owned());
    let worker = options.custom_inbox_prefix("_INBOX_w1").connect(server.url()).await.unwrap();
    let js = async_nats::jetstream::new(worker);
    let options = ConnectOptions::with_user_and_password("coordinator".to_owned(), "c".to_owned());
    let looking = async_nats::jetstream::new(options.connect(server.url()).await.unwrap());
    for bucket in ["SG_RESULTS", "SG_SCORES"] {
        let publish = async |key: &str, rollup: Option<&str>| {
            let message = PublishMessage::build().payload("{}".into());
            let message = match rollup {
                Some(what) => message.header("Nats-Rollup", what),
                None => message,
            };
            js.send_publish(format!("$KV.{bucket}.{key}"), message).await.unwrap().await
        };
        publish("plan.a", None).await.unwrap();
        publish("plan.b", None).await.unwrap();
        publish("plan.a", None).await.unwrap_err();
        for rollup in ["sub", "all"] {
            publish("plan.a", Some(rollup)).await.unwrap_err();
            publish("plan.c", Some(rollup)).await.unwrap_err();
        }
        let stream = looking.get_stream(format!("KV_{bucket}")).await.unwrap();
        let state = &stream.cached_info().state;
        assert_eq!((state.messages, state.last_sequence), (2, 2), "{bucket}");
    }
    // What it reports of itself replaces what it reported before, and nothing else.
    let rollup = PublishMessage::build().payload("{}".into()).header("Nats-Rollup", "all");
    js.send_publish("$KV.SG_STATUS.worker.w1", rollup).await.unwrap().await.unwrap_err();
}

/// The answers to another name are denied; that is said at once, and as often as somebody asks.
#[tokio::test]
async fn a_worker_with_another_name_than_its_login_is_told_so() {
    let server = with_roles();
    let other = Connect { name: "somebody".to_owned(), ..login(&server, "w1", "w") };
    let denied = NatsFleet::connect(&other).await.unwrap_err();
    assert!(matches!(denied, FleetError::Denied { .. }), "{denied}");
    assert!(denied.hint().contains("--name"), "{}", denied.hint());
}

/// A pull that the server denies looks like a queue without jobs.
#[tokio::test]
async fn a_worker_that_may_not_pull_is_told_so_and_does_not_wait_for_ever() {
    let mute = roles().replace("$JS.API.CONSUMER.MSG.NEXT.SG_RUNS.*", "nothing");
    let server = NatsServer::start_with(NatsVersion::Current, Some(&mute)).unwrap();
    let coordinator = NatsFleet::connect(&login(&server, "coordinator", "c")).await.unwrap();
    coordinator.init(&InitSettings::default()).await.unwrap();
    begin(&coordinator, &plan('a'), &entry(30_000), 1).await;
    let worker = NatsFleet::connect(&login(&server, "w1", "w")).await.unwrap();
    let wait = Duration::from_secs(1);
    let next = worker.next(Queue::Runs, &[Class::any()], &BTreeSet::new(), wait).await;
    let denied = next.unwrap_err();
    assert!(matches!(denied, FleetError::Denied { .. }), "{denied}");
}

/// Subjects that a worker must not publish to: each would change or destroy what is not its own.
const DENIED: &[&str] = &[
    // Streams: make, change, destroy, empty, copy.
    "$JS.API.STREAM.CREATE.SG_OTHER",
    "$JS.API.STREAM.UPDATE.SG_RUNS",
    "$JS.API.STREAM.DELETE.SG_RUNS",
    "$JS.API.STREAM.DELETE.KV_SG_RESULTS",
    "$JS.API.STREAM.PURGE.SG_RUNS",
    "$JS.API.STREAM.PURGE.SG_GRADES",
    "$JS.API.STREAM.PURGE.KV_SG_PLAN",
    "$JS.API.STREAM.PURGE.KV_SG_RESULTS",
    "$JS.API.STREAM.PURGE.KV_SG_SCORES",
    "$JS.API.STREAM.PURGE.OBJ_SG_INPUTS",
    "$JS.API.STREAM.MSG.DELETE.SG_RUNS",
    "$JS.API.STREAM.MSG.DELETE.KV_SG_RESULTS",
    "$JS.API.STREAM.MSG.DELETE.OBJ_SG_ARCHIVES",
    "$JS.API.STREAM.SNAPSHOT.SG_RUNS",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.LIST",
    "$JS.API.STREAM.MSG.GET.SG_RUNS",
    "$JS.API.STREAM.MSG.GET.SG_DEAD",
    // Consumers: make, change, destroy; pull from anything but jobs.
    "$JS.API.CONSUMER.CREATE.SG_RUNS",
    "$JS.API.CONSUMER.CREATE.SG_RUNS.mine",
    "$JS.API.CONSUMER.DURABLE.CREATE.SG_RUNS.mine",
    "$JS.API.CONSUMER.DELETE.SG_RUNS.any_plan",
    "$JS.API.CONSUMER.PAUSE.SG_RUNS.any_plan",
    "$JS.API.CONSUMER.MSG.NEXT.KV_SG_RESULTS.mine",
    "$JS.ACK.SG_DEAD.mine.1.1.1.1.1",
    // Plans, jobs, inputs: only a coordinator writes them.
    "$KV.SG_PLAN.plan",
    "sg.v1.run.any.plan.run",
    "sg.v1.grade.any.plan.run",
    "$O.SG_INPUTS.C.upload",
    "$O.SG_INPUTS.M.name",
    // Answers to others, and the server itself.
    "_INBOX_coordinator.answer",
    "_INBOX_w2.answer",
    "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.SG_RUNS.any_plan",
    "$SYS.REQ.SERVER.PING",
];

/// Subjects that a worker must not listen to.
const DEAF: &[&str] =
    &[">", "_INBOX_w2.>", "_INBOX_coordinator.>", "sg.v1.>", "$KV.>", "$O.>", "$JS.>", "$SYS.>"];

#[tokio::test]
async fn every_operation_that_is_not_a_workers_is_denied_and_every_one_that_is_passes() {
    let server = with_roles();
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&said);
    let options = ConnectOptions::with_user_and_password("w1".to_owned(), "w".to_owned());
    let client = options
        .event_callback(move |event| {
            let heard = Arc::clone(&heard);
            async move {
                if let Event::ServerError(ServerError::Other(message)) = event {
                    heard.lock().unwrap().push(message);
                }
            }
        })
        .connect(server.url())
        .await
        .unwrap();
    let own = |pattern: &&str| pattern.replace(['>', '*'], "x");
    let allowed: Vec<String> = WORKER_PUBLISHES.iter().map(own).collect();
    for subject in DENIED.iter().map(|&subject| subject.to_owned()).chain(allowed) {
        client.publish(subject, "{}".into()).await.unwrap();
    }
    let mut listening = Vec::new();
    for subject in DEAF.iter().chain(&["_INBOX_w1.>"]) {
        listening.push(client.subscribe(*subject).await.unwrap());
    }
    client.flush().await.unwrap();
    let expected = |what: &str, subject: &&str| {
        format!("Permissions Violation for {what} to \"{subject}\"").to_lowercase()
    };
    let publications = DENIED.iter().map(|subject| expected("Publish", subject));
    let subscriptions = DEAF.iter().map(|subject| expected("Subscription", subject));
    let expected: BTreeSet<String> = publications.chain(subscriptions).collect();
    let found = || -> BTreeSet<String> {
        said.lock().unwrap().iter().map(|message| message.to_lowercase()).collect()
    };
    let began = Instant::now();
    while found().len() < expected.len() && began.elapsed() < Duration::from_secs(30) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(found(), expected, "denied: these, and nothing that a worker needs");
}
