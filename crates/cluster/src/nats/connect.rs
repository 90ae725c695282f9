//! The way to the server: address, login, a first connection that ends, and an ear for what it says in between.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerError};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use skillgauge_core::text::chain;
use skillgauge_core::time::timestamp;
use skillgauge_run::model::Secret;

use super::name::{Bucket, plan_news};
use crate::fleet::FleetError;
use crate::lock;

/// A server that does not answer within this is not there.
const FIRST: Duration = Duration::from_secs(10);
/// A denial explains the errors of so long.
const RECENT: Duration = Duration::from_secs(15);
/// Where answers come to, followed by a name.
const INBOX: &str = "_INBOX_";
/// The letters of a seed.
const SEED: usize = 58;

/// Who we are. Never written to a file or a job, never printed.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// Nobody, or whoever the address names.
    #[default]
    None,
    /// A name and a password.
    Password {
        user: String,
        password: Secret,
    },
    Token(Secret),
    /// The seed of an nkey.
    Nkey(Secret),
    /// A file with a JWT and a seed, or with the seed of an nkey alone.
    File(PathBuf),
}

/// Where the server is, and who we are there.
#[derive(Clone, Default)]
pub struct Connect {
    /// One address or several, with commas between them.
    pub url: String,
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
pub(super) struct Notices(Arc<Mutex<NoticeState>>);

#[derive(Debug, Default)]
struct NoticeState {
    denied: Option<(Instant, String)>,
    /// The login ran out while we were there, and the server hung up.
    is_expired: bool,
}

impl Notices {
    fn hear(&self, event: &Event) {
        let Event::ServerError(ServerError::Other(message)) = event else { return };
        // A login that may not hear of plans at once looks for them, as it always does.
        let is_needed = !message.contains(&format!("\"{}\"", plan_news("*")));
        let lower = message.to_ascii_lowercase();
        let mut said = lock(&self.0);
        if is_needed && lower.contains("permissions violation") {
            // One that explains everything is not replaced by one that explains a part.
            let is_deaf = said.denied.as_ref().is_some_and(|(_, message)| message.contains(INBOX));
            if !is_deaf {
                said.denied = Some((Instant::now(), message.clone()));
            }
        } else if lower.contains("authentication expired") {
            said.is_expired = true;
        }
    }

    /// Whether the login ran out meanwhile.
    pub(super) fn is_expired(&self) -> bool {
        lock(&self.0).is_expired
    }

    /// Waits until something is denied.
    pub(super) async fn denial(&self) -> String {
        loop {
            let said = lock(&self.0).denied.clone();
            if let Some((_, message)) = said {
                return message;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What was denied lately and explains why something does not work here. Told as often as it is asked for: several
    /// tasks ask, and each must know. A login that may not hear its own answers never hears any.
    pub(super) fn denied(&self, bucket: Bucket) -> Option<String> {
        let said = lock(&self.0);
        let (time, message) = said.denied.as_ref()?;
        let is_deaf = message.contains(INBOX);
        let is_about = message.contains(bucket.short()) && time.elapsed() < RECENT;
        (is_deaf || is_about).then(|| message.clone())
    }
}

impl Connect {
    /// The address as it may be shown.
    pub fn shown(&self) -> String {
        without_login(&self.url)
    }

    pub(super) async fn open(&self) -> Result<(Client, Notices), FleetError> {
        let addresses = self.addresses()?;
        let is_tls = addresses.iter().any(|address| address.starts_with("tls://"));
        let heard = Notices::default();
        let listener = heard.clone();
        let mut options = self
            .login()?
            .name(&self.name)
            // Its own, so that a worker whose permissions name it cannot read the answers of another.
            .custom_inbox_prefix(format!("{INBOX}{}", inbox(&self.name)))
            .connection_timeout(FIRST / 2)
            .require_tls(is_tls)
            .event_callback(move |event| {
                let listener = listener.clone();
                async move { listener.hear(&event) }
            });
        if let Some(file) = &self.ca_file {
            check_ca(file)?;
            options = options.add_root_certificates(file.clone());
        }
        let unreachable = |reason: String| FleetError::Connect { url: self.shown(), reason };
        let connecting = tokio::time::timeout(FIRST, options.connect(addresses)).await;
        match connecting {
            Ok(Ok(client)) => Ok((client, heard)),
            Ok(Err(error)) => Err(match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    self.login_error()
                }
                kind => {
                    let (url, reason) = (self.shown(), without_login(&chain(&error)));
                    // The client takes most of what goes wrong with TLS for an error of the network.
                    if kind == ConnectErrorKind::Tls || is_about_tls(&reason) {
                        FleetError::Tls { url, reason }
                    } else {
                        FleetError::Connect { url, reason }
                    }
                }
            }),
            Err(_) => Err(unreachable(format!("no answer within {} s", FIRST.as_secs()))),
        }
    }

    /// Why a login is refused. The server tells nobody, but a JWT says until when it is good.
    fn login_error(&self) -> FleetError {
        let url = self.shown();
        let until = match &self.credentials {
            Credentials::File(file) => {
                fs_err::read_to_string(file).ok().and_then(|text| good_until(&text))
            }
            _ => None,
        };
        match until.filter(|until| *until <= SystemTime::now()) {
            Some(until) => FleetError::Expired { url, since: Some(timestamp(until).to_string()) },
            None => FleetError::Login { url },
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
                let bad = |reason: String| FleetError::Credentials { file: path.clone(), reason };
                let text = fs_err::read_to_string(path).map_err(|error| bad(error.to_string()))?;
                match lone_seed(&text) {
                    Some(seed) => options.nkey(seed.to_owned()),
                    None => options.credentials(&text).map_err(|error| bad(error.to_string()))?,
                }
            }
        })
    }
}

