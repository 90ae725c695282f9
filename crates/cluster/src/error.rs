//! What can go wrong with an engine, whether it passes, and what to do about it.

use std::path::PathBuf;

/// What can go wrong with an engine. None of these is a result of a run.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// There is no server, or none that can be reached.
    #[error("the fleet's server cannot be reached at {url}: {reason}")]
    Connect {
        /// Its address, without a login.
        url: String,
        reason: String,
    },
    /// The server does not know this login.
    #[error("the fleet's server at {url} refuses this login")]
    Login {
        /// Its address, without a login.
        url: String,
    },
    /// The server cannot be trusted, or does not speak TLS.
    #[error("there is no trusted connection to the fleet's server at {url}: {reason}")]
    Tls {
        /// Its address, without a login.
        url: String,
        reason: String,
    },
    /// The file with a certificate has none.
    #[error("{} holds no certificate: {reason}", file.display())]
    Ca {
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The server keeps nothing.
    #[error("the fleet's server at {url} runs without JetStream, and keeps nothing")]
    NoJetStream {
        /// Its address, without a login.
        url: String,
    },
    /// There are fewer servers than copies.
    #[error("there are fewer servers than copies of {object}")]
    Replicas { object: String },
    /// The login was good once.
    #[error("the login at the fleet's server at {url} has expired{}", since.as_ref().map(|since| format!(": it was good until {since}")).unwrap_or_default())]
    Expired {
        /// Its address, without a login.
        url: String,
        /// Until when it was good, if that is known.
        since: Option<String>,
    },
    /// The file with the login is none.
    #[error("{} holds no login: {reason}", file.display())]
    Credentials {
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    #[error("`{url}` is no address of a fleet: {reason}")]
    Address {
        /// What was given, without a login.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server is too old.
    #[error(
        "the fleet's server has version {found}, and {oldest} is the oldest that keeps all settings"
    )]
    TooOld { found: String, oldest: &'static str },
    /// The server stored something else than it was asked to.
    #[error("the server stored {object} with other settings than it was asked to: {}", differences.join("; "))]
    StoredDifferently { object: String, differences: Vec<String> },
    /// A stream is not there.
    #[error("the server has no {object}")]
    NotReady { object: String },
    /// The login may not do this.
    #[error("the server denies it: {message}")]
    Denied { message: String },
    #[error("there is no room left in {object}")]
    Full { object: String },
    /// An archive is in a folder that nobody named here.
    #[error("the archive {name} is in a shared folder, and none is given here")]
    NoFolder { name: String },
    /// The shared folder is none, or not the right one.
    #[error("the shared folder {} cannot be used: {reason}", folder.display())]
    Folder { folder: PathBuf, reason: String },
    /// What came back is not what was stored.
    #[error("{name} is damaged: {reason}")]
    Damaged { name: String, reason: String },
    /// The server did not answer, or said no.
    #[error("{action} did not work: {reason}")]
    Server { action: &'static str, reason: String },
    /// Two workers have one name.
    #[error("another worker reports under the name {name}")]
    SameName { name: String },
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl FleetError {
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over texts and errors alike")]
    pub(crate) fn damaged(name: impl ToString, reason: impl ToString) -> Self {
        Self::Damaged { name: name.to_string(), reason: reason.to_string() }
    }

    /// Whether the server did not answer, or not yet as it will.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Server { .. })
    }

    /// Whether waiting may help. Where everything was made already, a stream that is not there comes back, too: one whose
    /// leader died looks like one that was never made.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Server { .. } | Self::NotReady { .. } | Self::Full { .. } | Self::Connect { .. }
        )
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "start nats-server with JetStream (-js), or give another URL",
            Self::Tls { .. } => {
                "--ca FILE names the certificate of whoever signed the server's, which must name the host; \
                 the address of a server without TLS begins with nats://"
            }
            Self::Ca { .. } => "it is a PEM file with -----BEGIN CERTIFICATE----- in it",
            Self::NoJetStream { .. } => "start it with JetStream: `nats-server -js -sd DIR`",
            Self::Replicas { .. } => {
                "several copies need as many servers in one cluster; one server keeps one: leave --replicas out"
            }
            Self::Login { .. } => {
                "set SKILLGAUGE_FLEET_USER and SKILLGAUGE_FLEET_PASSWORD, or give --creds FILE"
            }
            Self::Expired { .. } => {
                "whoever runs the server makes a new one (`nsc generate creds`); give it with --creds FILE"
            }
            Self::Credentials { .. } => {
                "it has a JWT and a seed as `nsc generate creds` writes them, or the seed of an nkey alone"
            }
            Self::Address { .. } => "write it as nats://HOST:4222 or tls://HOST:4222",
            Self::TooOld { .. } => "update nats-server",
            Self::StoredDifferently { .. } => {
                "update nats-server, or remove what an earlier version of skillgauge made there"
            }
            Self::NotReady { .. } => "`skillgauge fleet init URL` makes it",
            Self::Denied { message } if message.contains("_INBOX_") => {
                "this login hears only the answers to another name: give a worker the --name that its permissions have"
            }
            Self::Denied { .. } => {
                "`skillgauge fleet init --server-config` shows what each role may do"
            }
            Self::Full { .. } => {
                "give it more with `fleet init --max-bytes`; workers keep what they have until then"
            }
            Self::NoFolder { .. } => {
                "give the folder that the workers have, with --archive-dir or SKILLGAUGE_FLEET_ARCHIVE_DIR"
            }
            Self::Folder { .. } => {
                "check that it is mounted here, that it is the one the workers have, and who may write there"
            }
            Self::Damaged { .. } => {
                "run the same command again; if it stays, run `fleet submit` again"
            }
            Self::Server { .. } => {
                "run the same command again: nothing is lost and nothing is done twice"
            }
            Self::SameName { .. } => "give each worker a --name of its own",
            Self::Io(_) => "check the free space and the permissions there",
        }
    }
}
