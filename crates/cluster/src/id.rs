//! The names of things on the server. Each is safe as a token of a subject and as a name of a consumer.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use skillgauge_core::plan::RunId;
use skillgauge_core::text::hex;
use skillgauge_core::time::unix_millis;
use skillgauge_format::record::IterationRecord;

/// So many hexadecimal digits of a hash name a plan or a run: 80 bits.
const DIGITS: usize = 20;

fn hashed(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(format!("{}\n", part.len()));
        hasher.update(part.as_bytes());
    }
    hex(hasher.finalize())[..DIGITS].to_owned()
}

/// A text that cannot be a name here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot be a {what}: {rule}")]
pub struct BadName {
    pub text: String,
    pub what: &'static str,
    /// What it must look like.
    pub rule: &'static str,
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $is_good:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                let is_good: fn(&str) -> bool = $is_good;
                if is_good(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(BadName { text: text.to_owned(), what: $what, rule: $rule })
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
    };
}

fn is_hex(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_word(text: &str) -> bool {
    let is_good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=40).contains(&text.len()) && text.bytes().all(is_good)
}

name!(
    /// An iteration on the server. The same iteration has the same id whoever submits it how often.
    PlanId, "plan", "20 hexadecimal digits, as `fleet status` shows them", is_hex
);
name!(
    /// A run in a subject or a key.
    RunToken, "run", "20 hexadecimal digits", is_hex
);
name!(
    /// What a worker must have to carry out a job, such as `linux-docker`.
    Class, "class", "up to 40 lower-case letters, digits and hyphens", is_word
);
name!(
    /// One try of one worker at a job. Later ones sort after earlier ones.
    AttemptId, "attempt", "up to 40 lower-case letters, digits and hyphens", is_word
);

impl PlanId {
    /// The id of an iteration: what it measures, and when it was begun.
    pub fn of(record: &IterationRecord) -> Self {
        Self(hashed(&[&record.key, record.started.as_str()]))
    }
}

impl RunToken {
    /// The token of a run of a plan.
    pub fn of(plan: &PlanId, run: &RunId) -> Self {
        Self(hashed(&[plan.as_str(), &run.to_string()]))
    }
}

impl Class {
    /// The class of jobs and workers when nobody says.
    pub fn any() -> Self {
        Self("any".to_owned())
    }
}

impl AttemptId {
    /// A new one: milliseconds, then random bits.
    pub fn new() -> Self {
        let mut random = [0; 10];
        // Without randomness the time alone has to do: an attempt that is taken twice loses, and is run again.
        let _ = getrandom::fill(&mut random);
        Self(format!("{:012x}-{}", unix_millis(SystemTime::now()), hex(random)))
    }
}

impl Default for AttemptId {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_a_subject() {
        assert!("linux-docker2".parse::<Class>().is_ok());
        for bad in ["", "a.b", "a b", "A", "*", ">", "a/b", &"a".repeat(41)] {
            assert!(bad.parse::<Class>().is_err(), "{bad}");
            assert!(bad.parse::<PlanId>().is_err(), "{bad}");
        }
        let attempt = AttemptId::new();
        assert_eq!(attempt.as_str().parse::<AttemptId>().unwrap(), attempt);
        assert_ne!(AttemptId::new(), attempt);
    }

    #[test]
    fn a_run_of_another_plan_has_another_token() {
        let run: RunId = "eval-a/with_skill/run-1".parse().unwrap();
        let other: RunId = "eval-a/with_skill/run-2".parse().unwrap();
        let plans: Vec<PlanId> =
            ["0", "1"].iter().map(|digit| digit.repeat(20).parse().unwrap()).collect();
        let token = RunToken::of(&plans[0], &run);
        assert_eq!(token, RunToken::of(&plans[0], &run));
        assert_ne!(token, RunToken::of(&plans[1], &run));
        assert_ne!(token, RunToken::of(&plans[0], &other));
        assert_eq!(token.as_str().len(), DIGITS);
    }
}
