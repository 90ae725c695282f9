//! Many messages of a subject with one request: direct gets in batches, which servers have since 2.11.
//!
//! A result has a few hundred bytes to a few kilobytes, and asking for each by itself takes longer than reading it.

use std::io;

use async_nats::StatusCode;
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::json;

use super::NatsFleet;
use super::name::Kept;
use crate::fleet::FleetError;

/// So many messages at a time.
const MOST: usize = 256;
/// So many bytes at a time, and one message more: what is read at once is in memory at once.
const MAX_BYTES: usize = 4 << 20;
/// A server that says nothing for so long is away.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// What one request gave.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The place, the subject and the payload of each message, in order.
    pub(super) messages: Vec<(u64, String, Bytes)>,
    /// Whether there are no more now.
    pub(super) is_last: bool,
}

impl NatsFleet {
    /// Messages of a subject after a place in the stream.
    pub(super) async fn read_batch(
        &self,
        kept: Kept,
        subject: &str,
        after: u64,
        most: usize,
    ) -> Result<Batch, FleetError> {
        let failed = |reason: &str| {
            let reason = io::Error::other(reason.to_owned());
            self.failed("reading a bucket", kept, &reason)
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
        let api = format!("$JS.API.DIRECT.GET.{}", kept.stream());
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
                    let is_last = number("Nats-Num-Pending") == Some(0);
                    return Ok(Batch { is_last, ..batch });
                }
                Some(StatusCode::NO_RESPONDERS) => return Err(self.absent(kept).await),
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
            batch.messages.push((at, subject.to_string(), message.payload));
        }
    }
}
