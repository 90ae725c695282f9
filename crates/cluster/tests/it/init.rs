//! What `init` makes on a server, and which servers it refuses.

use skillgauge_cluster::{
    Connect, Credentials, FleetError, InitSettings, NatsFleet, server_config,
};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};

fn connect(server: &NatsServer) -> Connect {
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
async fn a_wrong_password_ends_and_is_not_shown() {
    let config = "authorization { users: [ { user: u, password: right } ] }";
    let server = NatsServer::start_with(NatsVersion::Current, Some(config)).unwrap();
    let url = server.url().replace("nats://", "nats://u:wr0ng@");
    let wrong = Connect { url, ..connect(&server) };
    let error = NatsFleet::connect(&wrong).await.unwrap_err();
    assert!(matches!(error, FleetError::Login { .. }), "{error}");
    assert!(!error.to_string().contains("wr0ng"), "{error}");
    let credentials = Credentials::Password {
        user: "u".to_owned(),
        password: skillgauge_run::model::Secret::new("right"),
    };
    let right = Connect { credentials, ..connect(&server) };
    NatsFleet::connect(&right).await.unwrap();
    let url = server.url().replace("nats://", "nats://u:ri%67ht@");
    NatsFleet::connect(&Connect { url, ..connect(&server) }).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_within_a_bounded_time() {
    let mut server = NatsServer::start().unwrap();
    server.kill();
    let error = NatsFleet::connect(&connect(&server)).await.unwrap_err();
    assert!(matches!(error, FleetError::Connect { .. }), "{error}");
}

/// A worker's login reaches its jobs and its results, and nothing else; a denial is said and no timeout.
#[tokio::test]
async fn the_roles_of_the_example_let_a_worker_work_and_nothing_more() {
    let config = server_config();
    // The example, without what belongs to a machine: certificates, addresses, folders.
    let start = config.find("authorization").unwrap();
    let roles = config[start..]
        .replace("$FLEET_COORDINATOR_PASSWORD", "c")
        .replace("$FLEET_WORKER_PASSWORD", "w");
    let server = NatsServer::start_with(NatsVersion::Current, Some(&roles)).unwrap();
    let login = |user: &str, password: &str| Connect {
        credentials: Credentials::Password {
            user: user.to_owned(),
            password: skillgauge_run::model::Secret::new(password),
        },
        name: user.to_owned(),
        ..connect(&server)
    };
    let coordinator = NatsFleet::connect(&login("coordinator", "c")).await.unwrap();
    coordinator.init(&InitSettings::default()).await.unwrap();
    let worker = NatsFleet::connect(&login("w1", "w")).await.unwrap();
    let denied = worker.init(&InitSettings::default()).await.unwrap_err();
    assert!(matches!(denied, FleetError::Denied { .. }), "{denied}");
    crate::conformance::a_worker_works(&coordinator, &worker).await;
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

/// The certificates are for 127.0.0.1 and for tests only; whoever signed them is known to nobody.
#[tokio::test]
async fn tls_is_checked_and_needs_the_right_authority() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/tls");
    let config = format!(
        "tls {{ cert_file: \"{0}/server.pem\", key_file: \"{0}/server-key.pem\" }}",
        folder.display()
    );
    let server = NatsServer::start_with(NatsVersion::Current, Some(&config)).unwrap();
    let url = server.url().replace("nats://", "tls://");
    let stranger = Connect { url: url.clone(), ..connect(&server) };
    let error = NatsFleet::connect(&stranger).await.unwrap_err();
    assert!(matches!(error, FleetError::Connect { .. }), "{error}");
    let known = Connect { url, ca_file: Some(folder.join("ca.pem")), ..connect(&server) };
    let fleet = NatsFleet::connect(&known).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
}