fn is_about_tls(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["certificate", "corrupt message", "handshake", "tls"].iter().any(|word| reason.contains(word))
}

/// A file without a certificate would be taken for one that trusts nobody.
fn check_ca(file: &Path) -> Result<(), FleetError> {
    let bad = |reason: String| FleetError::Ca { file: file.to_owned(), reason };
    let text = fs_err::read(file).map_err(|error| bad(error.to_string()))?;
    let mark = b"-----BEGIN CERTIFICATE-----";
    if text.windows(mark.len()).any(|part| part == mark) {
        return Ok(());
    }
    Err(bad("nothing in it begins as one".to_owned()))
}

/// The JWT in a credentials file: the line after the one that announces it.
fn jwt(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    lines.find(|line| line.contains("BEGIN NATS USER JWT"))?;
    lines.next().map(str::trim)
}

/// The seed of a user in a file that has no JWT.
fn lone_seed(text: &str) -> Option<&str> {
    let is_seed = |line: &&str| {
        line.starts_with("SU")
            && line.len() == SEED
            && line.chars().all(|c| c.is_ascii_alphanumeric())
    };
    jwt(text).is_none().then(|| text.lines().map(str::trim).find(is_seed))?
}

/// Until when the JWT in a credentials file is good; nothing for one that never expires. Its signature is the server's
/// business.
fn good_until(text: &str) -> Option<SystemTime> {
    #[derive(Deserialize)]
    struct Claims {
        exp: Option<u64>,
    }
    let claims = URL_SAFE_NO_PAD.decode(jwt(text)?.split('.').nth(1)?).ok()?;
    let claims: Claims = serde_json::from_slice(&claims).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(claims.exp.filter(|seconds| *seconds > 0)?))
}

/// A part of an address as it was before it was put there.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
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
    fn a_credentials_file_tells_until_when_it_is_good_and_a_seed_alone_is_found() {
        let claims = |text: &str| {
            let jwt = format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(text));
            format!("-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n")
        };
        let until = |text: &str| good_until(&claims(text)).map(timestamp);
        let text = until(r#"{"exp":1700000000}"#).map(|time| time.to_string());
        assert_eq!(text.as_deref(), Some("2023-11-14T22:13:20.000Z"));
        assert_eq!(until(r#"{"exp":18446744073709551615}"#), None);
        for forever in ["{}", r#"{"exp":0}"#, r#"{"exp":"x"}"#, "nothing"] {
            assert_eq!(until(forever), None, "{forever}");
        }
        let seed = format!("SU{}", "A".repeat(SEED - 2));
        assert_eq!(lone_seed(&format!("# mine\n {seed} \n")), Some(&*seed));
        assert_eq!(lone_seed(&format!("{}\n{seed}\n", claims("{}"))), None, "the JWT comes first");
        assert_eq!(lone_seed("SUPER"), None);
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
