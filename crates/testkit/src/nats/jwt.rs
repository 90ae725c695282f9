//! Logins by JWT, as `nsc` makes them: an operator that a server trusts, an account, and users that expire.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

/// An operator with one account that may use `JetStream` without limits.
#[derive(Debug)]
pub struct Operator {
    key: KeyPair,
    account: KeyPair,
    /// The server's own, without which it has no `JetStream`.
    system: KeyPair,
}

/// What a user may publish to and subscribe to; empty lists allow everything.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// Subjects that it may publish to.
    pub publish: Vec<String>,
    /// Subjects that it may subscribe to.
    pub subscribe: Vec<String>,
}

impl Default for Operator {
    fn default() -> Self {
        Self {
            key: KeyPair::new_operator(),
            account: KeyPair::new_account(),
            system: KeyPair::new_account(),
        }
    }
}

impl Operator {
    /// The configuration of a server that trusts it and has its account in memory.
    pub fn server_config(&self) -> String {
        let (operator, account) = (self.key.public_key(), self.account.public_key());
        let system = self.system.public_key();
        let storage = json!({"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1});
        let own = signed(&self.key, &operator, None, json!({"type": "operator", "version": 2}));
        let for_account = self.account_jwt(&account, storage);
        let for_system = self.account_jwt(&system, json!({}));
        format!(
            "operator: {own}\nsystem_account: {system}\nresolver: MEMORY\n\
             resolver_preload: {{ {account}: \"{for_account}\", {system}: \"{for_system}\" }}\n"
        )
    }

    fn account_jwt(&self, account: &str, mut limits: Value) -> String {
        for unlimited in ["subs", "data", "payload", "imports", "exports", "conn", "leaf"] {
            limits[unlimited] = json!(-1);
        }
        limits["wildcards"] = json!(true);
        let claims = json!({"type": "account", "version": 2, "limits": limits});
        signed(&self.key, account, None, claims)
    }

    /// The content of a credentials file of a new user, that is good until then.
    pub fn user(&self, allowed: &Allowed, until: SystemTime) -> String {
        let user = KeyPair::new_user();
        let list = |subjects: &[String]| match subjects {
            [] => json!({}),
            _ => json!({ "allow": subjects }),
        };
        let claims = json!({
            "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1,
            "pub": list(&allowed.publish), "sub": list(&allowed.subscribe),
        });
        let jwt = signed(&self.account, &user.public_key(), Some(until), claims);
        let seed = user.seed().unwrap_or_default();
        format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}

/// A new user without a JWT: its public key for a server's configuration, and the seed that proves it.
pub fn nkey_user() -> (String, String) {
    let user = KeyPair::new_user();
    (user.public_key(), user.seed().unwrap_or_default())
}

fn signed(by: &KeyPair, about: &str, until: Option<SystemTime>, nats: Value) -> String {
    let seconds =
        |time: SystemTime| time.duration_since(UNIX_EPOCH).as_ref().map_or(0, Duration::as_secs);
    let mut claims = json!({
        "jti": about, "iat": seconds(SystemTime::now()), "iss": by.public_key(), "name": "fleet",
        "sub": about,
    });
    claims["nats"] = nats;
    if let Some(until) = until {
        claims["exp"] = json!(seconds(until));
    }
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text =
        format!("{}.{}", encoded(&json!({"typ": "JWT", "alg": "ed25519-nkey"})), encoded(&claims));
    let signature = by.sign(text.as_bytes()).unwrap_or_default();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}
