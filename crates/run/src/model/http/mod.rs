//! One HTTP exchange with a model service.
//!
//! [`Http`] sends one JSON document and reads one back, bounded in time and size; everything that goes wrong on the way
//! becomes a [`ModelError`]. It never retries, follows no redirect (a key must not travel to another host) and uses no
//! proxy but the one it is given. What the status means is decided in [`status`].
//!
//! TLS is rustls with ring, made the process's provider once, before the first client: a build with two providers and
//! no choice panics at the first connection.

pub(in crate::model) mod anthropic;
pub(in crate::model) mod openai;
mod openai_responses;
mod retry_after;
mod status;

use std::fmt;
use std::sync::Once;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Proxy, Url};
use serde_json::Value;
use skillgauge_core::text::{chain, shorten};

use self::retry_after::asked_delay;
use crate::model::ask::wire::{Fault, Reply};
use crate::model::error::{ModelError, Phase};
use crate::model::secret::{Environment, Secret, scrub_all};

/// The most that is read of an answer.
const MAX_BODY: u64 = 16 * 1024 * 1024;

/// How much of an answer that cannot be understood is shown, in characters.
const EXCERPT: usize = 300;

/// How much of a request id is kept, in bytes.
const MAX_ID: usize = 200;

/// Whoever listens here needs no proxy, whatever the user's list says.
const LOOPBACK: &str = "127.0.0.1,localhost,::1";

/// Limits on the parts of an exchange; the whole of it is limited by the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// To the first byte of the answer. Services send nothing before the answer is complete, so this is usually the
    /// same as no limit of its own.
    pub first_byte: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(15), first_byte: None }
    }
}

/// The proxy that the user's environment asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxySettings {
    /// For `http:` addresses.
    pub http: Option<Secret>,
    /// For `https:` addresses.
    pub https: Option<Secret>,
    /// Hosts that are reached without it, separated by commas.
    pub except: Option<String>,
}

impl ProxySettings {
    /// What the usual variables say; lower case comes first, as everywhere.
    pub fn from_environment(environment: &Environment) -> Self {
        let first = |names: &[&str]| names.iter().find_map(|name| environment.get(name)).cloned();
        Self {
            http: first(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]),
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            except: first(&["no_proxy", "NO_PROXY"]).map(|hosts| hosts.expose().to_owned()),
        }
    }
}

/// A client for one service.
pub(in crate::model) struct Http {
    client: Client,
    url: Url,
    headers: HeaderMap,
    timeouts: Timeouts,
    secrets: Vec<Secret>,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

/// Where a document goes, when that is not the usual place.
#[derive(Debug, Default)]
pub(in crate::model) struct Destination<'d> {
    /// The end of the usual path, and what stands there instead.
    pub(in crate::model) instead: Option<(&'static str, &'static str)>,
    /// Further headers; none of them replaces one of ours.
    pub(in crate::model) headers: &'d [(String, String)],
}

#[derive(Debug)]
pub(in crate::model) struct Exchange {
    pub(in crate::model) status: u16,
    pub(in crate::model) request_id: Option<String>,
    pub(in crate::model) retry_after: Option<Duration>,
    /// The body as text, without secrets.
    pub(in crate::model) body: String,
}

/// What an exchange needs to be set up.
pub(in crate::model) struct HttpSettings<'s> {
    pub(in crate::model) url: Url,
    /// Headers whose values are secret: name, what stands before the secret, the secret.
    pub(in crate::model) secret_headers: Vec<(&'static str, &'static str, Secret)>,
    pub(in crate::model) headers: Vec<(&'static str, &'static str)>,
    pub(in crate::model) timeouts: Timeouts,
    pub(in crate::model) proxy: &'s ProxySettings,
}

