//! Many messages of a subject with one request: direct gets in batches, which servers have since 2.11.
//!
//! A result has a few hundred bytes to a few kilobytes, and asking for each by itself takes longer than reading it.

use std::io;

use async_nats::StatusCode;
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::json;

use super::NatsFleet;
use super::name::Bucket;
use crate::fleet::FleetError;

/// So many messages at a time.
const MOST: usize = 256;
/// So many bytes at a time, and one message more: what is read at once is in memory at once.
const MAX_BYTES: usize = 4 << 20;
/// A server that says nothing for so long is away.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// A message, or what it says.
#[derive(Debug)]
pub(super) struct Entry<T> {
    /// Its place in the stream.
    pub(super) at: u64,
    pub(super) subject: String,
    /// When it was stored: milliseconds since 1970, or 0 if the server does not tell.
    pub(super) time: u64,
    pub(super) value: T,
}

impl<T> Entry<T> {
    /// The last part of its subject.
    pub(super) fn token(&self) -> &str {
        self.subject.rsplit('.').next().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) messages: Vec<Entry<Bytes>>,
    /// Whether there are no more now.
    pub(super) is_last: bool,
}

impl NatsFleet {
    /// Messages of a subject after a place in the stream.
    pub(super) async fn read_batch(
        &self,
        bucket: Bucket,
        subject: &str,
        after: u64,
        most: usize,
    ) -> Result<Batch, FleetError> {
        let failed = |reason: &str| {
            let reason = io::Error::other(reason.to_owned());
            self.failed("reading a bucket", bucket, &reason)
        };
        let inbox = self.client.new_inbox();
        let mut replies = match self.client.subscribe(inbox.clone()).await {
            Ok(replies) => replies,
            Err(error) => return Err(failed(&error.to_string())),
        };
        let asked = json!({
            "seq": after + 1,
            "next_by_subj": subject,
            "batch": most.min(MOST),
            "max_bytes": MAX_BYTES,
        });
        let api = format!("$JS.API.DIRECT.GET.{}", bucket.stream());
        let sent = self.client.publish_with_reply(api, inbox, asked.to_string().into()).await;
        sent.map_err(|error| failed(&error.to_string()))?;
        let mut batch = Batch::default();
        loop {
            let reply = tokio::time::timeout(PATIENCE, replies.next()).await;
            let Ok(Some(message)) = reply else { return Err(failed("no answer")) };
            let header = |name| message.headers.as_ref().and_then(|headers| headers.get(name));
            let number = |name| header(name).and_then(|value| value.as_str().parse::<u64>().ok());
            match message.status {
                Some(StatusCode::NOT_FOUND) => return Ok(Batch { is_last: true, ..batch }),
                // The end of the batch; how many more there are is said in each message, and here again.
                Some(status) if status.as_u16() == 204 => {
                    let is_last = is_last(batch.messages.len(), number("Nats-Num-Pending"));
                    let is_last = is_last.ok_or_else(|| failed("a batch that had nothing"))?;
                    return Ok(Batch { is_last, ..batch });
                }
                Some(StatusCode::NO_RESPONDERS) => return Err(self.absent(bucket).await),
                Some(status) if status != StatusCode::OK => {
                    let said = message.description.as_deref().unwrap_or_default();
                    return Err(failed(&format!("{status} {said}")));
                }
                Some(_) | None => {}
            }
            let (at, subject) = (number("Nats-Sequence"), header("Nats-Subject"));
            let (Some(at), Some(subject)) = (at, subject) else {
                return Err(failed("a message without a place"));
            };
            let time = header("Nats-Time-Stamp").map_or(0, |text| milliseconds(text.as_str()));
            let subject = subject.to_string();
            batch.messages.push(Entry { at, subject, time, value: message.payload });
        }
    }
}

/// Whether there is nothing after a batch of so many messages. A batch without any that is not the last would be asked for
/// again, and again.
fn is_last(messages: usize, pending: Option<u64>) -> Option<bool> {
    match (messages, pending) {
        (0, Some(1..)) => None,
        (0, None) => Some(true),
        (_, pending) => Some(pending == Some(0)),
    }
}

/// A time of the server in milliseconds since 1970; 0 for what is none.
fn milliseconds(text: &str) -> u64 {
    let time = async_nats::datetime::parse_rfc3339(text).ok();
    time.and_then(|time| u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{is_last, milliseconds};

    #[test]
    fn a_batch_without_messages_is_never_asked_for_again() {
        for pending in [None, Some(0), Some(1)] {
            assert_ne!(is_last(0, pending), Some(false), "{pending:?}");
        }
        assert_eq!(is_last(0, Some(1)), None, "the server contradicts itself");
        assert_eq!(
            [None, Some(1), Some(0)].map(|pending| is_last(256, pending)),
            [Some(false), Some(false), Some(true)]
        );
    }

    #[test]
    fn times_of_the_server_are_read() {
        assert_eq!(milliseconds("1970-01-01T00:00:01.234567891Z"), 1234);
        assert_eq!(milliseconds("2026-02-22T20:00:00Z"), 1_771_790_400_000);
        assert_eq!(milliseconds("yesterday"), 0);
    }
}
