//! What `init` makes on a server, and which servers it refuses.

use skillgauge_cluster::{
    AttemptId, Connect, FleetError, InitSettings, NatsFleet, Queue, ResultRecord, Results as _,
    server_config,
};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};

use crate::example::{plan, ran};

pub(crate) fn connect(server: &NatsServer) -> Connect {
    Connect { url: server.url(), name: "test".to_owned(), ..Connect::default() }
}

#[tokio::test]
async fn init_makes_everything_and_may_be_called_again() {
    let server = NatsServer::start().unwrap();
    let fleet = NatsFleet::connect(&connect(&server)).await.unwrap();
    assert_eq!(fleet.server_version(), NatsVersion::Current.number());
    let made = fleet.init(&InitSettings::default()).await.unwrap();
    let names: Vec<&str> = made.iter().map(|made| made.stream.as_str()).collect();
    assert!(names.contains(&"SG_RUNS") && names.contains(&"OBJ_SG_ARCHIVES"), "{names:?}");
    let again = fleet.init(&InitSettings::default()).await.unwrap();
    assert_eq!(made, again);
    let limited = InitSettings { max_bytes: Some(1 << 20), ..InitSettings::default() };
    fleet.init(&limited).await.unwrap();
}

/// Gradings carry their files as runs do, so they are capped as well, and whoever stores one hears of it.
#[tokio::test]
async fn results_of_runs_and_of_gradings_are_capped_each() {
    let server = NatsServer::start().unwrap();
    let fleet = NatsFleet::connect(&connect(&server)).await.unwrap();
    let limited = InitSettings { max_bytes: Some(100_000), ..InitSettings::default() };
    fleet.init(&limited).await.unwrap();
    for queue in Queue::ALL {
        let mut stored = 0;
        let full = loop {
            let run = format!("eval-a/with_skill/run-{}", stored + 1).parse().unwrap();
            let worker = "w".repeat(30_000);
            let record = ResultRecord { run, worker, attempt: AttemptId::new(), ..ran() };
            match fleet.commit(queue, &plan('1'), &record).await {
                Ok(_) if stored < 10 => stored += 1,
                other => break other,
            }
        };
        assert!(matches!(full, Err(FleetError::Full { .. })), "{queue:?}: {full:?}");
        assert_eq!(stored, 3, "{queue:?}");
    }
}

/// What an earlier version made is changed where that is possible, and made anew where nothing is lost by it.
#[tokio::test]
async fn init_brings_a_server_of_an_earlier_version_up_to_date() {
    use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
    let server = NatsServer::start().unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    let js = async_nats::jetstream::new(client);
    let old = |bucket: &str, storage| Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        storage,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..Config::default()
    };
    js.create_stream(old("SG_STATUS", StorageType::Memory)).await.unwrap();
    js.create_stream(old("SG_RESULTS", StorageType::File)).await.unwrap();
    let store = async |text: &'static str| {
        js.publish("$KV.SG_RESULTS.plan.run", text.into()).await.unwrap().await
    };
    store("first").await.unwrap();
    let fleet = NatsFleet::connect(&connect(&server)).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
    let status = js.get_stream("KV_SG_STATUS").await.unwrap();
    assert_eq!(status.cached_info().config.storage, StorageType::File);
    store("second").await.unwrap_err();
    let results = js.get_stream("KV_SG_RESULTS").await.unwrap();
    let kept = results.get_last_raw_message_by_subject("$KV.SG_RESULTS.plan.run").await.unwrap();
    assert_eq!(&kept.payload[..], b"first");
}

#[tokio::test]
async fn a_server_that_keeps_nothing_is_refused_with_the_flag_that_helps() {
    let server = NatsServer::start_forgetful().unwrap();
    let error = NatsFleet::connect(&connect(&server)).await.unwrap_err();
    assert!(matches!(error, FleetError::NoJetStream { .. }), "{error}");
    assert!(error.hint().contains("-js"), "{}", error.hint());
}

#[tokio::test]
async fn an_account_without_jetstream_is_refused_as_well() {
    let config = "accounts { A { users: [ { user: u, password: p } ] } }";
    let server = NatsServer::start_with(NatsVersion::Current, Some(config)).unwrap();
    let url = server.url().replace("nats://", "nats://u:p@");
    let error = NatsFleet::connect(&Connect { url, ..connect(&server) }).await.unwrap_err();
    assert!(matches!(error, FleetError::NoJetStream { .. }), "{error}");
}

#[tokio::test]
async fn more_copies_than_servers_are_refused_with_what_they_need() {
    let server = NatsServer::start().unwrap();
    let fleet = NatsFleet::connect(&connect(&server)).await.unwrap();
    let settings = InitSettings { replicas: 3, ..InitSettings::default() };
    let error = fleet.init(&settings).await.unwrap_err();
    assert!(matches!(error, FleetError::Replicas { .. }), "{error}");
}

#[tokio::test]
async fn a_file_without_a_certificate_is_refused_and_tls_is_not_taken_for_a_missing_server() {
    let server = NatsServer::start().unwrap();
    let tls = Connect { url: server.url().replace("nats://", "tls://"), ..connect(&server) };
    let error = NatsFleet::connect(&tls).await.unwrap_err();
    assert!(matches!(error, FleetError::Tls { .. }), "{error}");
    for ca_file in [server.folder().join("none"), server.folder().join("log")] {
        let connect = Connect { ca_file: Some(ca_file), ..tls.clone() };
        let error = NatsFleet::connect(&connect).await.unwrap_err();
        assert!(matches!(error, FleetError::Ca { .. }), "{error}");
    }
}

#[tokio::test]
async fn the_oldest_server_that_is_accepted_stores_all_settings() {
    let server = NatsServer::start_with(NatsVersion::Oldest, None).unwrap();
    let fleet = NatsFleet::connect(&connect(&server)).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_too_old_is_refused() {
    let server = NatsServer::start_with(NatsVersion::TooOld, None).unwrap();
    let error = NatsFleet::connect(&connect(&server)).await.unwrap_err();
    assert!(matches!(error, FleetError::TooOld { .. }), "{error}");
    assert!(error.to_string().contains(NatsVersion::TooOld.number()), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_within_a_bounded_time() {
    let mut server = NatsServer::start().unwrap();
    server.kill();
    let error = NatsFleet::connect(&connect(&server)).await.unwrap_err();
    assert!(matches!(error, FleetError::Connect { .. }), "{error}");
}

/// The quotes matter: without them the server takes a time for a number and only warns.
#[test]
fn the_example_is_a_configuration_that_a_server_reads() {
    let folder = tempfile::tempdir().unwrap();
    let config = server_config().replace("/var/lib/nats", &folder.path().display().to_string());
    let without_tls = {
        let (before, rest) = config.split_once("tls {").unwrap();
        format!("{before}{}", rest.split_once("}\n").unwrap().1)
    };
    let file = folder.path().join("fleet.conf");
    fs_err::write(&file, without_tls).unwrap();
    let output = std::process::Command::new(NatsVersion::Current.program().unwrap())
        .args(["-t", "-c"])
        .arg(&file)
        .env("FLEET_COORDINATOR_PASSWORD", "c")
        .env("FLEET_WORKER_PASSWORD", "w")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("WRN"), "{said}");
}
