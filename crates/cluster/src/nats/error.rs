//! From what the client says to what went wrong.
//!
//! Error 10077 of the server means that a job is queued already, that the queue is full, or that a bucket is; only its
//! text tells. A denied request looks like a timeout; what the server said about it comes by another way, see
//! [`super::connect::Notices`].

use std::error::Error;

use skillgauge_core::text::chain;

use super::NatsFleet;
use super::name::Bucket;
use crate::fleet::FleetError;

/// What a server says that is alone, or has too few others.
const TOO_FEW: [&str; 2] = ["replicas > 1 not supported", "no suitable peers"];

/// What a refused publication means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    /// The job is queued already.
    ThereAlready,
    /// The queue or the bucket is full.
    Full,
    Other,
}

/// Reads the text of an error of a publication.
pub(super) fn rejection(text: &str) -> Rejection {
    if text.contains("maximum messages per subject exceeded") {
        Rejection::ThereAlready
    } else if text.contains("maximum bytes exceeded")
        || text.contains("maximum messages exceeded")
        || text.contains("insufficient resources")
        || text.contains("insufficient storage")
    {
        Rejection::Full
    } else {
        Rejection::Other
    }
}

impl NatsFleet {
    /// An error of the client, with what the server said about permissions lately.
    pub(super) fn failed(
        &self,
        action: &'static str,
        bucket: Bucket,
        error: &(dyn Error + 'static),
    ) -> FleetError {
        let reason = chain(error);
        if self.heard.is_expired() {
            return FleetError::Expired { url: self.url.clone(), since: None };
        }
        if let Some(message) = self.heard.denied(bucket) {
            return FleetError::Denied { message };
        }
        let is_away = reason.contains("no responders") || reason.contains("jetstream unavailable");
        if is_away && !self.client.server_info().jetstream {
            let reason = "it has no JetStream".to_owned();
            return FleetError::Connect { url: self.url.clone(), reason };
        }
        if reason.contains("stream not found") || reason.contains("no stream found") {
            return FleetError::NotReady { object: bucket.stream().to_owned() };
        }
        if TOO_FEW.iter().any(|text| reason.contains(text)) {
            return FleetError::Replicas { object: bucket.stream().to_owned() };
        }
        if rejection(&reason) == Rejection::Full {
            return FleetError::Full { object: bucket.stream().to_owned() };
        }
        FleetError::Server { action, reason }
    }

    /// Why nobody answers for a bucket: it was never made, or its leader is away. What workers report may be absent, and
    /// a worker's login may not ask about it.
    pub(super) async fn absent(&self, bucket: Bucket) -> FleetError {
        let object = bucket.stream().to_owned();
        if bucket == Bucket::Status {
            return FleetError::NotReady { object };
        }
        match self.js.get_stream(bucket.stream()).await {
            Ok(_) => {
                let reason = "nobody answers for it now".to_owned();
                FleetError::Server { action: "reading a bucket", reason }
            }
            Err(error) => self.failed("reading a bucket", bucket, &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_means_three_things() {
        let text = |what: &str| format!("JetStream error: 503 (code 10077): {what}");
        assert_eq!(
            rejection(&text("maximum messages per subject exceeded")),
            Rejection::ThereAlready
        );
        assert_eq!(rejection(&text("maximum messages exceeded")), Rejection::Full);
        assert_eq!(rejection(&text("maximum bytes exceeded")), Rejection::Full);
        assert_eq!(rejection("timed out"), Rejection::Other);
    }
}
