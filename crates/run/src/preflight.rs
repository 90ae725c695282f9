//! What can be known before the first call: the login of the agent, the address of a gateway, room on the disk.
//!
//! Everything that measures goes through here: agents by [`Executor::prepare`](crate::agent::Executor::prepare), models when
//! they are opened, folders before anything is run in them. `doctor` shows the same. Nothing that costs is asked, and
//! nothing is looked at that a recording does not need.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use skillgauge_format::transcript::Reason;

use crate::agent::descriptor::{Descriptor, LoginSource};
use crate::agent::login;
use crate::model::{Environment, Need, ProviderKind, Secret, provider};

/// How long a gateway may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(3);
/// An agent needs at least so much room for a private home and its temporary files.
pub const LEAST_ROOM: u64 = 16 << 20;
/// With less room than this a long measurement may not end.
pub const LITTLE_ROOM: u64 = 256 << 20;

/// Something that keeps everything from working, known before anything was paid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unready {
    #[error("`{agent}` can't be used: no login was found; {help}")]
    NoLogin { agent: String, help: String },
    #[error("{variable} can't be used: {detail}")]
    Address { variable: String, detail: String },
    #[error("nothing answers at {address} ({variable}): {detail}")]
    Unreachable { variable: String, address: String, detail: String },
    #[error("{} MiB are free in {}, and an agent needs {} MiB", free >> 20, folder.display(), LEAST_ROOM >> 20)]
    NoRoom { folder: PathBuf, free: u64 },
}

impl Unready {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoLogin { .. } => {
                "`skillgauge doctor` shows where a login is looked for; nothing was asked"
            }
            Self::Address { .. } => {
                "write it as http://HOST:PORT or https://HOST, or unset it to ask the service itself"
            }
            Self::Unreachable { .. } => {
                "start the gateway or correct the address, or unset the variable to ask the service itself"
            }
            Self::NoRoom { .. } => "make room, or set TMPDIR to a folder on another disk",
        }
    }

    /// Whether what was typed or set is wrong, so that the same command fails again; a gateway may be started.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NoLogin { .. } | Self::Address { .. } => true,
            Self::Unreachable { .. } | Self::NoRoom { .. } => false,
        }
    }
}

/// The login of an agent, if it needs one: found here, or set by its descriptor.
pub fn login(descriptor: &Descriptor, environment: &Environment) -> Result<(), Unready> {
    let is_set = |source: &LoginSource| match source {
        LoginSource::Variable { name, .. } => descriptor.environment.contains_key(name),
        LoginSource::File { .. } => false,
    };
    let has_own = descriptor.login.iter().any(|login| is_set(&login.source));
    if descriptor.login.is_empty() || has_own || !login::find(descriptor, environment).is_empty() {
        return Ok(());
    }
    Err(Unready::NoLogin {
        agent: descriptor.name.to_string(),
        help: descriptor.login_help.clone().unwrap_or_else(|| "log in with its own command".into()),
    })
}

/// The variables with an address that an agent gets, and that are set.
pub fn addresses_of_agent(descriptor: &Descriptor, environment: &Environment) -> Vec<String> {
    let names = descriptor.pass.iter().filter(|name| name.ends_with("_BASE_URL"));
    names.filter(|name| environment.has(name)).cloned().collect()
}

/// The variable with the address of a model's service, if it is set.
pub fn address_of_model(kind: ProviderKind, environment: &Environment) -> Option<&'static str> {
    let address = provider(kind).needs.iter().find_map(|need| match need {
        Need::Address(variable) => Some(*variable),
        Need::OneOf(_) | Need::OneOfUnless(..) | Need::Program(_) | Need::Login(_) => None,
    });
    address.filter(|variable| environment.has(variable))
}

