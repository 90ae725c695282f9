//! What `init` makes on a server, and which servers it refuses.

use skillgauge_cluster::{
    AttemptId, Connect, Fleet as _, FleetError, InitSettings, NatsFleet, Queue, ResultRecord,
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
