//! Makes what the fleet needs on the server, and looks at what the server really stored.
//!
//! Old servers accept settings that they do not know and drop them without a word. So servers below 2.11 are refused, and
//! each answer is compared with what was asked for.

use async_nats::RequestErrorKind;
use async_nats::jetstream::stream::StorageType;
use serde_json::Value;

use super::NatsFleet;
use super::name::Bucket;
use crate::fleet::FleetError;

/// The oldest server that keeps all settings.
pub const OLDEST_SERVER: &str = "2.11.0";
/// What a server answers that has JetStream, but not for this account.
const NOT_ENABLED: [u64; 2] = [10_039, 10_076];

/// What `init` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitSettings {
    /// How many servers have a copy: 1, or 3 in a cluster of at least three.
    pub replicas: usize,
    /// How many bytes all archives together may have, and the results with small archives in them, of runs and of
    /// gradings, as many again each; no limit if absent.
    pub max_bytes: Option<u64>,
}

impl Default for InitSettings {
    fn default() -> Self {
        Self { replicas: 1, max_bytes: None }
    }
}

/// A stream that is there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamState {
    pub stream: String,
    /// How many servers have a copy.
    pub replicas: usize,
    pub messages: u64,
}

impl NatsFleet {
    pub fn server_version(&self) -> String {
        self.client.server_info().version
    }

    pub(super) fn check_version(&self) -> Result<(), FleetError> {
        let found = self.server_version();
        let is_old = |version: &str| {
            let mut numbers =
                version.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
            (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < (2, 11)
        };
        if is_old(&found) {
            return Err(FleetError::TooOld { found, oldest: OLDEST_SERVER });
        }
        Ok(())
    }

    /// Refuses a server that keeps nothing. One that does not answer, or does not let this login ask, is left alone: what
    /// is done next tells.
    pub(super) async fn check_jetstream(&self) -> Result<(), FleetError> {
        const ASKED: &str = "$JS.API.INFO";
        let request = self.client.request(ASKED, bytes::Bytes::new());
        // A login that may not ask, or not hear the answer, is told so at once, and by another way.
        let answer = tokio::select! {
            answer = request => answer,
            message = self.heard.denial() => {
                let is_asking = message.contains(ASKED);
                return if is_asking { Ok(()) } else { Err(FleetError::Denied { message }) };
            }
        };
        let is_off = match answer {
            Err(error) => error.kind() == RequestErrorKind::NoResponders,
            Ok(message) => {
                let said: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
                NOT_ENABLED.contains(&said["error"]["err_code"].as_u64().unwrap_or_default())
            }
        };
        if is_off { Err(FleetError::NoJetStream { url: self.url.clone() }) } else { Ok(()) }
    }

    /// Refuses a server on which nobody has called `init`, before anything is begun for it.
    pub async fn check_ready(&self) -> Result<(), FleetError> {
        let bucket = Bucket::Plans;
        let found = self.js.get_stream(bucket.stream()).await;
        found.map(|_| ()).map_err(|error| self.failed("looking at a stream", bucket, &error))
    }

    /// Makes all streams, or changes those that are there.
    pub async fn init(&self, settings: &InitSettings) -> Result<Vec<StreamState>, FleetError> {
        let mut made = Vec::new();
        for bucket in Bucket::ALL {
            if bucket == Bucket::Status {
                self.remove_forgetful_status().await?;
            }
            made.push(self.make(bucket, settings).await?);
        }
        Ok(made)
    }

    /// Earlier versions kept what workers report in memory, and a stream cannot be moved from there. What is in it is at
    /// most two minutes old, and workers tell it again within seconds.
    async fn remove_forgetful_status(&self) -> Result<(), FleetError> {
        let name = Bucket::Status.stream();
        let Ok(stream) = self.js.get_stream(name).await else { return Ok(()) };
        if stream.cached_info().config.storage == StorageType::Memory {
            let removed = self.js.delete_stream(name).await;
            removed.map_err(|error| self.failed("removing a stream", Bucket::Status, &error))?;
        }
        Ok(())
    }

    /// Makes a stream that is not there with the settings that its neighbours have.
    pub(super) async fn make_missing(&self, bucket: Bucket) -> Result<(), FleetError> {
        if self.js.get_stream(bucket.stream()).await.is_ok() {
            return Ok(());
        }
        let plans = self.js.get_stream(Bucket::Plans.stream()).await;
        let plans =
            plans.map_err(|error| self.failed("looking at a stream", Bucket::Plans, &error))?;
        let replicas = plans.cached_info().config.num_replicas;
        self.make(bucket, &InitSettings { replicas, max_bytes: None }).await.map(|_| ())
    }

    async fn make(
        &self,
        bucket: Bucket,
        settings: &InitSettings,
    ) -> Result<StreamState, FleetError> {
        let asked = bucket.config(settings);
        let info = self.js.create_or_update_stream(asked.clone()).await;
        let info = info.map_err(|error| self.failed("making a stream", bucket, &error))?;
        let mut differences = differences(&to_value(&asked), &to_value(&info.config));
        // What is not asked for is not sent, so it is not compared either.
        if info.config.allow_rollup && !asked.allow_rollup {
            differences.push("allow_rollup_hdrs is true instead of false".to_owned());
        }
        if !differences.is_empty() {
            let object = bucket.stream().to_owned();
            return Err(FleetError::StoredDifferently { object, differences });
        }
        Ok(StreamState {
            stream: info.config.name,
            replicas: info.config.num_replicas,
            messages: info.state.messages,
        })
    }
}

pub(super) fn to_value<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// What was asked for and is not there. The server may have added something of its own.
pub(super) fn differences(asked: &Value, stored: &Value) -> Vec<String> {
    let (Value::Object(asked), Value::Object(stored)) = (asked, stored) else {
        return vec!["the answer is no settings".to_owned()];
    };
    let is_other = |(name, wanted): &(&String, &Value)| match (wanted, stored.get(name.as_str())) {
        (Value::Null, _) => false,
        (Value::Object(wanted), Some(Value::Object(found))) => {
            wanted.iter().any(|(key, value)| found.get(key) != Some(value))
        }
        (wanted, found) => found != Some(*wanted),
    };
    let told = |(name, wanted): (&String, &Value)| {
        let found = stored.get(name.as_str()).map_or("nothing".to_owned(), Value::to_string);
        format!("{name} is {found} instead of {wanted}")
    };
    asked.iter().filter(is_other).map(told).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_server_drops_is_seen_and_what_it_adds_is_not() {
        let asked = json!({"a": 1, "b": true, "none": null, "m": {"x": "1"}});
        assert!(
            differences(&asked, &json!({"a": 1, "b": true, "m": {"x": "1", "y": "2"}, "c": 3}))
                .is_empty()
        );
        let found = differences(&asked, &json!({"a": 2, "m": {}}));
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "a is 2 instead of 1");
        assert_eq!(found[1], "b is nothing instead of true");
    }
}