/// Whether the address in a variable is one, and somebody accepts connections there. Blocks for a few seconds at most.
///
/// Behind a proxy only the proxy can know, so that nobody is asked; what is on this machine needs none.
pub fn reach(variable: &str, environment: &Environment) -> Result<(), Unready> {
    let Some(text) = environment.get(variable).map(Secret::expose) else { return Ok(()) };
    let bad = |detail: String| Unready::Address { variable: variable.to_owned(), detail };
    let url = Url::parse(text.trim()).map_err(|error| bad(format!("it is no URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(format!("its scheme is `{}`, not http or https", url.scheme())));
    }
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(bad("it names no host".to_owned()));
    };
    let host = host.trim_matches(['[', ']']);
    let is_here =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback());
    if !is_here && has_proxy(environment) {
        return Ok(());
    }
    connect(host, port).map_err(|error| Unready::Unreachable {
        variable: variable.to_owned(),
        // Without what may be a password.
        address: format!("{}://{host}:{port}", url.scheme()),
        detail: error.to_string(),
    })
}

fn has_proxy(environment: &Environment) -> bool {
    let names =
        ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"];
    names.iter().any(|name| environment.has(name))
}

fn connect(host: &str, port: u16) -> io::Result<()> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// How many bytes are free for us where a folder is, or will be; nothing where the system does not tell.
pub fn free_room(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|folder| folder.is_dir())?;
    let found = rustix::fs::statvfs(there).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

/// Whether there is room for private folders.
pub fn room(scratch: &Path) -> Result<(), Unready> {
    match free_room(scratch) {
        Some(free) if free < LEAST_ROOM => {
            Err(Unready::NoRoom { folder: scratch.to_owned(), free })
        }
        Some(_) | None => Ok(()),
    }
}

/// Why nothing more is started after an end that all others would meet. An agent's own advice about logins is of no use: it
/// runs in a private folder, where that login is never read.
pub(crate) fn hopeless(
    reason: Reason,
    message: Option<&str>,
    login_help: Option<String>,
) -> String {
    let is_login = matches!(reason, Reason::NotLoggedIn | Reason::Authentication);
    let said = [Some(reason.to_string()), message.map(ToOwned::to_owned)].into_iter().flatten();
    let said = said.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(": ");
    match login_help.filter(|_| is_login) {
        Some(help) => format!("{said}; for skillgauge {help}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::agent::Registry;

    fn environment(value: &str) -> Environment {
        [("X_BASE_URL", value)].into_iter().collect()
    }

    #[test]
    fn an_address_has_a_scheme_and_somebody_behind_it() {
        for (value, words) in [
            ("127.0.0.1:8080", "no URL"),
            ("localhost:8080", "its scheme is `localhost`"),
            ("ftp://127.0.0.1", "its scheme is `ftp`"),
        ] {
            let error = reach("X_BASE_URL", &environment(value)).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(words), "{value}: {error}");
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("http://user:secret@127.0.0.1:{port}/v1");
        assert_eq!(reach("X_BASE_URL", &environment(&url)), Ok(()));
        drop(listener);
        let error = reach("X_BASE_URL", &environment(&url)).unwrap_err();
        assert!(!error.is_usage() && !error.to_string().contains("secret"), "{error}");
        assert_eq!(reach("OTHER_BASE_URL", &environment(&url)), Ok(()));
    }

    #[test]
    fn a_login_is_wanted_where_there_is_one_and_the_descriptor_may_have_it() {
        let registry = Registry::load(&[]).unwrap();
        let get = |name: &str| registry.get(name, Path::new("/")).unwrap();
        let empty = Environment::default();
        let error = login(&get("claude"), &empty).unwrap_err().to_string();
        assert!(error.contains("claude setup-token") && !error.contains("/login"), "{error}");
        assert!(login(&get("codex"), &empty).unwrap_err().to_string().contains("codex login"));
        assert_eq!(login(&get("codex"), &[("OPENAI_API_KEY", "k")].into_iter().collect()), Ok(()));
        assert_eq!(login(&get("command"), &empty), Ok(()));
    }

    #[test]
    fn there_is_room_where_a_folder_will_be() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("not/yet");
        assert!(free_room(&wanted).unwrap() > 0);
        assert_eq!(room(&wanted), Ok(()));
    }
}