impl Http {
    pub(in crate::model) fn new(settings: HttpSettings<'_>) -> Result<Self, ModelError> {
        install_crypto();
        let mut headers = HeaderMap::new();
        for (name, value) in settings.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let mut secrets = Vec::new();
        for (name, prefix, secret) in settings.secret_headers {
            let text = format!("{prefix}{}", secret.expose().trim());
            let mut value = HeaderValue::try_from(text).map_err(|_| ModelError::Setting {
                setting: "the key".to_owned(),
                detail: "it holds characters that no header can carry".to_owned(),
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
            secrets.push(Secret::new(secret.expose().trim()));
        }
        let client = client(&settings.timeouts, settings.proxy)?;
        Ok(Self { client, url: settings.url, headers, timeouts: settings.timeouts, secrets })
    }

    /// Sends a document and reads the answer, whatever its status.
    pub(in crate::model) async fn post(
        &self,
        body: &Value,
        limit: Duration,
    ) -> Result<Exchange, ModelError> {
        self.post_to(&Destination::default(), body, limit).await
    }

    /// The same to another place of the service.
    pub(in crate::model) async fn post_to(
        &self,
        destination: &Destination<'_>,
        body: &Value,
        limit: Duration,
    ) -> Result<Exchange, ModelError> {
        match tokio::time::timeout(limit, self.exchange(destination, body)).await {
            Ok(exchange) => exchange,
            Err(_) => Err(ModelError::timeout(Phase::Total, limit)),
        }
    }

    async fn exchange(
        &self,
        destination: &Destination<'_>,
        body: &Value,
    ) -> Result<Exchange, ModelError> {
        let mut url = self.url.clone();
        if let Some((usual, instead)) = destination.instead {
            let base = url.path().strip_suffix(usual).unwrap_or(url.path());
            url.set_path(&format!("{base}{instead}"));
        }
        let mut headers = self.headers.clone();
        for (name, value) in destination.headers {
            // What cannot be a header was none when it was heard.
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.entry(name).or_insert(value);
            }
        }
        let request = self.client.post(url).headers(headers);
        let sending = request.body(body.to_string()).send();
        let sent = match self.timeouts.first_byte {
            None => sending.await,
            Some(limit) => match tokio::time::timeout(limit, sending).await {
                Ok(sent) => sent,
                Err(_) => return Err(ModelError::timeout(Phase::FirstByte, limit)),
            },
        };
        let mut response = sent.map_err(|error| self.connection_error(error))?;
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let (status, request_id, retry_after) = (
            response.status().as_u16(),
            header("request-id").or_else(|| header("x-request-id")).map(|id| cut(id, MAX_ID)),
            asked_delay(header("retry-after-ms"), header("retry-after"), SystemTime::now()),
        );
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => {
                    let received = bytes.len() as u64;
                    return Err(ModelError::Cut { received, detail: self.detail(error) });
                }
            }
            if bytes.len() as u64 > MAX_BODY {
                return Err(ModelError::TooLarge { limit: MAX_BODY });
            }
        }
        let body = scrub_all(&self.secrets, &String::from_utf8_lossy(&bytes));
        Ok(Exchange { status, request_id, retry_after, body })
    }

    fn connection_error(&self, error: reqwest::Error) -> ModelError {
        if error.is_connect() && error.is_timeout() {
            return ModelError::timeout(Phase::Connect, self.timeouts.connect);
        }
        ModelError::Connection { detail: self.detail(error) }
    }

    /// All that an error says, its causes included, without address and secrets.
    fn detail(&self, error: reqwest::Error) -> String {
        let error = error.without_url();
        scrub_all(&self.secrets, &chain(&error))
    }
}

impl Exchange {
    /// The body as JSON, or an error that shows how it begins.
    pub(in crate::model) fn json(&self) -> Result<Value, ModelError> {
        serde_json::from_str(&self.body)
            .map_err(|error| self.malformed(format!("not JSON ({error})")))
    }

    /// The error for an answer that is not what its protocol promises.
    /// What was read, with what a ledger keeps of the exchange.
    fn result(&self, read: Result<Reply, ModelError>) -> Result<Reply, Fault> {
        let (status, request_id) = (Some(self.status), self.request_id.clone());
        match read {
            Ok(reply) => Ok(Reply { status, request_id, ..reply }),
            Err(error) => Err(Fault { error, status, request_id, adaptation: None }),
        }
    }

    pub(in crate::model) fn malformed(&self, detail: impl Into<String>) -> ModelError {
        ModelError::Malformed { detail: detail.into(), excerpt: excerpt(&self.body) }
    }
}

