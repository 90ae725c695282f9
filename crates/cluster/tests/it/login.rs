//! Who may come in: passwords, nkeys, JWTs that expire, and TLS with an authority of one's own.

use std::path::Path;
use std::time::{Duration, SystemTime};

use skillgauge_cluster::{
    Connect, Credentials, FleetError, InitSettings, NatsFleet, Plans as _, WORKER_PUBLISHES,
};
use skillgauge_run::model::Secret;
use skillgauge_testkit::nats::jwt::{Allowed, Operator, nkey_user};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};

use crate::init::connect;

const HOUR: Duration = Duration::from_hours(1);

fn start(config: &str) -> NatsServer {
    NatsServer::start_with(NatsVersion::Current, Some(config)).unwrap()
}

/// A file with a login, and the way in with it.
fn with_file(server: &NatsServer, folder: &Path, name: &str, text: &str) -> Connect {
    let file = folder.join(format!("{name}.creds"));
    fs_err::write(&file, text).unwrap();
    Connect { credentials: Credentials::File(file), name: name.to_owned(), ..connect(server) }
}

#[tokio::test]
async fn a_wrong_password_ends_and_is_not_shown() {
    let config = "authorization { users: [ { user: u, password: right } ] }";
    let server = start(config);
    let url = server.url().replace("nats://", "nats://u:wr0ng@");
    let wrong = Connect { url, ..connect(&server) };
    let error = NatsFleet::connect(&wrong).await.unwrap_err();
    assert!(matches!(error, FleetError::Login { .. }), "{error}");
    assert!(!error.to_string().contains("wr0ng"), "{error}");
    let credentials =
        Credentials::Password { user: "u".to_owned(), password: Secret::new("right") };
    let right = Connect { credentials, ..connect(&server) };
    NatsFleet::connect(&right).await.unwrap();
    let url = server.url().replace("nats://", "nats://u:ri%67ht@");
    NatsFleet::connect(&Connect { url, ..connect(&server) }).await.unwrap();
}

#[tokio::test]
async fn an_nkey_comes_in_with_its_seed_from_a_variable_or_a_file_and_no_other_does() {
    let (public, seed) = nkey_user();
    let server = start(&format!("authorization {{ users: [ {{ nkey: {public} }} ] }}"));
    let with = |seed: &str| Connect {
        credentials: Credentials::Nkey(Secret::new(seed)),
        ..connect(&server)
    };
    let fleet = NatsFleet::connect(&with(&seed)).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bare = with_file(&server, folder.path(), "bare", &format!("# worker\n{seed}\n"));
    NatsFleet::connect(&bare).await.unwrap().plans().await.unwrap();
    let (_, stranger) = nkey_user();
    for wrong in [&stranger, "no-seed-at-all", &seed[..40]] {
        let error = NatsFleet::connect(&with(wrong)).await.unwrap_err();
        assert!(matches!(error, FleetError::Login { .. }), "{error}");
        assert!(!error.to_string().contains(wrong), "{error}");
    }
    let nothing = with_file(&server, folder.path(), "nothing", "neither of them");
    let error = NatsFleet::connect(&nothing).await.unwrap_err();
    assert!(matches!(error, FleetError::Credentials { .. }), "{error}");
    assert!(error.hint().contains("nsc"), "{}", error.hint());
}

#[tokio::test]
async fn a_jwt_lets_a_coordinator_and_a_worker_in_each_with_its_role() {
    let operator = Operator::default();
    let server = start(&operator.server_config());
    let folder = tempfile::tempdir().unwrap();
    let later = SystemTime::now() + HOUR;
    let all = operator.user(&Allowed::default(), later);
    let coordinator = with_file(&server, folder.path(), "coordinator", &all);
    let coordinator = NatsFleet::connect(&coordinator).await.unwrap();
    coordinator.init(&InitSettings::default()).await.unwrap();
    let allowed = Allowed {
        publish: WORKER_PUBLISHES.iter().map(|&subject| subject.to_owned()).collect(),
        subscribe: vec!["_INBOX_w1.>".to_owned()],
    };
    let w1 = with_file(&server, folder.path(), "w1", &operator.user(&allowed, later));
    let worker = NatsFleet::connect(&w1).await.unwrap();
    crate::conformance::a_worker_works(&coordinator, &worker).await;
    let stranger = Operator::default().user(&Allowed::default(), later);
    let stranger = with_file(&server, folder.path(), "stranger", &stranger);
    let error = NatsFleet::connect(&stranger).await.unwrap_err();
    assert!(matches!(error, FleetError::Login { .. }), "{error}");
}

#[tokio::test]
async fn a_jwt_that_has_expired_is_refused_with_its_date_and_what_to_do() {
    let operator = Operator::default();
    let server = start(&operator.server_config());
    let folder = tempfile::tempdir().unwrap();
    let day = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 20_000);
    let old = operator.user(&Allowed::default(), day);
    let error = NatsFleet::connect(&with_file(&server, folder.path(), "old", &old)).await;
    let error = error.unwrap_err();
    assert!(matches!(error, FleetError::Expired { .. }), "{error}");
    assert!(error.to_string().contains("good until 2024-10-04"), "{error}");
    assert!(error.hint().contains("--creds"), "{}", error.hint());
}

/// The server hangs up on it, and the next call says why.
#[tokio::test]
async fn a_jwt_that_expires_in_the_middle_is_told_as_such() {
    let operator = Operator::default();
    let server = start(&operator.server_config());
    let folder = tempfile::tempdir().unwrap();
    let soon = SystemTime::now() + Duration::from_secs(3);
    let short = operator.user(&Allowed::default(), soon);
    let short = with_file(&server, folder.path(), "short", &short);
    let fleet = NatsFleet::connect(&short).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
    let error = loop {
        if let Err(error) = fleet.plans().await {
            break error;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(matches!(error, FleetError::Expired { .. }), "{error}");
}

/// The certificates are for 127.0.0.1 and for tests only; whoever signed them is known to nobody.
#[tokio::test]
async fn tls_is_checked_and_needs_the_right_authority() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/tls");
    let config = format!(
        "tls {{ cert_file: \"{0}/server.pem\", key_file: \"{0}/server-key.pem\" }}",
        folder.display()
    );
    let server = start(&config);
    let url = server.url().replace("nats://", "tls://");
    let stranger = Connect { url: url.clone(), ..connect(&server) };
    let error = NatsFleet::connect(&stranger).await.unwrap_err();
    assert!(matches!(error, FleetError::Tls { .. }), "{error}");
    let known = Connect { url, ca_file: Some(folder.join("ca.pem")), ..connect(&server) };
    let fleet = NatsFleet::connect(&known).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
}
