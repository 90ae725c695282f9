//! The way to the server: address, login, a first connection that ends, and an ear for what it says in between.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerError};
use skillgauge_run::model::Secret;

use super::error::chain;
use crate::fleet::FleetError;

/// A server that does not answer within this is not there.
const FIRST: Duration = Duration::from_secs(10);
/// A denial explains the errors of so long.
const RECENT: Duration = Duration::from_secs(15);

/// Who we are. Never written to a file or a job, never printed.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// Nobody, or whoever the address names.
    #[default]
    None,
    /// A name and a password.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A token.
    Token(Secret),
    /// The seed of an nkey.
    Nkey(Secret),
    /// A file with a JWT and a seed.
    File(PathBuf),
}

/// Where the server is, and who we are there.
#[derive(Clone, Default)]
pub struct Connect {
    /// One address or several, with commas between them.
    pub url: String,
    /// Who we are.
    pub credentials: Credentials,
    /// The certificate of whoever signed the server's, where the system does not know it.
    pub ca_file: Option<PathBuf>,
    /// What the server calls this connection.
    pub name: String,
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect").field("url", &self.shown()).finish_non_exhaustive()
    }
}

/// What the server said that no answer carries.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard(Arc<Mutex<Option<(Instant, String)>>>);

impl Heard {
    fn hear(&self, event: &Event) {
        let Event::ServerError(ServerError::Other(message)) = event else { return };
        if message.to_ascii_lowercase().contains("permissions violation") {
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some((Instant::now(), message.clone()));
        }
    }

    /// Whether something was denied lately.
    pub(super) fn is_denied(&self) -> bool {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|(time, _)| time.elapsed() < RECENT)
    }

    /// What was denied lately; told once.
    pub(super) fn take_denied(&self) -> Option<String> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.take().filter(|(time, _)| time.elapsed() < RECENT).map(|(_, message)| message)
    }
}

impl Connect {
    /// The address as it may be shown.
    pub fn shown(&self) -> String {
        without_login(&self.url)
    }

    pub(super) async fn open(&self) -> Result<(Client, Heard), FleetError> {
        let addresses = self.addresses()?;
        let is_tls = addresses.iter().any(|address| address.starts_with("tls://"));
        let heard = Heard::default();
        let listener = heard.clone();
        let mut options = self
            .login()?
            .name(&self.name)
            // Its own, so that a worker whose permissions name it cannot read the answers of another.
            .custom_inbox_prefix(format!("_INBOX_{}", inbox(&self.name)))
            .connection_timeout(FIRST / 2)
            .require_tls(is_tls)
            .event_callback(move |event| {
                let listener = listener.clone();
                async move { listener.hear(&event) }
            });
        if let Some(file) = &self.ca_file {
            options = options.add_root_certificates(file.clone());
        }
        let unreachable = |reason: String| FleetError::Connect { url: self.shown(), reason };
        let connecting = tokio::time::timeout(FIRST, options.connect(addresses)).await;
        match connecting {
            Ok(Ok(client)) => Ok((client, heard)),
            Ok(Err(error)) => Err(match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    FleetError::Login { url: self.shown() }
                }
                _ => unreachable(without_login(&chain(&error))),
            }),
            Err(_) => Err(unreachable(format!("no answer within {} s", FIRST.as_secs()))),
        }
    }

    fn addresses(&self) -> Result<Vec<String>, FleetError> {
        let parts = self.url.split(',').map(str::trim);
        let bad =
            |reason: &str| FleetError::Address { url: self.shown(), reason: reason.to_owned() };
        parts
            .map(|part| match part.split_once("://") {
                // The client would take a login for a part of the host's name, and use it for nothing.
                Some(("nats" | "tls", rest)) if !rest.is_empty() => Ok(without_login(part)),
                Some((scheme, _)) => Err(bad(&format!("{scheme}:// is not known"))),
                None => Err(bad("it does not begin with nats:// or tls://")),
            })
            .collect()
    }

    /// The first login in the addresses: a name and a password, or a token.
    fn login_in_address(&self) -> Option<(String, Option<String>)> {
        let login = |part: &str| {
            let (_, authority) = part.split_once("://")?;
            let (login, _) = authority.rsplit_once('@')?;
            Some(match login.split_once(':') {
                Some((user, password)) => (decoded(user), Some(decoded(password))),
                None => (decoded(login), None),
            })
        };
        self.url.split(',').find_map(login)
    }

    fn login(&self) -> Result<ConnectOptions, FleetError> {
        let options = ConnectOptions::new();
        Ok(match &self.credentials {
            Credentials::None => match self.login_in_address() {
                Some((user, Some(password))) => options.user_and_password(user, password),
                Some((token, None)) => options.token(token),
                None => options,
            },
            Credentials::Password { user, password } => {
                options.user_and_password(user.clone(), password.expose().to_owned())
            }
            Credentials::Token(token) => options.token(token.expose().to_owned()),
            Credentials::Nkey(seed) => options.nkey(seed.expose().to_owned()),
            Credentials::File(path) => {
                let text = fs_err::read_to_string(path)?;
                options.credentials(&text)?
            }
        })
    }
}

/// A part of an address as it was before it was put there.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%').and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text in which no address has a login.
pub fn without_login(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let end = after.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        shown.push_str(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        rest = tail;
    }
    shown.push_str(rest);
    shown
}

/// A name as one token of a subject.
pub(super) fn inbox(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_in_an_address_is_never_shown() {
        let connect = Connect {
            url: "nats://me:s3/cret@host:4222,tls://to%40ken@other".to_owned(),
            ..Connect::default()
        };
        assert_eq!(connect.shown(), "nats://host:4222,tls://other");
        assert!(!format!("{connect:?}").contains("cret"));
        assert_eq!(without_login("at nats://a:b@c: no route"), "at nats://c: no route");
        assert_eq!(without_login("nothing"), "nothing");
    }

    #[test]
    fn a_login_in_an_address_is_used() {
        let login =
            |url: &str| Connect { url: url.to_owned(), ..Connect::default() }.login_in_address();
        let both = Some(("me".to_owned(), Some("s3/cr:t@%".to_owned())));
        assert_eq!(login("nats://a,tls://me:s3%2Fcr:t%40%@host:4222"), both);
        assert_eq!(login("nats://to%6ben@host"), Some(("token".to_owned(), None)));
        assert_eq!(login("nats://host:4222"), None);
    }

    #[test]
    fn only_two_schemes_are_known() {
        let connect = |url: &str| Connect { url: url.to_owned(), ..Connect::default() };
        assert!(connect("nats://h,tls://i:4222").addresses().is_ok());
        for bad in ["", "host:4222", "http://host", "nats://", "nats://a,b"] {
            assert!(connect(bad).addresses().is_err(), "{bad}");
        }
    }
}