/// The beginning of a text, at most so many bytes.
pub(in crate::model) fn cut(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

/// How a text begins, on one line.
pub(in crate::model) fn excerpt(text: &str) -> String {
    // A word has at least two bytes with its space: nothing that could be shown is cut off here.
    shorten(&text[..text.floor_char_boundary(8 * EXCERPT)], EXCERPT)
}

fn client(timeouts: &Timeouts, proxy: &ProxySettings) -> Result<Client, ModelError> {
    let bad = |setting: &str| {
        let setting = setting.to_owned();
        move |error: reqwest::Error| ModelError::Setting {
            setting,
            detail: error.without_url().to_string(),
        }
    };
    let mut builder = Client::builder()
        .user_agent(concat!("skillgauge/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(timeouts.connect)
        .no_proxy();
    let except = format!("{LOOPBACK},{}", proxy.except.as_deref().unwrap_or_default());
    let except = || reqwest::NoProxy::from_string(&except);
    if let Some(address) = &proxy.http {
        let proxy = Proxy::http(address.expose()).map_err(bad("the proxy for http"))?;
        builder = builder.proxy(proxy.no_proxy(except()));
    }
    if let Some(address) = &proxy.https {
        let proxy = Proxy::https(address.expose()).map_err(bad("the proxy for https"))?;
        builder = builder.proxy(proxy.no_proxy(except()));
    }
    builder.build().map_err(bad("TLS (are the certificates of the system installed?)"))
}

/// Reads a base URL and puts a path behind it.
pub(in crate::model) fn address(variable: &str, base: &str, path: &str) -> Result<Url, ModelError> {
    let bad = |detail: String| ModelError::Setting { setting: variable.to_owned(), detail };
    let parsed = Url::parse(base.trim());
    let mut url = parsed.map_err(|error| bad(format!("not an address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(format!("expected http or https, found `{}`", url.scheme())));
    }
    let whole = format!("{}{path}", url.path().trim_end_matches('/'));
    url.set_path(&whole);
    Ok(url)
}

/// Makes ring the process's provider of cryptography, unless the program has chosen one already.
fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error means that there is one, which is what we want.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_end_with_a_slash_and_must_be_http() {
        let url = |base: &str| address("OPENAI_BASE_URL", base, "/chat/completions");
        assert_eq!(url("http://h:1/v1/").unwrap().as_str(), "http://h:1/v1/chat/completions");
        assert_eq!(url(" https://h/v1").unwrap().as_str(), "https://h/v1/chat/completions");
        for bad in ["", "localhost:11434/v1", "ftp://h", "http://", "/v1"] {
            let error = url(bad).unwrap_err().to_string();
            assert!(error.starts_with("OPENAI_BASE_URL cannot be used: "), "{error}");
        }
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("<html>\n  <body>\tno"), "<html> <body> no");
        assert!(excerpt(&"ä ".repeat(10_000)).chars().count() <= EXCERPT + 3);
    }

    #[test]
    fn neither_a_client_nor_a_bad_proxy_shows_a_secret() {
        let key = Secret::new("sk-0123456789");
        let settings = |proxy| HttpSettings {
            url: address("X", "http://127.0.0.1:1", "/v1").unwrap(),
            secret_headers: vec![("authorization", "Bearer ", key.clone())],
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            proxy,
        };
        let none = ProxySettings::default();
        let http = Http::new(settings(&none)).unwrap();
        assert!(!format!("{http:?} {:?}", http.headers).contains("0123456789"));

        let proxy = Secret::new("http://user:hunter22@[broken");
        let bad = ProxySettings { https: Some(proxy), ..ProxySettings::default() };
        let error = Http::new(settings(&bad)).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter22"), "{error:?}");
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_refused_without_showing_it() {
        let none = ProxySettings::default();
        let error = Http::new(HttpSettings {
            url: address("X", "http://127.0.0.1:1", "").unwrap(),
            secret_headers: vec![("x-api-key", "", Secret::new("sk-one\nsk-two"))],
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            proxy: &none,
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the key cannot be used: it holds characters that no header can carry"
        );
    }
}
